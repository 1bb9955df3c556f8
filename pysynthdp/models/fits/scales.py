"""Scales on which a number may hang on its predictors in a straight line, and which of them serves best."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, RowSum, Sums
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.quantile_table import QuantileTable, table_values
from pysynthdp.models.fits.weighting import n_rows, weighted

__all__ = [
    "Latent",
    "Scale",
    "Transform",
    "ask_gain",
    "gain_of_scores",
    "nearly_normal",
    "scales_of",
    "scores_of",
]

NEARLY_NORMAL = 0.9  # of the variance on a scale lies in the part that is straight in normal scores
POINTS = 2_000
THIN = 1e-12
Transform: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Scale:
    """Plain values or their logarithms, standardised.

    Parameters
    ----------
    name : {"plain", "log"}
        Which.
    centre, width : float
        Subtracted from, and divided into, the values or their logarithms.
    floor : float
        Logarithms of what lies below are taken there.
    """

    name: Literal["plain", "log"]
    centre: float = 0.0
    width: float = 1.0
    floor: float = 0.0

    def of(self, y: FloatArray) -> FloatArray:
        """Values on the scale."""
        moved = np.log(np.maximum(y, self.floor)) if self.name == "log" else y
        return np.asarray((moved - self.centre) / self.width)


@dataclass(frozen=True, slots=True)
class Latent:
    """A latent regression v = x'beta + sigma e, and the distribution of v over the rows.

    Parameters
    ----------
    beta : array (features,)
        Latent coefficients.
    sigma : float
        Spread of the latent residual.
    grid, cdf : array (points,)
        The distribution.
    """

    beta: FloatArray
    sigma: float
    grid: FloatArray
    cdf: FloatArray


def scales_of(table: QuantileTable) -> tuple[Scale, ...]:
    """Plain values, and logarithms where there are positive values and none below zero.

    Zeros, too few to stand for themselves, count as half of the lowest positive value of the table.

    Examples
    --------
    >>> from pysynthdp.models.fits.quantile_table import quantile_table
    >>> u = (np.arange(20) + 0.5) / 20
    >>> [scale.name for scale in scales_of(quantile_table(np.stack([u, 20 * u])))]
    ['plain', 'log']
    >>> [scale.name for scale in scales_of(quantile_table(np.stack([u, u - 0.5])))]
    ['plain']
    """
    values = table_values(table, _middles())
    ends = table_values(table, np.array([0.0, 1.0]))
    found = [Scale("plain", *_place(values))]
    if ends[0] >= 0 < ends[1]:
        floor = float(table.at[table.at > 0][0]) / 2
        found.append(Scale("log", *_place(np.log(np.maximum(values, floor))), floor))
    return tuple(found)


def scores_of(table: QuantileTable) -> Transform:
    """Take normal scores: Phi^-1(F(y)), tied values at the middle of their mass."""
    scores = ndtri(table.mid)
    return lambda y: np.interp(y, table.at, scores)


def nearly_normal(table: QuantileTable, scale: Scale) -> bool:
    """Whether a margin is so near to a normal one on a scale that no other scale can serve much better.

    The squared correlation of the values on the scale with their normal scores is at least nine tenths.

    Examples
    --------
    >>> from pysynthdp.models.fits.quantile_table import quantile_table
    >>> u = (np.arange(200) + 0.5) / 200
    >>> tables = [quantile_table(np.stack([u, values])) for values in (ndtri(u), np.exp(1.5 * ndtri(u)))]
    >>> [nearly_normal(table, Scale("plain")) for table in tables]
    [True, False]
    """
    values = scale.of(table_values(table, _middles()))
    spread = float(values.std())
    return spread == 0.0 or float(np.mean(values * ndtri(_middles()))) ** 2 >= NEARLY_NORMAL * spread**2


def ask_gain(latent: Latent, table: QuantileTable, n: int) -> Generator[RowSum, Answer, float]:
    """Ask for the log likelihood that a latent regression gains a row over independence of the features.

    Parameters
    ----------
    latent : Latent
        Draws are Q(F(v)).
    table : QuantileTable
        The margin Q.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.

    Notes
    -----
    Privacy: asks for a sum over rows; sees no row.
    The density of a value y given x is phi((v - x'beta) / sigma) / sigma times the Jacobian dv/dy, with
    F(v) = Q^-1(y): dv/dy = q(y) / f(v), and the density q of the margin is the same whatever the scale. So
    regressions that were fitted on several scales compare by what they make of every row, and no outlier
    counts more than its rank.
    """
    density = np.maximum(np.gradient(latent.cdf, latent.grid), THIN)
    drawn = np.interp(table.mid, latent.cdf, latent.grid)
    logs = np.log(np.interp(drawn, latent.grid, density))

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        rest = (np.interp(y, table.at, drawn) - X @ latent.beta) / latent.sigma
        n = n_rows(y, w)
        terms = -(rest @ weighted(rest, w) + n * np.log(2 * np.pi)) / 2 - n * np.log(latent.sigma)
        return (np.asarray(terms - np.sum(weighted(np.interp(y, table.at, logs), w))), np.asarray(n))

    total, rows = (yield RowSum(block, stride(n))).value
    return float(total / rows)


def gain_of_scores(explained: float) -> float:
    """Gain of the regression of normal scores, by the share of their variance that it explains.

    Examples
    --------
    >>> round(gain_of_scores(0.5), 3)
    0.347
    """
    return float(-np.log1p(-min(explained, 1 - THIN)) / 2)


def _middles() -> FloatArray:
    """Probabilities in the middle of equal cells."""
    return np.asarray((np.arange(POINTS) + 0.5) / POINTS)


def _place(values: FloatArray) -> tuple[float, float]:
    """Mean and spread; a spread of 1 where there is none."""
    return float(values.mean()), float(values.std()) or 1.0
