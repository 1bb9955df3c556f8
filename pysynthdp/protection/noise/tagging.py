"""What is true of a release from noised answers: its statement, and the tags that pooling reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.mechanism import price_of, statement_of
from pysynthdp.privacy.mechanisms.noisy_moments import NoisyMoments
from pysynthdp.privacy.statements.claim import Status
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.statements.text import NOT_COVERED_BY_A_GUARANTEE
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.budget import NoiseBudget
from pysynthdp.protection.noise.moments.design import BEYOND_BOUNDS, IN_CELLS, beyond_bounds, in_cells
from pysynthdp.protection.noise.moments.health import details_of, flags_of
from pysynthdp.protection.noise.moments.state import MomentState
from pysynthdp.protection.refusals import outside_names
from pysynthdp.tags import ReleaseTags

__all__ = ["noised_statement", "noised_tags"]


def noised_statement(
    plan: SynthesisPlan, noise: NoiseBudget, state: MomentState, account: Account, *, public: Sequence[str]
) -> PrivacyStatement:
    """State what the noise in the answers guarantees; copies add nothing.

    Notes
    -----
    Privacy: public constants, and flags from noised answers.
    """
    questions = [question for answers in state.answers for question in answers.budget.questions]
    mechanism = NoisyMoments(
        tuple(question.row_bound for question in questions),
        tuple(question.scale for question in questions),
        noise.unit.relation,
        tuple(question.histograms for question in questions if any(each.histograms for each in questions)),
    )
    cost = compose([price_of(mechanism, Draw(1, 1), unit=noise.unit)])
    column = statement_of(
        ", ".join(dict.fromkeys(part.column for step in plan.steps for part in step.targets)),
        ", ".join(dict.fromkeys(step.model.name for step in plan.steps)),
        mechanism,
        cost,
        reason="noise in the answers that all columns are fitted to protects",
    )
    status: Status = "void" if noise.testing else "implemented"
    return PrivacyStatement(
        guarantee=cost,
        status=status,
        reason=_reason(plan, state),
        unit=noise.unit,
        columns=(column,),
        public=_facts(public, plan, noise),
        draws=account.draws,
        deltas=noise.quoted,
        not_covered=NOT_COVERED_BY_A_GUARANTEE,
    )


def _reason(plan: SynthesisPlan, state: MomentState) -> str:
    """Say what protects, whose code saw the answers, and what makes intervals doubtful."""
    reason = (
        "all that was learned from the table are answers with noise, paid once; copies cost nothing; it "
        "covers this fit only, and another one costs again"
    )
    outside = outside_names([step.model for step in plan.steps])
    if outside:
        reason += f"; {', '.join(outside)}: outside code, which sees the noised answers only"
    flags = flags_of(state)
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
    if unit.relation == "replace_one":
        return f"rows beyond the limit of their {unit.name} are counted among the clamped or clipped"
    return f"the rows left of a {unit.name} that had more are counted among the clamped or clipped"


def noised_tags(
    tags: ReleaseTags,
    plan: SynthesisPlan,
    noise: NoiseBudget,
    state: MomentState,
    *,
    redraw: bool,
    even: bool,
) -> ReleaseTags:
    """Tag copies from noised answers.

    Notes
    -----
    Privacy: settings and noised answers only.
    """
    fresh = len(state.answers) > 1
    drawn = redraw and not fresh
    notes = dict.fromkeys(beyond_bounds(plan), BEYOND_BOUNDS) | dict.fromkeys(in_cells(plan), IN_CELLS)
    details = {**details_of(state, m=tags.m), "column_notes": notes}
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
