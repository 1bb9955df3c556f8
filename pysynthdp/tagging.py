"""What is true of a release: its privacy statement, the tags for pooling, and how it came about."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd

from pysynthdp.analysis.tags import Bias, ReleaseTags
from pysynthdp.design.values import to_numbers
from pysynthdp.moments.state import MomentState
from pysynthdp.plan import SERIAL, SynthesisPlan
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.column_statement import ColumnStatement
from pysynthdp.privacy.sampling_statement import state_account
from pysynthdp.privacy.statement import PrivacyStatement
from pysynthdp.privacy.statement_text import KEPT_REAL
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.release import Provenance
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.tagging_noised import noised_statement

__all__ = ["provenance_of", "release_statement", "release_tags"]

_KEPT = "its real values are released as they are, because keep= asked for it"
_SERIAL = "running numbers that do not depend on any record"
_CLAMPED = 0.01
_UNCOUNTED = "how many cells were clamped to their bounds is unknown (counting would cost)"
_MOVED = (
    f"Bias by the declared facts: {_UNCOUNTED}, nor how many became 'other' or the fallback; means, shares, "
    "variances, correlations and slopes may be biased without a sign."
)
_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow")


def release_statement(
    plan: SynthesisPlan, account: Account, state: MomentState | None = None
) -> PrivacyStatement:
    """State what a release protects: the priced draws, or nothing formal and why, column by column."""
    if plan.guarantee is not None:
        return guaranteed_statement(plan, plan.guarantee, account)
    if plan.noise is not None and state is not None:
        return noised_statement(plan, plan.noise, state, account, public=tuple(_public(plan)))
    columns = [_column_statement(column.name, plan) for column in plan.schema]
    reason = f"the column models are fitted to the confidential data without noise; {_first_reason(plan)}"
    return PrivacyStatement.none(
        columns,
        reason=reason,
        public=_public(plan),
        learned=_learned(plan),
        draws=[(draw.n_syn, draw.copies) for draw in account.draws],
    )


def guaranteed_statement(plan: SynthesisPlan, asked: BySampling, account: Account) -> PrivacyStatement:
    """State what the draws from a fit guarantee together, from the account."""
    stated = state_account(
        account,
        status="void" if account.seeded else "implemented" if asked.exact else "idealised",
        public=_public(plan),
        deltas=asked.deltas,
        reason="every column is drawn by a mechanism whose randomness protects; it covers this fit only",
    )
    return replace(stated, not_covered=(*stated.not_covered, _MOVED))


def _column_statement(name: str, plan: SynthesisPlan) -> ColumnStatement:
    """Give one column's method and reason."""
    if name in plan.keep:
        return ColumnStatement(name, KEPT_REAL, "none", _KEPT)
    if name in plan.serials:
        return ColumnStatement(name, SERIAL, "none", _SERIAL)
    steps = [step for step in plan.steps if any(part.column == name for part in step.targets)]
    reasons = dict.fromkeys(step.model.reason for step in reversed(steps))
    if any(getattr(step.model, "emit_original", False) for step in steps):
        reasons["its copies repeat values of real records, because emit_original asked for it"] = None
    return ColumnStatement(name, plan.methods.get(name, "constant"), "none", "; ".join(reasons))


def _first_reason(plan: SynthesisPlan) -> str:
    """Name what is released real; else give the reason of the first column for an example."""
    loud = [f"REAL values of {', '.join(plan.keep)} are released, record by record"] if plan.keep else []
    if plan.real_values:
        loud.append(f"copies repeat values of real records in {', '.join(plan.real_values)} (emit_original)")
    if loud:
        return "; ".join(loud)
    first = plan.steps[0] if plan.steps else None
    return "nothing is modelled" if first is None else f"for example, in {first.label} {first.model.reason}"


def _public(plan: SynthesisPlan) -> list[str]:
    """Facts that the user declared."""
    rows = "" if n_is_confidential(plan) else "of the confidential table and "
    facts = [f"the number of rows {rows}of a copy, and the number of copies"]
    for column in plan.schema:
        if column.declared:
            facts.append(f"{column.name}: type, levels or bounds, and codes, as declared")
        elif declared := _declared_facts(column):
            facts.append(f"{column.name}: {' and '.join(declared)}, as declared")
    return facts


def _declared_facts(column: Column) -> list[str]:
    """Name what the user declared of a column whose schema is inferred."""
    facts = ["codes"] if column.missing else []
    if isinstance(column, NumericColumn):
        facts += ["spikes"] if column.spikes and not column.learned_spikes else []
        facts += ["bounds"] if column.lower is not None or column.upper is not None else []
    return facts


def _learned(plan: SynthesisPlan) -> list[str]:
    """Facts that were learned from the confidential data, beside the models' parameters."""
    open_columns = [column for column in plan.schema if not column.declared]
    numeric = [column.name for column in open_columns if isinstance(column, NumericColumn)]
    absent = [column.name for column in open_columns if column.may_be_missing]
    facts = [f"types and decimals of {', '.join(numeric)}"] if numeric else []
    facts += [
        f"spikes of {c.name}: {', '.join(map(_written, c.spikes))}"
        for c in open_columns
        if isinstance(c, NumericColumn) and c.learned_spikes
    ]
    facts += [
        f"levels of {c.name}: {', '.join(map(_written, c.levels))}"
        for c in open_columns
        if isinstance(c, CategoricalColumn) and c.levels
    ]
    facts += [f"that values may be missing in {', '.join(absent)}"] if absent else []
    return [*facts, "the parameters of every column's model"]


def _written(value: object) -> str:
    """Write a level or spike in full; whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def n_is_confidential(plan: SynthesisPlan) -> bool:
    """Whether the number of rows must not be told: neighbours differ by the presence of a unit."""
    return plan.guarantee is not None and plan.guarantee.unit.relation == "add_remove"


def release_tags(
    plan: SynthesisPlan, copies: Sequence[pd.DataFrame], *, m: int, n_syn: int, n_org: int
) -> ReleaseTags:
    """Say what a combining rule must know."""
    drawn = [column.name for column in plan.schema if column.name not in plan.keep]
    return ReleaseTags(
        kind="partial" if plan.keep else "complete",
        synthesised=frozenset(drawn),
        kept=frozenset(plan.keep),
        parameters="drawn" if plan.proper else "fitted",
        bias=_bias(plan, copies),
        m=m,
        n_syn=n_syn,
        n_org=None if n_is_confidential(plan) else n_org,
        details={} if plan.guarantee is None else {"remarks": _remarks(plan.guarantee.unit)},
    )


def _remarks(unit: PrivacyUnit) -> list[str]:
    """Say what a guarantee by sampling does not count."""
    if unit.key is None:
        return [_UNCOUNTED]
    became = "became the public row" if unit.relation == "replace_one" else "were left out"
    return [_UNCOUNTED, f"how many rows beyond the limit of their {unit.name} {became} is unknown"]


def _bias(plan: SynthesisPlan, copies: Sequence[pd.DataFrame]) -> Bias:
    """Name what may have moved estimates: the first bias among the models, or many draws on a bound."""
    found: list[Bias] = [getattr(step.model, "bias", "none") for step in plan.steps]
    clamped: Bias = "clamped" if plan.guarantee is not None and _on_bounds(plan, copies) else "none"
    return next((bias for bias in found if bias != "none"), clamped)


def _on_bounds(plan: SynthesisPlan, copies: Sequence[pd.DataFrame]) -> bool:
    """Whether more than one in a hundred drawn numbers of a column lie on a bound; yes where not known."""
    numeric = [column for column in plan.schema if isinstance(column, NumericColumn)]
    if not copies:
        return bool(numeric)
    drawn = [column for column in numeric if column.name not in plan.serials]
    return any(_share_on_bounds(copy, column) > _CLAMPED for column in drawn for copy in copies)


def _share_on_bounds(copy: pd.DataFrame, column: NumericColumn) -> float:
    """Share of a column's drawn numbers that lie on a declared bound."""
    bounds = [bound for bound in (column.lower, column.upper) if bound is not None]
    return float(np.mean(np.isin(to_numbers(copy[column.name], column), bounds)))


def provenance_of(plan: SynthesisPlan) -> Provenance:
    """Say how a release came about, from settings alone."""
    versions = [("python", platform.python_version()), *((name, version(name)) for name in _PACKAGES)]
    return Provenance(
        software=f"pysynthdp {version('pysynthdp')}",
        versions=tuple(versions),
        methods=tuple((name, plan.methods.get(name, "constant")) for name in plan.schema.names),
        visit_sequence=plan.visit_sequence,
    )
