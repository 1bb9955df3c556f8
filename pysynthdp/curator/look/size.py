"""Whether a table is so wide that predictors are chosen, and whether the fit of a plan takes long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.encode import n_features
from pysynthdp.design.parts import parts_of
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.plan.terms import MOST
from pysynthdp.schema import Column

__all__ = ["slow_plan", "slow_table", "wide_table"]

_SECONDS = 2e-10  # a multiplication of a fit, within a factor of three from 2,000 x 300 to 10^6 x 12
_LONG = 60.0
_ROWS = 2_000  # where their number is not told
_SAMPLED = 20_000  # rows by which a long table is judged, and of which a search sees some 30 times
_ROUNDS, _ROUNDS_OF_ALL = 30, 10
_CELLS = 20
_SCREENED = (20_000, 120, 14)  # rows, features, and residuals of a target that products are scored against
_CHECKED = (50_000, 80)  # rows, and features of which three at a time are compared
_REGRESSIONS = ("logreg", "polyreg", "polr", "cells")  # with coefficients of each level, or cell, but one


def slow_plan(plan: SynthesisPlan, rows: int | None = None) -> tuple[Remark, ...]:
    """Say that the fit of a plan takes long.

    Parameters
    ----------
    plan : SynthesisPlan
        Before the fit.
    rows : int, optional
        Of the table, where their number may be told.

    Notes
    -----
    Privacy: counts columns and levels of the schema, and rows where they are given.
    """
    n = _ROWS if rows is None else rows
    widths = {column.name: sum(map(n_features, parts_of(column))) for column in plan.schema}
    regressions = [step for step in plan.steps if step.model.name in _REGRESSIONS and not step.nested]
    sizes = [_size(step, plan, widths) for step in regressions]
    screened = [
        _screening(_size(step, plan, widths)[0], n) for step in plan.steps if step.label in plan.to_screen
    ]
    check = _checking(sum(widths.values()), n) if plan.protection.learns and sizes else 0.0
    return _remark(sizes, n, more=sum(screened) + check)


def slow_table(columns: Sequence[Column], rows: int) -> tuple[Remark, ...]:
    """Say that the fit of a table takes long, if each column is drawn from those that are chosen.

    Notes
    -----
    Privacy: counts columns and their levels, and rows.
    """
    sizes = list(_in_turn(columns))
    width = sum(n_features(part) for column in columns for part in parts_of(column))
    screened = sum(_screening(read, rows) for read, _ in sizes)
    return _remark(sizes, rows, more=screened + _checking(width, rows))


def _in_turn(columns: Sequence[Column]) -> Iterator[tuple[int, int]]:
    """Count features and answers of each part; the columns that are chosen for it are as wide as the mean."""
    features = 0
    for place, column in enumerate(columns):
        parts = parts_of(column)
        read = 1 + round(features * min(1.0, MOST / max(place, 1)))
        yield from ((read, _CELLS if part.numeric else n_features(part)) for part in parts)
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


def _size(step: Step, plan: SynthesisPlan, widths: Mapping[str, int]) -> tuple[int, int]:
    """Count features, products left out, and answers; predictors to choose are as wide as the mean."""
    features = sum(widths[name] for name in step.predictors)
    free = all(part.column in plan.left_open for part in step.targets)
    if free and plan.max_predictors is not None and step.predictors:
        features = round(features * min(1.0, plan.max_predictors / len(step.predictors)))
    return 1 + features, sum(_CELLS if part.numeric else n_features(part) for part in step.targets)


def _searching(read: int, answers: int, rows: int) -> float:
    """Multiplications of a search for coefficients: gradients, blocks of curvature, inverses."""
    long = rows > _CHECKED[0]
    seen = min(rows, _SAMPLED) if long else rows
    passes = _ROUNDS * seen + (_ROUNDS_OF_ALL * rows if long else 0)
    return 2.0 * answers * read * (passes + read * (seen + read))


def _screening(read: int, rows: int) -> float:
    """Multiplications of scoring all products of two features."""
    most, widest, residuals = _SCREENED
    return float(residuals * min(rows, most) * min(read, widest) ** 2)


def _checking(width: int, rows: int) -> float:
    """Multiplications of comparing real rows with drawn ones: two features at a time, and three if few."""
    most, crossed = _CHECKED
    seen = min(rows, most)
    return 6.0 * seen * width**2 + 10.0 * width**3 + (8.0 * seen * width**3 if width <= crossed else 0.0)


def _remark(sizes: Sequence[tuple[int, int]], rows: int, *, more: float) -> tuple[Remark, ...]:
    """Say how long it may take, in minutes."""
    seconds = _SECONDS * (more + sum(_searching(read, answers, rows) for read, answers in sizes))
    if seconds < _LONG:
        return ()
    what = Words(
        "{models} columns have {count} coefficients: the fit may take {minutes} minutes or more",
        models=len(sizes),
        count=f"{sum(read * answers for read, answers in sizes):,}",
        minutes=f"{max(round(seconds / 60), 2):,}",
    )
    matrix = Said("predictor_matrix=", "[predictors] in the plan", "predictor_matrix =")
    remedy = Words(
        "give a smaller {most}, name fewer predictors in {matrix}, merge levels, screen nothing ({main}), or "
        "take {sample} where shares alone will do",
        most=Setting("max_predictors", MOST),
        matrix=matrix,
        main=Setting("terms", "main"),
        sample=Setting("method", {...: "sample"}),
    )
    return (Remark("", "wide table", what, remedy),)
