"""What is true of a release from noised answers: its statement, and the tags that pooling reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysynthdp.analysis.tags import ReleaseTags
from pysynthdp.errors import PrivacyError
from pysynthdp.moments.health import details_of, flags_of
from pysynthdp.moments.state import MomentState
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.noised import BEYOND_BOUNDS, beyond_bounds
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.column_statement import ColumnStatement, Draw
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.mechanism import price_of, public_constants
from pysynthdp.privacy.mechanisms.noisy_moments import NoisyMoments
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers
from pysynthdp.privacy.statement import PrivacyStatement, Status
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["copies_asked", "noised_statement", "noised_tags"]

_COPIES, _NOISED_COPIES = 5, 20


def copies_asked(noise: NoiseInAnswers | None, m: int | None) -> int:
    """Default number of copies; no more than there are noisy releases where each copy has its own.

    Raises
    ------
    PrivacyError
        If more copies are asked for than there are noisy releases; fit with ``fresh_noise=0`` for any number.

    Notes
    -----
    Privacy: settings only.
    """
    if noise is None:
        return _COPIES if m is None else m
    if noise.fresh and m is not None and m > noise.fresh:
        raise PrivacyError(
            f"the budget of this fit is spent on {noise.fresh} copies with noise of their own; draw at "
            "most those, or fit with fresh_noise=0 for any number"
        )
    return (noise.fresh or _NOISED_COPIES) if m is None else m


def noised_statement(
    plan: SynthesisPlan, noise: NoiseInAnswers, state: MomentState, account: Account, *, public: Sequence[str]
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
    column = ColumnStatement(
        column=", ".join(dict.fromkeys(step.targets[0].column for step in plan.steps)),
        method=", ".join(dict.fromkeys(step.model.name for step in plan.steps)),
        guarantee=cost.name,
        reason="noise in the answers that all columns are fitted to protects",
        mechanism=mechanism.name,
        constants=public_constants(mechanism),
        assumptions=mechanism.assumptions,
        entry=mechanism.entry,
        source=mechanism.source,
        cost=cost,
        share=1.0,
    )
    status: Status = "void" if noise.testing else "implemented"
    return PrivacyStatement(
        guarantee=cost,
        status=status,
        reason=_reason(state),
        unit=noise.unit,
        columns=(column,),
        public=_facts(public, plan, noise),
        draws=account.draws,
        deltas=noise.deltas,
    )


def _reason(state: MomentState) -> str:
    """Say what protects, and what makes intervals doubtful."""
    reason = "all that was learned from the table are answers with noise, paid once; copies cost nothing"
    flags = flags_of(state)
    return f"{reason}. Flags: {'; '.join(flags)}" if flags else reason


def _facts(public: Sequence[str], plan: SynthesisPlan, noise: NoiseInAnswers) -> tuple[str, ...]:
    """Public facts; under add-or-remove the number of rows is a noisy answer and no such fact."""
    facts = list(public)
    if noise.unit.relation == "add_remove":
        facts[0] = "the number of rows of a copy, and the number of copies"
    facts += [f"{name}: a guess of centre and spread" for name, _, _ in noise.hints]
    free = beyond_bounds(plan)
    return (*facts, f"{', '.join(free)}: {BEYOND_BOUNDS}") if free else tuple(facts)


def _beyond_limit(unit: PrivacyUnit) -> str:
    """Say how rows beyond the limit of their unit are counted."""
    if unit.relation == "replace_one":
        return f"rows beyond the limit of their {unit.name} are counted among the clamped or clipped"
    return f"the rows left of a {unit.name} that had more are counted among the clamped or clipped"


def noised_tags(tags: ReleaseTags, plan: SynthesisPlan, state: MomentState, *, redraw: bool) -> ReleaseTags:
    """Tag copies from noised answers.

    Notes
    -----
    Privacy: settings and noised answers only.
    """
    fresh = len(state.answers) > 1
    drawn = redraw and not fresh
    details = {**details_of(state, m=tags.m), "beyond_bounds": list(beyond_bounds(plan))}
    if plan.noise is not None and plan.noise.testing:
        details["void"] = True
    if plan.noise is not None and plan.noise.unit.key is not None:
        details["remarks"] = [*details["remarks"], _beyond_limit(plan.noise.unit)]
    if state.balanced and not redraw:
        details["rows"] = "balanced: counts of levels lie nearer to the model than independent rows would"
    return replace(
        tags,
        noise="per_copy_fresh" if fresh else "per_copy_from_one" if drawn else "shared",
        parameters="drawn" if drawn else "fitted",
        details={**tags.details, **details},
    )
