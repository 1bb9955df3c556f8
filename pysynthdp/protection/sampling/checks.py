"""What a guarantee by sampling asks of a plan, and the mechanism of each step with its public constants."""

from __future__ import annotations

from typing import Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Said, Words
from pysynthdp.design.encode import Layout
from pysynthdp.models.base import Priced
from pysynthdp.plan import Step, SynthesisPlan, task_of
from pysynthdp.plan.curves import public_curves
from pysynthdp.privacy.mechanism import PricedColumn, mechanism_from_dict
from pysynthdp.protection.refusals import refuse_outside, refuse_real_values

__all__ = ["check_models", "priced_columns"]

_EXACT: Final = Said("exact=True", "exact = true", "exact = TRUE")


def check_models(plan: SynthesisPlan) -> None:
    """Refuse a plan with a column that has no guarantee, or one that nobody here has proved.

    Raises
    ------
    PrivacyError
        Names the column and the remedy.

    Notes
    -----
    Privacy: settings only.
    """
    for step in plan.steps:
        if not isinstance(step.model, Priced):
            raise _unpriced(step)
        refuse_real_values(step.model, step.label)
        refuse_outside(step.model, step.label, plan.protection.outside)


def _unpriced(step: Step) -> PrivacyError:
    """Say which column has no price."""
    return PrivacyError(
        f"{step.label}: method {step.model.name!r} has no guarantee by sampling ({step.model.reason})",
        column=step.label,
        kind="guarantee",
        remedy="choose one that has, such as 'gaussian', 'dirichlet' or 'logridge'",
    )


def priced_columns(plan: SynthesisPlan, *, exact: bool, n: int) -> tuple[PricedColumn, ...]:
    """Give the mechanism of each step with its public constants.

    Notes
    -----
    Privacy: public constants only.
    """
    layout = Layout(plan.parts, {}, curves=public_curves(plan))
    return tuple(_priced(step, plan, layout, exact=exact, n=n) for step in plan.steps)


def _priced(step: Step, plan: SynthesisPlan, layout: Layout, *, exact: bool, n: int) -> PricedColumn:
    """Price one step."""
    model = step.model
    if not isinstance(model, Priced):
        raise _unpriced(step)
    name, constants = model.mechanism(task_of(step, plan, layout, n=n))
    mechanism = mechanism_from_dict(name, constants)
    refuse_outside(mechanism, step.label, plan.protection.outside)
    if exact and not mechanism.exact:
        text = "{label}: method '{method}' has no exact sampler with a proof"
        raise PrivacyError(
            Words(text, label=step.label, method=step.model.name),
            column=step.label,
            kind="method",
            remedy=Words(
                "leave {exact} out (the claim is then idealised), or use a guarantee by noise in the "
                "statistics",
                exact=_EXACT,
            ),
        )
    return PricedColumn(step.label, step.model.name, mechanism)
