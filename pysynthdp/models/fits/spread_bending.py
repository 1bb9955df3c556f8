"""Bend a regression to a margin and keep two things: the regression, and how its residuals spread.

A draw is Q(F(s + t e)) with s = x'gamma, log t = z'delta, e standard normal, F the distribution of s + t e
over the rows and Q the quantile function of the margin; z is x, cut at two. Gamma and delta are chosen so
that, over the rows, E[x y] and E[z (y - x'beta)^2] are those of the records, beta being the least-squares
regression: variances that are sums of squared residuals, such as those of a survey's design, are then near
those of the records. With delta zero it is ``bending.py``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtr

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.bending import centred_index, inverse_of_free
from pysynthdp.models.fits.latent import SPACING, few_together
from pysynthdp.models.fits.linear import LinearFit
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.quantile_table import QuantileTable, table_values
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.scales import Transform
from pysynthdp.models.fits.weighting import counts_records, n_rows, weighted

__all__ = ["Spread", "ask_gain", "ask_line", "ask_spread", "log_spreads"]

FARTHEST: Final = 8.0  # spread of s over that of the residual, beyond which there is nothing to shape
WIDEST: Final = 6.0  # times the middle spread that a row's may be, and as many times smaller
CLASSES: Final = 21  # of spreads, between which a row is divided
RECORDS: Final = 20  # for each feature that spreads depend on
CUT: Final = 2.0
PRIOR: Final = 4.0  # precision of the logarithm of a spread in one feature: 1 / 0.5^2
ROUNDS: Final = 30
CLOSE: Final = 5e-3
LEAST_SLOPE: Final = 1e-3
LONGEST_STEP: Final = 0.5
MOST: Final = 1.0  # spread of the logarithm of the spread over the rows
REACH: Final = 5.0  # standard deviations of a residual
LONGEST: Final = 4 * FARTHEST  # indices further out count as there
POINTS: Final = 2 * int((LONGEST + REACH * WIDEST) / SPACING) + 1
LOW: Final = -SPACING * (POINTS // 2)
GRID: Final = LOW + SPACING * np.arange(POINTS, dtype=np.float64)
LOGS: Final = np.linspace(-np.log(WIDEST), np.log(WIDEST), CLASSES)
TRIM: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Spread:
    """A latent regression whose residuals spread by the features.

    Parameters
    ----------
    gamma, delta : array (features,)
        Of the index, and of the logarithm of the spread, whose mean over the rows is 0.
    slope : float
        Change of a draw for one latent unit, on average.
    grid, cdf : array (points,)
        Distribution of the latent draws over the rows.
    off : float
        Squared residuals of the records over those of draws, less one: large where residuals are so small
        that the coarse table of the margin is further off.
    """

    gamma: FloatArray
    delta: FloatArray
    slope: float
    grid: FloatArray
    cdf: FloatArray
    off: float = 0.0


def log_spreads(X: FloatArray, delta: FloatArray) -> FloatArray:
    """Give the logarithm of each row's spread, within a factor of six of the middle one.

    Examples
    --------
    >>> np.exp(log_spreads(np.array([[1.0, 0.5], [1.0, 9.0]]), np.array([0.0, 1.0]))).round(3).tolist()
    [1.649, 6.0]
    """
    return np.asarray(np.clip(_cut(X) @ delta, LOGS[0], LOGS[-1]))


def _cut(X: FloatArray) -> FloatArray:
    """Cut features at two spreads: the logarithm of a spread follows no further."""
    return np.clip(X, -CUT, CUT)


def ask_spread(
    fit: LinearFit, scale: Transform, table: QuantileTable, gram: FloatArray, n: int
) -> Generator[RowSum, Answer, Spread]:
    """Find the latent regression whose draws have a margin, a regression and squared residuals.

    Parameters
    ----------
    fit : LinearFit
        The regression on the features, on the table's scale.
    scale : callable y -> z
        Leads to that scale.
    table : QuantileTable
        The margin.
    gram : array (features, features)
        X'X over the rows that answer.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.

    Returns
    -------
    Spread

    Notes
    -----
    Privacy: asks for sums over rows; sees no row. Rows that are few at their place are spread about the
    means of five (``few_together``), in each class of spreads; classes of fewer than five are one with the
    next. The spread depends on the features that squared residuals go with most, one for 20 rows, and has a
    normal prior. Newton steps for both at once: the slope of a draw in s for gamma; for delta 2 t^2 a unit.
    """
    every = stride(n)
    free = np.setdiff1d(independent_features(gram), fit.aliased)
    squares = (yield RowSum(_squares(fit.beta, scale), every)).value
    wanted = gram @ fit.beta
    spreads, aim, cut = _told_by_squares(squares, free, n // RECORDS), squares[0], squares[2]
    inverse = inverse_of_free(gram, fit.aliased)
    now = Spread(centred_index(fit.beta / fit.sigma, gram), np.zeros(fit.beta.size), 1.0, GRID, GRID)
    for left in reversed(range(ROUNDS)):
        cdf, expected = yield from _ask_law(now, table, every)
        cross, steep, drawn, second = (yield RowSum(_moments(now, fit.beta, expected), every)).value
        slope = max(float(steep[0, 0]) / gram[0, 0], LEAST_SLOPE * fit.sigma)
        missing = inverse @ (wanted - cross)
        step = np.zeros(len(missing))
        steep = steep[np.ix_(free, free)] + LEAST_SLOPE * slope * gram[np.ix_(free, free)]
        step[free] = np.linalg.solve(steep, (wanted - cross)[free])
        step = _within(step, gram, LONGEST_STEP * (1 + _size(now.gamma, gram)))
        turn = _turn(aim - drawn, second, now.delta, spreads, cut[0, 0])
        delta = _turned(now.delta, turn, cut)
        far = _size(missing, gram) >= CLOSE * fit.sigma or _size(delta - now.delta, cut) >= CLOSE
        if not (far and left):
            break  # the law is that of these coefficients
        gamma = _within(centred_index(now.gamma + step, gram), gram, FARTHEST)
        now = Spread(gamma, delta, slope, GRID, cdf)
    inside = (cdf > TRIM) & (cdf < 1 - TRIM)
    first, last = max(int(np.argmax(inside)) - 1, 0), POINTS - max(int(np.argmax(inside[::-1])) - 1, 0)
    off = float((aim - drawn)[0] / second[0, 0])
    return Spread(now.gamma, now.delta, slope, GRID[first:last], cdf[first:last], off)


def ask_line(fit: LinearFit, scale: Transform, gram: FloatArray, n: int) -> Generator[RowSum, Answer, Spread]:
    """Find how residuals of a straight line spread, where nothing is bent: E[z (y - x'beta)^2] is kept.

    Parameters
    ----------
    fit, scale, gram, n
        As in :func:`ask_spread`.

    Returns
    -------
    Spread
        ``gamma`` the regression, ``slope`` the middle spread.
    """
    every = stride(n)
    free = np.setdiff1d(independent_features(gram), fit.aliased)
    squares = (yield RowSum(_squares(fit.beta, scale), every)).value
    spreads, aim, cut = _told_by_squares(squares, free, n // RECORDS), squares[0], squares[2]
    total = fit.sigma**2 * gram[0, 0]
    if not total:
        return Spread(fit.beta, np.zeros(fit.beta.size), 0.0, GRID[:0], GRID[:0])
    aim, delta = aim * (total / max(float(aim[0]), np.finfo(float).tiny)), np.zeros(fit.beta.size)
    for _ in range(ROUNDS):
        second = (yield RowSum(_spread_squares(delta), every)).value[0]
        level = total / second[0, 0]
        turn = _turn(aim - level * second[0], level * second, delta, spreads, cut[0, 0])
        turned = _turned(delta, turn, cut)
        if _size(turned - delta, cut) < CLOSE:
            break
        delta = turned
    return Spread(fit.beta, delta, float(np.sqrt(level)), GRID[:0], GRID[:0])


def ask_gain(found: Spread, table: QuantileTable, n: int) -> Generator[RowSum, Answer, float]:
    """Ask for the log likelihood that a row gains over independence, as ``scales.ask_gain`` does.

    Notes
    -----
    Privacy: asks for a sum over rows; sees no row.
    """
    density = np.maximum(np.gradient(found.cdf, found.grid), TRIM)
    drawn = np.interp(table.mid, found.cdf, found.grid)
    logs = np.log(np.interp(drawn, found.grid, density))

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        log = log_spreads(X, found.delta)
        rest = (np.interp(y, table.at, drawn) - X @ found.gamma) / np.exp(log)
        terms = -(rest**2 + np.log(2 * np.pi)) / 2 - log - np.interp(y, table.at, logs)
        return (np.asarray(np.sum(weighted(terms, w))), np.asarray(n_rows(y, w)))

    total, rows = (yield RowSum(block, stride(n))).value
    return float(total / rows)


def _spread_squares(delta: FloatArray) -> RowTerms:
    """Sum squared spreads times the features and their products."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        Z = _cut(X)
        return (Z.T @ (Z * weighted(np.exp(2 * log_spreads(X, delta)), w)[:, None]),)

    return block


def _squares(beta: FloatArray, scale: Transform) -> RowTerms:
    """Sum squared residuals times the features, their square, and the rows."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        square, Z = (scale(y) - X @ beta) ** 2, _cut(X)
        return (Z.T @ weighted(square, w), np.asarray(square @ weighted(square, w)), Z.T @ weighted(Z, w))

    return block


def _told_by_squares(squares: Sums, free: IntArray, most: int) -> IntArray:
    """Choose the features that squared residuals go with most, intercept first."""
    cross, fourth, gram = squares
    rows = gram[0, 0]
    apart = cross - gram[0] * (cross[0] / rows)
    widths = gram.diagonal() - gram[0] ** 2 / rows
    noise = max(float(fourth) / rows - (cross[0] / rows) ** 2, np.finfo(float).tiny)
    others = free[free != 0]
    tells = apart[others] ** 2 / np.maximum(widths[others] * noise, np.finfo(float).tiny)
    return np.concatenate([[0], np.sort(others[np.argsort(-tells, kind="stable")[:most]])]).astype(np.int64)


def _ask_law(
    now: Spread, table: QuantileTable, every: int
) -> Generator[RowSum, Answer, tuple[FloatArray, tuple[FloatArray, FloatArray]]]:
    """Ask for the law of latent draws; beside it E[y] and E[y^2] by class and place."""
    mass, records = (yield RowSum(_mass(now), every)).value
    density = sum(
        np.convolve(few_together(own, FEWEST, there), kernel, mode="same")
        for own, there, kernel in zip(*_joined(mass, records), KERNELS, strict=True)
    )
    middle = np.cumsum(density) - np.asarray(density) / 2
    cdf = np.clip(middle / np.sum(density), 0.0, 1.0)
    cdf[0], cdf[-1] = 0.0, 1.0
    values = table_values(table, cdf)
    return cdf, (_smoothed(values), _smoothed(values**2))


def _joined(mass: FloatArray, records: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Put classes of fewer than five rows to the next one nearer to the middle."""
    mass, records = mass.copy(), records.copy()
    middle = CLASSES // 2
    for place in (*range(middle), *range(CLASSES - 1, middle, -1)):
        if 0 < records[place].sum() < FEWEST:
            to = place + (1 if place < middle else -1)
            for of in (mass, records):
                of[to] += of[place]
                of[place] = 0.0
    return mass, records


def _smoothed(values: FloatArray) -> FloatArray:
    """Take expectations over the residual at every place, by class."""
    return np.stack(
        [
            np.convolve(np.pad(values, len(kernel) // 2, mode="edge"), kernel, mode="valid")
            for kernel in KERNELS
        ]
    )


def _kernels() -> tuple[FloatArray, ...]:
    """Mass of a residual of each class in grid cells."""
    found = []
    for spread in np.exp(LOGS):
        half = int(REACH * spread / SPACING) + 1
        mass = np.diff(ndtr(SPACING * (np.arange(-half, half + 2) - 0.5) / spread))
        found.append(mass / mass.sum())
    return tuple(found)


KERNELS: Final = _kernels()


def _places(X: FloatArray, now: Spread) -> tuple[tuple[IntArray, FloatArray], tuple[IntArray, FloatArray]]:
    """Place of each row among the classes and on the grid, and how far it is to the next."""
    found = []
    for place, size in (
        ((log_spreads(X, now.delta) - LOGS[0]) / (LOGS[1] - LOGS[0]), CLASSES),
        ((np.clip(X @ now.gamma, -LONGEST, LONGEST) - LOW) / SPACING, POINTS),
    ):
        at = np.clip(place.astype(np.int64), 0, size - 2)
        found.append((at, place - at))
    return found[0], found[1]


def _mass(now: Spread) -> RowTerms:
    """Rows of each class at each point of the grid by their weights, and by their number."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        (kind, past), (at, rest) = _places(X, now)
        corners = [
            (kind + i, at + j, (past if i else 1 - past) * (rest if j else 1 - rest))
            for i in (0, 1)
            for j in (0, 1)
        ]

        def spread_over(weights: FloatArray | None) -> FloatArray:
            flat = sum(
                np.bincount(k * POINTS + j, weighted(share, weights), CLASSES * POINTS)
                for k, j, share in corners
            )
            return np.asarray(flat, dtype=np.float64).reshape(CLASSES, POINTS)

        mass = spread_over(w)
        return mass, (mass if w is None else spread_over(np.where(w > 0, 1.0, 0.0)))

    return counts_records(block, 1)


def _moments(now: Spread, beta: FloatArray, expected: tuple[FloatArray, FloatArray]) -> RowTerms:
    """Sum features times expected draws, slopes and squared residuals, and what moves the last."""
    slopes = np.gradient(expected[0], SPACING, axis=1)

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        (kind, past), (at, rest) = _places(X, now)

        def read(of: FloatArray) -> FloatArray:
            near = of[kind, at] + rest * (of[kind, at + 1] - of[kind, at])
            next_ = of[kind + 1, at] + rest * (of[kind + 1, at + 1] - of[kind + 1, at])
            return np.asarray(near + past * (next_ - near))

        value, fitted = read(expected[0]), X @ beta
        square = weighted(read(expected[1]) - 2 * value * fitted + fitted**2, w)
        slope = weighted(read(slopes), w)
        Z = _cut(X)
        return (
            X.T @ weighted(value, w),
            X.T @ (X * slope[:, None]),
            Z.T @ square,
            Z.T @ (Z * square[:, None]),
        )

    return block


def _turn(
    missing: FloatArray, second: FloatArray, delta: FloatArray, own: IntArray, rows: float
) -> FloatArray:
    """Step of delta: towards the squared residuals that are missing, against its prior."""
    level = max(float(second[0, 0]) / rows, np.finfo(float).tiny)
    prior = np.full(len(own), PRIOR * level)
    prior[0] = 0.0  # where the middle lies the margin says
    out = np.zeros(len(delta))
    steep = 2 * second[np.ix_(own, own)] + np.diag(prior + 1e-9 * level * rows)
    out[own] = np.linalg.solve(steep, missing[own] - prior * delta[own])
    return out


def _turned(delta: FloatArray, turn: FloatArray, cut: FloatArray) -> FloatArray:
    """Take a step, no long one, to no wider spreads than there may be; their middle stays."""
    return centred_index(_within(delta + _within(turn, cut, LONGEST_STEP), cut, MOST), cut)


def _size(step: FloatArray, gram: FloatArray) -> float:
    """Spread over the rows of what a step adds, about its mean."""
    rows = gram[0, 0]
    return float(np.sqrt(max(step @ gram @ step / rows - (gram[0] @ step / rows) ** 2, 0.0)))


def _within(step: FloatArray, gram: FloatArray, most: float) -> FloatArray:
    """Shrink coefficients, or a step of theirs, whose spread over the rows is larger than some number."""
    return step * min(1.0, most / max(_size(step, gram), np.finfo(float).tiny))
