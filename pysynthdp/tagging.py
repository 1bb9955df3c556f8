"""What is true of a release whatever protects it: the tags for pooling, and how it came about."""

from __future__ import annotations

import platform
from dataclasses import replace
from importlib.metadata import version

from pysynthdp._registry import is_outside, package_of
from pysynthdp.plan import Protection, SynthesisPlan
from pysynthdp.plan.protection import UNAUDITED
from pysynthdp.privacy.statement import PrivacyStatement
from pysynthdp.release import Provenance
from pysynthdp.tags import Bias, ReleaseTags

__all__ = ["marked_imputed", "marked_outside", "provenance_of", "release_tags"]

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow")


def release_tags(
    plan: SynthesisPlan, *, m: int, n_syn: int, n_org: int, nests: tuple[str, ...] | None = None
) -> ReleaseTags:
    """Say what a combining rule must know, before the protection adds its own.

    Notes
    -----
    Privacy: settings and public numbers; the number of rows only where it may be told.
    """
    drawn = [column.name for column in plan.schema if column.name not in plan.keep]
    return ReleaseTags(
        kind="partial" if plan.keep else "complete",
        synthesised=frozenset(drawn),
        kept=frozenset(plan.keep),
        parameters="drawn" if plan.proper else "fitted",
        bias=_bias(plan),
        m=m,
        nests=nests,
        nesting="none" if nests is None else "imputed",
        n_syn=n_syn,
        n_org=n_org if plan.protection.n_told else None,
    )


def _bias(plan: SynthesisPlan) -> Bias:
    """Name what may have moved estimates: the first bias among the models."""
    found: list[Bias] = [getattr(step.model, "bias", "none") for step in plan.steps]
    return next((bias for bias in found if bias != "none"), "none")


def provenance_of(plan: SynthesisPlan) -> Provenance:
    """Say how a release came about, from settings alone."""
    versions = [("python", platform.python_version()), *((name, version(name)) for name in _PACKAGES)]
    return Provenance(
        software=f"pysynthdp {version('pysynthdp')}",
        versions=tuple(versions),
        methods=tuple((name, plan.methods.get(name, "constant")) for name in plan.schema.names),
        visit_sequence=plan.visit_sequence,
    )


def marked_outside(statement: PrivacyStatement, protection: Protection) -> PrivacyStatement:
    """Say it where a statement comes from a protection of another package, whose claims nobody here knows.

    Notes
    -----
    Privacy: settings only.
    """
    if not is_outside(protection) or statement.status == "none":
        return statement
    extra = f"protection {protection.name!r} of {package_of(protection)}: {UNAUDITED}"
    return replace(statement, reason=f"{statement.reason}; {extra}")


def marked_imputed(statement: PrivacyStatement, tables: int) -> PrivacyStatement:
    """Say it where the models were fitted to several imputations of the confidential table.

    Notes
    -----
    Privacy: a number of tables, which the nests of the copies show.
    """
    if tables == 1:
        return statement
    extra = f"the models are fitted to each of {tables} imputations of the confidential table"
    return replace(statement, reason=f"{statement.reason}; {extra}")
