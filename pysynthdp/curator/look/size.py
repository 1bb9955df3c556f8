"""Whether a table is so wide that a fit takes long: many columns of levels, each drawn from all before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.encode import n_features
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.schema import Column

__all__ = ["slow_plan", "slow_table"]

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
    return _remark(_coefficients(step, plan) for step in plan.steps if step.model.name in _REGRESSIONS)


def slow_table(columns: Sequence[Column]) -> tuple[Remark, ...]:
    """Say that the fit of a table takes long, if each column is drawn from all before it.

    Notes
    -----
    Privacy: counts columns and their levels.
    """
    return _remark(_in_turn(columns))


def _in_turn(columns: Sequence[Column]) -> Iterator[int]:
    """Count the coefficients of each part, given all columns before it."""
    features = 1
    for column in columns:
        parts = parts_of(column)
        yield from (features * n_features(part) for part in parts if part.levels and not part.ordered)
        features += sum(map(n_features, parts))


def _coefficients(step: Step, plan: SynthesisPlan) -> int:
    """Count the coefficients of a step, products left out."""
    read = (part for name in step.predictors for part in _parts(plan, name))
    return (1 + sum(map(n_features, read))) * sum(map(n_features, step.targets))


def _parts(plan: SynthesisPlan, name: str) -> tuple[Part, ...]:
    """Give the parts of a column."""
    return tuple(part for part in plan.parts if part.column == name)


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
        "name fewer predictors in {matrix}, merge levels, or take {sample} where shares alone will do",
        matrix=matrix,
        sample=Setting("method", {...: "sample"}),
    )
    return (Remark("", "wide table", what, remedy),)
