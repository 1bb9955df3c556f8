"""Curves of a number: columns of X beside the number itself, between quantiles or declared places.

A curve stands in the wide X after all parts, is written with its part, and is zero where that is absent.
Its places are averages of five records or more, or evenly spaced between declared bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray

__all__ = ["CURVES", "DEGREE", "Curve", "Form", "curve_at"]

DEGREE = 3  # of bs, as in R and patsy
LEAST_LOG = 1e-12  # of the upper bound or the mean: where a logarithm stops to fall


@dataclass(frozen=True, slots=True, repr=False)
class Curve:
    """A curve of one numeric part.

    Parameters
    ----------
    part : tuple (column, role)
        Whose values it bends.
    form : str
        One of :data:`CURVES`.
    at : tuple of int
        Which of a family: how many columns or groups; for a hinge or step its place, and how many places.
    knots : tuple of float
        Places in the unit of the column, and what else the form needs.
    """

    part: tuple[str, str]
    form: str
    at: tuple[int, ...]
    knots: tuple[float, ...]

    @property
    def key(self) -> tuple[str, str, tuple[int, ...]]:
        """(column, form, at), by which a plan names it."""
        return self.part[0], self.form, self.at

    @property
    def width(self) -> int:
        """Columns of X."""
        return CURVES[self.form].width(self.knots)

    @property
    def dummies(self) -> bool:
        """Whether its columns are 0 or 1."""
        return CURVES[self.form].dummies

    @property
    def names(self) -> tuple[str, ...]:
        """Name the columns."""
        numbers = ", ".join(map(str, self.at))
        text = f"{self.form}({self.part[0]}{', ' if numbers else ''}{numbers})"
        return (text,) if self.width == 1 else tuple(f"{text}[{place + 1}]" for place in range(self.width))

    def write(self, out: FloatArray, values: FloatArray, absent: BoolArray | None) -> None:
        """Write the columns of some rows; zero where the value is absent."""
        CURVES[self.form].write(out, np.asarray(values, dtype=np.float64), self.knots)
        if absent is not None:
            out[absent] = 0.0


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of curve.

    Parameters
    ----------
    shares : callable at -> shares
        Where its places are, as shares of the records.
    settle : callable places -> knots
        Distinct places, and what else is needed, from the places found.
    width : callable knots -> int
        Columns.
    write : callable (out, values, knots)
        Fill (rows, width).
    dummies : bool
        Whether columns are 0 or 1.
    alone : bool
        Whether the column's own line and its dummies of absence are no part of it.
    """

    shares: Callable[[tuple[int, ...]], FloatArray]
    settle: Callable[[FloatArray], tuple[float, ...]]
    width: Callable[[tuple[float, ...]], int]
    write: Callable[[FloatArray, FloatArray, tuple[float, ...]], None]
    dummies: bool = False
    alone: bool = False


def curve_at(
    part: tuple[str, str], form: str, at: tuple[int, ...], quantile: Callable[[FloatArray], FloatArray]
) -> Curve:
    """Place a curve by the quantile function of its number.

    Parameters
    ----------
    part : tuple (column, role)
        Whose values it bends.
    form : str
        One of :data:`CURVES`.
    at : tuple of int
        Which of the family.
    quantile : callable shares -> values
        Of records, from averages of at least five; or of the uniform law between declared bounds.

    Examples
    --------
    >>> step = curve_at(("age", "value"), "step", (2, 3), lambda shares: 100 * shares)
    >>> step.knots, step.names
    ((50.0,), ('step(age, 2, 3)',))
    """
    own = CURVES[form]
    return Curve(part, form, at, own.settle(np.asarray(quantile(own.shares(at)), dtype=np.float64)))


def _plain(value: FloatArray) -> tuple[float, ...]:
    """Give plain numbers."""
    return tuple(float(each) for each in np.atleast_1d(value))


def _distinct(places: FloatArray) -> tuple[float, ...]:
    """Places from low to high, each once."""
    return _plain(np.unique(places))


# -- log ---------------------------------------------------------------------------------------------------


def _log_knots(places: FloatArray) -> tuple[float, ...]:
    """Floor, centre and half the range of the logarithms; a floor above zero whatever the copies hold."""
    high = max(float(places[-1]), np.finfo(float).tiny)
    above = places[places > 0]
    low = max(float(above[0]), high * LEAST_LOG) if above.size else high
    ends = np.log([low, high])
    return low, float(ends.mean()), float((ends[1] - ends[0]) / 2) or 1.0


def _write_log(out: FloatArray, values: FloatArray, knots: tuple[float, ...]) -> None:
    """Logarithm, level below the lowest place."""
    floor, centre, width = knots
    out[:, 0] = (np.log(np.maximum(values, floor)) - centre) / width


# -- splines -----------------------------------------------------------------------------------------------


def _bs_width(knots: tuple[float, ...]) -> int:
    """Columns beside the intercept: the places inside, and the degree."""
    return len(knots) - 2 + DEGREE if len(knots) > 1 else 0


def _write_bs(out: FloatArray, values: FloatArray, knots: tuple[float, ...]) -> None:
    """Cubic B-splines without the first (de Boor 1978, X), level beyond the outer places."""
    if not out.shape[1]:
        return
    t = np.array([knots[0]] * DEGREE + [*knots] + [knots[-1]] * DEGREE)
    x = np.clip(values, knots[0], knots[-1])[:, None]
    inside = np.searchsorted(knots, x[:, 0], side="right").clip(1, len(knots) - 1) + DEGREE - 1
    basis = (np.arange(len(t) - 1) == inside[:, None]).astype(np.float64)
    for degree in range(1, DEGREE + 1):
        size = len(t) - 1 - degree
        up, down = t[degree : degree + size] - t[:size], t[degree + 1 :][:size] - t[1 : size + 1]
        left = np.where(up > 0, (x - t[:size]) / np.where(up > 0, up, 1.0), 0.0)
        right = np.where(down > 0, (t[degree + 1 :][:size] - x) / np.where(down > 0, down, 1.0), 0.0)
        basis = left * basis[:, :size] + right * basis[:, 1 : size + 1]
    out[:] = basis[:, 1:]


def _write_cr(out: FloatArray, values: FloatArray, knots: tuple[float, ...]) -> None:
    """Natural cubic spline beside its line (Hastie, Tibshirani and Friedman 2009, eq. 5.4 and 5.5)."""
    reach = (knots[-1] - knots[0]) or 1.0
    x, k = (values - knots[0]) / reach, (np.asarray(knots) - knots[0]) / reach

    def bent(place: int) -> FloatArray:
        own, last = np.maximum(x - k[place], 0) ** 3, np.maximum(x - k[-1], 0) ** 3
        return np.asarray((own - last) / (k[-1] - k[place]))

    if out.shape[1]:
        end = bent(len(k) - 2)
    for column in range(out.shape[1]):
        out[:, column] = bent(column) - end


# -- pieces ------------------------------------------------------------------------------------------------


def _write_cut(out: FloatArray, values: FloatArray, knots: tuple[float, ...]) -> None:
    """Dummies of the groups between places, without the first."""
    groups = np.searchsorted(knots, values, side="right")
    for column in range(out.shape[1]):
        np.equal(groups, column + 1, out=out[:, column], casting="unsafe")


def _hinge_knots(places: FloatArray) -> tuple[float, ...]:
    """Place, and how far it is from there to the far end; no column where that is no way."""
    place, end = float(places[0]), float(places[-1])
    return (place, end - place) if end > place else ()


def _write_hinge(out: FloatArray, values: FloatArray, knots: tuple[float, ...]) -> None:
    """How far a number is above a place."""
    if knots:
        out[:, 0] = np.maximum(values - knots[0], 0.0) / knots[1]


def _write_step(out: FloatArray, values: FloatArray, knots: tuple[float, ...]) -> None:
    """Whether a number reaches a place."""
    np.greater_equal(values, knots[0], out=out[:, 0], casting="unsafe")


CURVES: Final[dict[str, Form]] = {
    "log": Form(lambda _: np.linspace(0, 1, 201), _log_knots, lambda _: 1, _write_log),
    "bs": Form(lambda at: np.linspace(0, 1, at[0] - DEGREE + 2), _distinct, _bs_width, _write_bs),
    "cr": Form(
        lambda at: np.linspace(0, 1, at[0] + 1), _distinct, lambda knots: max(len(knots) - 2, 0), _write_cr
    ),
    "cut": Form(lambda at: np.arange(1, at[0]) / at[0], _distinct, len, _write_cut, dummies=True),
    "hinge": Form(
        lambda at: np.array([at[0] / (at[1] + 1), 1.0]),
        _hinge_knots,
        lambda knots: min(len(knots), 1),
        _write_hinge,
        alone=True,
    ),
    "step": Form(
        lambda at: np.array([at[0] / (at[1] + 1)]),
        _plain,
        lambda _: 1,
        _write_step,
        dummies=True,
        alone=True,
    ),
}
"""Forms by the name that a formula calls them by."""
