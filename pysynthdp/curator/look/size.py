"""Whether a table is so wide that predictors are chosen, and whether the fit of a plan takes long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.encode import n_features
from pysynthdp.design.parts import parts_of
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.plan.terms import MOST
from pysynthdp.schema import Column

__all__ = ["slow_plan", "slow_table", "wide_table"]

_SECONDS = (
    1.5e-7  # a squared coefficient of a step, within a factor of four for 20 to 80 columns of 5 to 20 levels
)
_LONG = 60.0
_REGRESSIONS = ("logreg", "polyreg")  # of levels, with coefficients of each level but one


def slow_plan(plan: SynthesisPlan) -> tuple[Remark, ...]:
    """Say that the fit of a plan takes long.

    Notes
    -----
    Privacy: counts columns and levels of the schema.
    """
    widths = {column.name: sum(map(n_features, parts_of(column))) for column in plan.schema}
    regressions = (step for step in plan.steps if step.model.name in _REGRESSIONS)
    return _remark(_coefficients(step, plan, widths) for step in regressions)


def slow_table(columns: Sequence[Column]) -> tuple[Remark, ...]:
    """Say that the fit of a table takes long, if each column is drawn from those that are chosen.

    Notes
    -----
    Privacy: counts columns and their levels.
    """
    return _remark(_in_turn(columns))


def _in_turn(columns: Sequence[Column]) -> Iterator[int]:
    """Count the coefficients of each part, given as many columns before it as are chosen, of mean width."""
    features = 0
    for place, column in enumerate(columns):
        parts = parts_of(column)
        read = 1 + round(features * min(1.0, MOST / max(place, 1)))
        yield from (read * n_features(part) for part in parts if part.levels and not part.ordered)
        features += sum(map(n_features, parts))


def wide_table(columns: Sequence[Column]) -> tuple[Remark, ...]:
    """Say that a fit chooses predictors, since a table has more columns than each is drawn from.

    Notes
    -----
    Privacy: counts columns.
    """
    if len(columns) <= MOST + 1:
        return ()
    what = Words(
        "{columns} columns: a fit draws each from the {most} columns before it that tell most of it",
        columns=len(columns),
        most=MOST,
    )
    remedy = Words("{setting} chooses more", setting=Setting("max_predictors", 2 * MOST))
    return (Remark("", "wide table", what, remedy),)


def _coefficients(step: Step, plan: SynthesisPlan, widths: Mapping[str, int]) -> int:
    """Count the coefficients of a step, products left out; predictors to choose are as wide as the mean."""
    features = sum(widths[name] for name in step.predictors)
    free = all(part.column in plan.left_open for part in step.targets)
    if free and plan.max_predictors is not None and step.predictors:
        features = round(features * min(1.0, plan.max_predictors / len(step.predictors)))
    return (1 + features) * sum(map(n_features, step.targets))


def _remark(coefficients: Iterable[int]) -> tuple[Remark, ...]:
    """Say how long it may take, in minutes."""
    counts = list(coefficients)
    seconds = _SECONDS * sum(count**2 for count in counts)
    if seconds < _LONG:
        return ()
    what = Words(
        "{models} columns of levels have {count} coefficients: the fit may take {minutes} minutes or more",
        models=len(counts),
        count=f"{sum(counts):,}",
        minutes=f"{max(round(seconds / 60), 2):,}",
    )
    matrix = Said("predictor_matrix=", "[predictors] in the plan", "predictor_matrix =")
    remedy = Words(
        "give a smaller {most}, name fewer predictors in {matrix}, merge levels, or take {sample} where "
        "shares alone will do",
        most=Setting("max_predictors", MOST),
        matrix=matrix,
        sample=Setting("method", {...: "sample"}),
    )
    return (Remark("", "wide table", what, remedy),)
