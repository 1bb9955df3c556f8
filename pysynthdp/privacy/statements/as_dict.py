"""A privacy statement as plain values for JSON, with the version of their layout."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.guarantee import guarantee_from_dict, guarantee_to_dict
from pysynthdp.privacy.statements.claim import Claim
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.statements.ledger_mark import LedgerMark
from pysynthdp.privacy.statements.text import ENTRIES
from pysynthdp.privacy.unit import PrivacyUnit, unit_to_dict

__all__ = ["SCHEMA_VERSION", "check_unchanged", "statement_fields", "statement_to_dict"]

SCHEMA_VERSION: Final = 2  # 1 said "publishable" of the statement, which was read as of the records
_READ: Final = (1, SCHEMA_VERSION)
_PUBLIC: Final = "statement_may_be_published"


def statement_to_dict(statement: Claim) -> dict[str, Any]:
    """Write a statement; points and parts only where there are any, neighbours where something is claimed."""
    plain: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "guarantee": guarantee_to_dict(statement.guarantee),
        "status": statement.status,
        _PUBLIC: statement.may_be_published,
        "reason": statement.reason,
        "unit": unit_to_dict(statement.unit),
        "columns": [part.to_dict() for part in statement.columns],
        "public": list(statement.public),
        "learned": list(statement.learned),
        "draws": [asdict(draw) for draw in statement.draws],
        "total": {"copies": statement.copies, "records": statement.records},
        "not_covered": list(statement.not_covered),
    }
    if statement.status != "none":
        plain["neighbours"] = statement.unit.neighbours
        plain["entries"] = ENTRIES
        plain["contributions"] = list(statement.unit.contributions)
        plain["points"] = [{"delta": delta, "epsilon": epsilon} for delta, epsilon in statement.points]
    if statement.released != "records":
        plain["released"] = statement.released
    if statement.ledger:
        plain["ledger"] = [{**asdict(mark), "overrides": list(mark.overrides)} for mark in statement.ledger]
    if statement.parts:
        plain["parts"] = [statement_to_dict(part) for part in statement.parts]
    return plain


def statement_fields(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Read every field of a statement but its parts.

    Raises
    ------
    PrivacyError
        For another schema version, or when a part is missing; read it with the version that wrote it.
    """
    if plain.get("schema_version") not in _READ:
        raise PrivacyError(
            f"the statement lacks schema_version {' or '.join(map(str, _READ))}",
            kind="statement",
            remedy="read it with the version that wrote it",
        )
    try:
        return {
            "guarantee": guarantee_from_dict(plain["guarantee"]),
            "status": plain["status"],
            "reason": plain["reason"],
            "unit": PrivacyUnit(**plain["unit"]),
            "columns": tuple(ColumnStatement.from_dict(part) for part in plain["columns"]),
            "public": tuple(plain["public"]),
            "learned": tuple(plain["learned"]),
            "draws": tuple(Draw(**draw) for draw in plain["draws"]),
            "deltas": tuple(point["delta"] for point in plain.get("points", ())),
            "not_covered": tuple(plain["not_covered"]),
            "released": plain.get("released", "records"),
            "ledger": tuple(
                LedgerMark(**{**mark, "overrides": tuple(mark["overrides"])})
                for mark in plain.get("ledger", ())
            ),
        }
    except (KeyError, TypeError) as problem:
        raise PrivacyError(
            "this is not a saved privacy statement: a part of it is missing", kind="statement"
        ) from problem


def check_unchanged(stated: Mapping[str, Any], statement: Claim) -> None:
    """Refuse a file whose totals, words or points do not follow from its other parts.

    Raises
    ------
    PrivacyError
        If something was changed by hand; ask for the original.
    """
    written = statement_to_dict(statement)
    old, new = stated.get("points", ()), written.get("points", ())
    same = len(old) == len(new) and all(
        math.isclose(float(one["epsilon"]), two["epsilon"], rel_tol=1e-9)
        for one, two in zip(old, new, strict=True)
    )
    newer = {"contributions": written.get("contributions")}  # not written by version 0.1.0
    changed = any(stated.get(key) != value for key, value in _derived(stated, statement).items())
    if not same or changed or any(stated.get(key, value) != value for key, value in newer.items()):
        raise PrivacyError(
            "this statement was changed: its totals or points do not follow from the rest", kind="statement"
        )


def _derived(stated: Mapping[str, Any], statement: Claim) -> dict[str, Any]:
    """Give what follows from the other parts, under the names of the layout that was read."""
    first = stated["schema_version"] == 1
    claimed = first or statement.status != "none"
    return {
        "publishable" if first else _PUBLIC: statement.may_be_published,
        "total": {"copies": statement.copies, "records": statement.records},
        **({"neighbours": statement.unit.neighbours} if claimed else {}),
    }
