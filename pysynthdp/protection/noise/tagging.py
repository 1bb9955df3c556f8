"""What is true of a release from noised answers: its statement, and the tags that pooling reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.mechanism import price_of, statement_of
from pysynthdp.privacy.mechanisms.noisy_moments import NoisyMoments
from pysynthdp.privacy.statements.claim import Status
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.statements.text import NOT_COVERED_BY_A_GUARANTEE, SEVERAL_UNITS
from pysynthdp.privacy.statements.verification import shares_of
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.budget import NoiseBudget
from pysynthdp.protection.noise.moments.design import BEYOND_BOUNDS, IN_CELLS, beyond_bounds, in_cells
from pysynthdp.protection.noise.moments.health import all_flags, details_of
from pysynthdp.protection.noise.moments.state import MomentState
from pysynthdp.protection.noise.tables import FURTHER, NoisedTable, tables_of
from pysynthdp.protection.refusals import outside_names
from pysynthdp.tags import ReleaseTags

__all__ = ["noised_statement", "noised_tags"]


def noised_statement(
    plan: SynthesisPlan,
    noise: NoiseBudget,
    states: Sequence[MomentState],
    account: Account,
    *,
    public: Sequence[str],
) -> PrivacyStatement:
    """State what the noise in the answers guarantees; copies add nothing.

    Parameters
    ----------
    plan : SynthesisPlan
        Of one table, or of units.
    noise : NoiseBudget
        The budget.
    states : sequence of MomentState
        Of each of its tables.
    account : Account
        Of the draws.
    public : sequence of str
        What was declared.

    Notes
    -----
    Privacy: public constants, and flags from noised answers.
    """
    tables = tables_of(plan, noise)
    mechanisms = [_mechanism(table, state) for table, state in zip(tables, states, strict=True)]
    costs = [compose([price_of(mechanism, Draw(1, 1), unit=noise.unit)]) for mechanism in mechanisms]
    shares = shares_of(costs, noise.quoted[0]) if len(costs) > 1 else (1.0,)
    columns = (_column(plan, *each) for each in zip(tables, mechanisms, costs, shares, strict=True))
    status: Status = "void" if noise.testing else "implemented"
    apart = (SEVERAL_UNITS,) if noise.unit.whole else ()
    return PrivacyStatement(
        guarantee=costs[0] if len(costs) == 1 else compose(costs),
        status=status,
        reason=_reason(plan, states),
        unit=noise.unit,
        columns=tuple(columns),
        public=_facts(public, plan, noise),
        draws=account.draws,
        deltas=noise.quoted,
        not_covered=(*NOT_COVERED_BY_A_GUARANTEE, *apart),
    )


def _mechanism(table: NoisedTable, state: MomentState) -> NoisyMoments:
    """Give the public constants of the questions about one table, over all releases."""
    questions = [question for answers in state.answers for question in answers.budget.questions]
    return NoisyMoments(
        tuple(question.row_bound for question in questions),
        tuple(question.scale for question in questions),
        table.relation,
        tuple(question.histograms for question in questions if any(each.histograms for each in questions)),
        rows=table.rows if table.label else 1,
    )


def _column(
    plan: SynthesisPlan, table: NoisedTable, mechanism: NoisyMoments, cost: Guarantee, share: float
) -> ColumnStatement:
    """Describe what is claimed of the columns of one table; beside a further row stand those of its unit."""
    told = plan.own if isinstance(plan, UnitPlan) and table.label == FURTHER else plan.schema.names
    steps = [step for step in table.plan.steps if step.targets[0].column in told]
    about = f" of {table.label}" if table.label else ""
    return statement_of(
        ", ".join(dict.fromkeys(part.column for step in steps for part in step.targets)),
        ", ".join(dict.fromkeys(step.model.name for step in steps)),
        mechanism,
        cost,
        reason=f"noise in the answers{about} that all columns are fitted to protects",
        share=share,
    )


def _reason(plan: SynthesisPlan, states: Sequence[MomentState]) -> str:
    """Say what protects, whose code saw the answers, and what makes intervals doubtful."""
    reason = (
        "all that was learned from the table are answers with noise, paid once; copies cost nothing; it "
        "covers this fit only, and another one costs again"
    )
    outside = outside_names([step.model for own in plan.tables for step in own.steps])
    if outside:
        reason += f"; {', '.join(outside)}: outside code, which sees the noised answers only"
    flags = all_flags(states)
    return f"{reason}. Flags: {'; '.join(flags)}" if flags else reason


def _facts(public: Sequence[str], plan: SynthesisPlan, noise: NoiseBudget) -> tuple[str, ...]:
    """Public facts, the guesses among them, and what may leave its bounds."""
    cut = (step.targets[0] for step in plan.steps if step.targets[0].edges)
    edges = (
        f"edges of cells of {part.column}: {', '.join(f'{edge:.15g}' for edge in part.edges)}" for part in cut
    )
    facts = (*public, *(f"{name}: a guess of centre and spread" for name in noise.hints), *edges)
    free = beyond_bounds(plan)
    return (*facts, f"{', '.join(free)}: {BEYOND_BOUNDS}") if free else facts


def _beyond_limit(unit: PrivacyUnit) -> str:
    """Say how rows beyond the limit of their unit are counted."""
    if unit.whole:
        return f"units with rows beyond the limit of a {unit.name} are counted among the clamped or clipped"
    if unit.relation == "replace_one":
        return f"rows beyond the limit of their {unit.name} are counted among the clamped or clipped"
    return f"the rows left of a {unit.name} that had more are counted among the clamped or clipped"


def noised_tags(
    tags: ReleaseTags,
    plan: SynthesisPlan,
    noise: NoiseBudget,
    states: Sequence[MomentState],
    *,
    redraw: bool,
    even: bool,
) -> ReleaseTags:
    """Tag copies from noised answers.

    Notes
    -----
    Privacy: settings and noised answers only.
    """
    state = states[0]
    fresh = len(state.answers) > 1
    drawn = redraw and not fresh
    notes = dict.fromkeys(beyond_bounds(plan), BEYOND_BOUNDS) | dict.fromkeys(in_cells(plan), IN_CELLS)
    details = {**details_of(state, m=tags.m), "column_notes": notes}
    if len(states) > 1:
        details["flags"] = list(all_flags(states, m=tags.m))
    if noise.testing:
        details["void"] = True
    if noise.unit.key is not None:
        details["remarks"] = [*details["remarks"], _beyond_limit(noise.unit)]
    return replace(
        tags,
        draws="even" if even else "independent",
        noise="per_copy_fresh" if fresh else "per_copy_from_one" if drawn else "shared",
        parameters="drawn" if drawn else "fitted",
        details={**tags.details, **details},
    )
