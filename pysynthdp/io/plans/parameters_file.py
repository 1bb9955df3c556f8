"""Which parameters to release, as a plan in TOML: a codebook and a list of columns with settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pysynthdp.base.errors import PlanError, ReleaseError
from pysynthdp.base.forms import TEXT
from pysynthdp.base.toml_text import read_toml, refuse_unknown
from pysynthdp.io.plans.plan_file import READING
from pysynthdp.io.plans.toml_values import Toml
from pysynthdp.plan.plain import deltas_from_plain, unit_from_plain
from pysynthdp.privacy.shared_account import PrivacyAccount
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.schema import Schema

__all__ = ["ParameterPlan", "read_parameters", "write_statement"]

_SETTINGS = ("column", "how", "sigma", "prior", "prior_mean", "prior_sd", "copies", "epsilon")
_READERS: dict[str, Callable[[Any, str], Any]] = {"unit": unit_from_plain, "deltas": deltas_from_plain}


@dataclass(frozen=True, slots=True)
class ParameterPlan:
    """What a plan file asks for.

    Parameters
    ----------
    schema : Schema
        Of the codebook.
    asked : tuple of dict
        One an entry: a column and its settings.
    account : PrivacyAccount
        New and empty, for the unit and the deltas that the file names.
    """

    schema: Schema
    asked: tuple[dict[str, Any], ...]
    account: PrivacyAccount


def read_parameters(path: str | Path) -> ParameterPlan:
    """Read a plan for releasing parameters.

    Parameters
    ----------
    path : path
        TOML with ``codebook``, relative to the file, and ``[[parameters]]``, each with a ``column`` and
        the settings of :func:`pysynthdp.release_mean` or :func:`pysynthdp.release_shares`; ``unit`` and
        ``deltas`` for all of them; ``sep`` and the other keys of :func:`read_reading`.

    Returns
    -------
    ParameterPlan

    Raises
    ------
    PlanError
        If a key is not known or an entry names no column; the message says which.

    Notes
    -----
    Privacy: reads no record.
    """
    where = Path(path)
    given = read_toml(where, PlanError)
    known = ("codebook", "parameters", *_READERS, *READING)
    refuse_unknown(given, known, where=str(where), error=PlanError)
    if "codebook" not in given or not given.get("parameters"):
        raise PlanError(f"{where} needs codebook = '...' and at least one [[parameters]]", kind="plan file")
    entries = given["parameters"]
    named = TEXT.take(given["codebook"], Toml(where.parent).at(f"{where}: codebook"))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PlanError(f"{where}: parameters must be tables, each under [[parameters]]", kind="plan file")
    for number, entry in enumerate(entries, start=1):
        refuse_unknown(entry, _SETTINGS, where=f"{where}: parameters[{number}]", error=PlanError)
        if "column" not in entry:
            raise PlanError(
                f"{where}: parameters[{number}] names no column; add column = '...'", kind="plan file"
            )
    shared = {key: read(given[key], f"{where}: {key}") for key, read in _READERS.items() if key in given}
    return ParameterPlan(Schema.from_codebook(where.parent / named), tuple(entries), PrivacyAccount(**shared))


def write_statement(path: Path, statement: PrivacyStatement) -> None:
    """Write a statement as JSON, for ``PrivacyStatement.from_dict``.

    Notes
    -----
    Privacy: post-processing of public constants.
    """
    text = json.dumps(statement.to_dict(), indent=2, ensure_ascii=False)
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}", kind="plan file"
        ) from error
