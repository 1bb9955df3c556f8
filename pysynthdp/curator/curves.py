"""Where curves of numbers have their places: quantiles that are averages of five records or more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.curator.present import Present
from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.curator.table import SCALE_ROWS, PartTable
from pysynthdp.design.curves import Curve, curve_at
from pysynthdp.design.parts import Part
from pysynthdp.models.fits.quantile_table import group_means
from pysynthdp.plan import Factor, Step
from pysynthdp.plan.curves import named_curves

__all__ = ["curves_of", "learned_curves"]

LEAST = 100  # values that the systematic sample must have; else all are taken


def curves_of(steps: Sequence[Step], table: PartTable) -> tuple[Curve, ...]:
    """Place the curves that the terms of some steps name.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee.
    """
    return learned_curves(named_curves(steps), table)


def learned_curves(factors: Iterable[Factor], table: PartTable) -> tuple[Curve, ...]:
    """Place some curves at the quantiles of their numbers.

    Notes
    -----
    Privacy: reads real rows; each place is an average of five records or more, or a value that five share.
    """
    known: dict[str, Callable[[FloatArray], FloatArray]] = {}
    curves = []
    for factor in factors:
        if factor.column not in known:
            known[factor.column] = _quantiles(factor.column, table)
        at = tuple(int(number) for number in factor.at)
        curves.append(curve_at((factor.column, "value"), factor.form, at, known[factor.column]))
    return tuple(curves)


def _quantiles(column: str, table: PartTable) -> Callable[[FloatArray], FloatArray]:
    """Give the quantile function of a number: its groups' means, the nearest one."""
    part = Part(column, "value", partial=True)  # if it has kinds
    values = Present(*table.sample(part, max(1, table.n // SCALE_ROWS)))
    if values.n < LEAST:
        values = table.present(part)
    knots = coarse_quantiles(values.ranked())
    means, ends = group_means(knots), np.cumsum(knots[0])

    def at(shares: FloatArray) -> FloatArray:
        return np.asarray(means[np.searchsorted(ends, shares - 1e-9).clip(0, len(means) - 1)])

    return at
