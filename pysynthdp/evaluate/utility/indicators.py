"""Shares and means by subgroup, as subject people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import SettingError
from pysynthdp.base.words import meant
from pysynthdp.evaluate.sides.cells import Cells, coded
from pysynthdp.evaluate.sides.columns import numbers_of, with_dates

__all__ = ["By", "asked_groups", "indicators"]

By: TypeAlias = Sequence[str | Sequence[str]]
LEAST: Final = 10  # records of a group whose mean is compared
_PROPOSED: Final = 2
_LEVELS: Final = 12
_HEADS: Final = ("by", "group", "statistic", "records", "confidential", "copies", "std.diff")


def asked_groups(by: By | None, cells: Sequence[Cells]) -> list[tuple[str, ...]]:
    """Take the columns by which indicators are told; the first two of few levels where none are named.

    Raises
    ------
    SettingError
        If a column is not among those compared.
    """
    names = [each.facts.name for each in cells]
    if by is None:
        few = [
            each.facts.name
            for each in cells
            if not each.facts.numeric and 2 <= len(each.facts.levels) <= _LEVELS
        ]
        return [(name,) for name in few[:_PROPOSED]]
    asked = [(one,) if isinstance(one, str) else tuple(one) for one in ([by] if isinstance(by, str) else by)]
    for name in (name for group in asked for name in group):
        if name not in names:
            raise SettingError(
                f"by names {name!r}, which is no column that both sides have",
                kind="setting",
                remedy=meant(name, names, "name columns of both"),
            )
    return asked


def indicators(
    sides: Sequence[Any],
    cells: Sequence[Cells],
    by: Sequence[tuple[str, ...]],
    take: Callable[[Any], pd.DataFrame],
) -> pd.DataFrame:
    """Hold the share of each group, and the mean of every number in it, against each other.

    Parameters
    ----------
    sides : sequence
        The confidential side first.
    cells : sequence of Cells
        Of the columns.
    by : sequence of tuples of str
        Columns whose cells, crossed, are the groups.
    take : callable
        Gives the frame of one side.

    Returns
    -------
    DataFrame
        Groups of ten records or more; ``std.diff`` as in the table of means.

    Notes
    -----
    Privacy: of real rows.
    """
    known = {each.facts.name: each for each in cells}
    numeric = [each for each in cells if each.facts.numeric]
    rows: list[tuple[Any, ...]] = []
    for names in by:
        crossed = [known[name] for name in names]
        found = [
            _side(take(side), crossed, [one for one in numeric if one.facts.name not in names])
            for side in sides
        ]
        rows += _compared(" x ".join(names), _labels(crossed), [one.facts.name for one in numeric
                          if one.facts.name not in names], found)  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(_HEADS))
    means = {f"mean({one.facts.name})": one.facts for one in numeric}
    return with_dates(frame, [means.get(name) for name in frame["statistic"]])


def _labels(crossed: Sequence[Cells]) -> list[str]:
    """Name the groups."""
    found = [""]
    for each in crossed:
        found = [f"{left}, {label}" if left else label for left in found for label in each.labels]
    return found


def _side(frame: pd.DataFrame, crossed: Sequence[Cells], numeric: Sequence[Cells]) -> AnyArray:
    """Count the rows of each group, and sum every number in it: (1 + 3 columns, groups)."""
    group = np.zeros(len(frame), dtype=np.int64)
    for codes, each in zip(coded(frame, crossed), crossed, strict=True):
        group = group * each.size + codes
    size = int(np.prod([each.size for each in crossed]))
    found = [np.bincount(group, minlength=size).astype(np.float64)]
    for each in numeric:
        values, kinds = numbers_of(frame[each.facts.name], each.facts)
        there = kinds == 0
        at, known = group[there], values[there]
        found += [np.bincount(at, weight, size).astype(np.float64) for weight in (None, known, known**2)]
    return np.array(found)


def _compared(
    name: str, labels: Sequence[str], numeric: Sequence[str], sides: Sequence[AnyArray]
) -> Iterator[tuple[Any, ...]]:
    """Compare group by group."""
    real, copies = sides[0], sides[1:]
    n1, n2 = real[0].sum(), np.mean([side[0].sum() for side in copies])
    spread = np.sqrt(1 / n1 + 1 / n2)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = real[0] / n1, np.mean([side[0] / side[0].sum() for side in copies], axis=0)
        z = (other - one) / (np.sqrt(one * (1 - one)) * spread)
        means = [[_means(side, place) for side in sides] for place in range(len(numeric))]
    for group, label in enumerate(labels):
        if real[0, group] < LEAST:
            continue
        yield (name, label, "share", int(real[0, group]), one[group], other[group], z[group])
        for column, found in zip(numeric, means, strict=True):
            yield (name, label, f"mean({column})", int(found[0][0][group]), *_difference(found, group))


def _means(side: AnyArray, place: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give counts, means and variances of a number in each group."""
    count, total, square = side[1 + 3 * place : 4 + 3 * place]
    mean = total / count
    return count, mean, np.maximum(square / count - mean**2, 0) * count / (count - 1)


def _difference(
    found: Sequence[tuple[FloatArray, FloatArray, FloatArray]], group: int
) -> tuple[float, float, float]:
    """Give both means and their difference in standard errors."""
    count, mean, variance = (part[group] for part in found[0])
    others = [(side[0][group], side[1][group]) for side in found[1:] if side[0][group] > 0]
    if not others or count < 2:
        return float(mean), float("nan"), float("nan")
    size, other = np.mean(others, axis=0)
    error = np.sqrt(variance * (1 / count + 1 / size))
    return float(mean), float(other), float((other - mean) / error) if error > 0 else float("nan")
