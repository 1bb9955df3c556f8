"""Least squares on the records that fit best, and a coarse table of what is left, by sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.weighting import counted, counts_records, weighted

__all__ = ["TrimmedFit", "ask_trimmed", "residual_table"]

KEPT = 0.9  # of the records; the worst tenth does not shape the fit
ROUNDS = 6
DECADES, FINE = (-9.0, 2.0), 60  # of the target's spread, and ranges in each: a range is 4 % wide
ODD_SHARE, ODD = 0.005, 3  # records that lie farthest off are not learned: the share, or so many if more
GROUPS = 40
EXACT = 1e-9  # of the target's spread: what is no farther off is off by storage alone
_EDGES = 10.0 ** np.linspace(*DECADES, int((DECADES[1] - DECADES[0]) * FINE) + 1)


@dataclass(frozen=True, slots=True)
class TrimmedFit:
    """A regression on the nine tenths of the records nearest to it.

    Parameters
    ----------
    beta : array (features,)
        Coefficients, intercept first.
    width : float
        How far nine tenths of the records are off it, at most, in standard deviations of the target.
    spread : float
        Standard deviation of the target.
    counts, sums : array (ranges,)
        Records, and sums of residuals, in ranges of residuals from low to high.
    records : array (ranges,)
        The number of these records, where ``counts`` are what they weigh; else the same.
    gram : array (features, features)
        X'X of the nearest records.
    """

    beta: FloatArray
    width: float
    spread: float
    counts: FloatArray
    sums: FloatArray
    records: FloatArray
    gram: FloatArray


def ask_trimmed(of: Callable[[FloatArray], FloatArray]) -> Generator[RowSum, Answer, TrimmedFit]:
    """Ask for sums, six times refitted on the nearest nine tenths of the records.

    Parameters
    ----------
    of : callable y -> z
        The scale of the regression.

    Notes
    -----
    Privacy: the curator answers sums over rows; no row is seen here. Least trimmed squares by concentration
    steps (Rousseeuw and Van Driessen 2006, Data Mining and Knowledge Discovery 12, 29), from the fit to all
    rows; the nine tenths are told by counts of residuals in ranges 4 % wide.
    """
    n, total, square = (float(each) for each in (yield RowSum(_spread_terms(of))).value)
    centre = total / n
    spread = float(np.sqrt(max(square / n - centre**2, 0.0))) or 1.0
    gram, cross = (yield RowSum(_near_terms(of, centre, spread, None))).value
    beta = _solved(gram, cross)
    for _ in range(ROUNDS):
        counts = (yield RowSum(_residual_terms(of, centre, spread, beta))).value[0]
        width = _width(counts)
        near = (beta, width)
        gram, cross = (yield RowSum(_near_terms(of, centre, spread, near))).value
        beta = _solved(gram, cross)
    counts, sums, records = (yield RowSum(_residual_terms(of, centre, spread, beta))).value
    moved = np.concatenate([[centre + spread * beta[0]], spread * beta[1:]])
    return TrimmedFit(moved, _width(counts), spread, counts, spread * sums, records, gram)


def residual_table(fit: TrimmedFit, *, fewest: int = FEWEST) -> tuple[FloatArray, FloatArray]:
    """Put residuals into some forty groups of five or more records: shares that sum to one, and means.

    ``fewest`` rows are five records.

    Notes
    -----
    Privacy: arithmetic on sums over rows. The records that lie farthest off, half a per cent or three if
    that is more, are not learned where they lie ten times as far as nine tenths of all.

    Examples
    --------
    >>> counts = np.array([4.0, 4.0, 80.0, 8.0, 4.0])
    >>> shares, means = _grouped(counts, np.array([-8.0, -4.0, 0.0, 8.0, 8.0]), counts)
    >>> shares.tolist(), means.round(2).tolist()
    ([0.08, 0.8, 0.12], [-1.5, 0.0, 1.33])
    """
    return _grouped(*_without_odd(fit), fewest)


def _grouped(
    counts: FloatArray, sums: FloatArray, records: FloatArray, fewest: int = FEWEST
) -> tuple[FloatArray, FloatArray]:
    """Join ranges from low to high until each group has records enough; many of one range stay alone."""
    enough = max(fewest, records.sum() / GROUPS)
    groups: list[list[float]] = [[0.0, 0.0, 0.0]]
    for own in zip(counts, sums, records, strict=True):
        if groups[-1][2] >= (fewest if own[2] >= enough else enough):
            groups.append([0.0, 0.0, 0.0])
        groups[-1] = [a + b for a, b in zip(groups[-1], own, strict=True)]
    if groups[-1][2] < fewest and len(groups) > 1:
        last = groups.pop()
        groups[-1] = [a + b for a, b in zip(groups[-1], last, strict=True)]
    mass, total, _ = np.array(groups).T
    return mass / mass.sum(), total / np.where(mass > 0, mass, 1.0)


def _without_odd(fit: TrimmedFit) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Leave out the few records that lie far off."""
    size = _sizes()
    most = max(ODD, ODD_SHARE * float(fit.records.sum()))
    order = np.argsort(-size, kind="stable")
    out = np.zeros(len(size), dtype=np.bool_)
    out[order] = np.cumsum(fit.records[order]) <= most
    out &= size > 10 * fit.width
    counts, sums, records = (np.where(out, 0.0, each) for each in (fit.counts, fit.sums, fit.records))
    return counts, sums, records


def _sizes() -> FloatArray:
    """Give the lower end of each range of residuals, in standard deviations of the target, without sign."""
    return np.concatenate([_EDGES[::-1], [0.0], _EDGES])


def _ranges(off: FloatArray) -> IntArray:
    """Tell the range of each residual, from low to high."""
    size = np.searchsorted(_EDGES, np.abs(off), side="right")
    return np.asarray(len(_EDGES) + np.sign(off) * size, dtype=np.int64)


def _width(counts: FloatArray) -> float:
    """Upper end of the range within which nine tenths of the records lie."""
    both = counts[len(_EDGES) :].copy()
    both[1:] += counts[: len(_EDGES)][::-1]
    at = int(np.searchsorted(both.cumsum(), KEPT * both.sum(), side="left"))
    return float(_EDGES[min(at, len(_EDGES) - 1)])


def _solved(gram: FloatArray, cross: FloatArray) -> FloatArray:
    """Solve the normal equations of features that are no combination of earlier ones."""
    free = independent_features(gram)
    beta = np.zeros(len(cross))
    scale = np.sqrt(gram[free, free])
    inside = gram[np.ix_(free, free)] / np.outer(scale, scale)
    beta[free] = np.linalg.lstsq(inside, cross[free] / scale, rcond=1e-14)[0] / scale
    return beta


def _spread_terms(of: Callable[[FloatArray], FloatArray]) -> RowTerms:
    """Count rows, and add the target and its square."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        z = of(y)
        return counted(np.ones(len(z), dtype=np.bool_), w), weighted(z, w).sum(), weighted(z**2, w).sum()

    return block


def _near_terms(
    of: Callable[[FloatArray], FloatArray],
    centre: float,
    spread: float,
    near: tuple[FloatArray, float] | None,
) -> RowTerms:
    """Add cross-products of the rows within a width of a fit; of all without one."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        z = (of(y) - centre) / spread
        if near is not None:
            beta, width = near
            kept = np.abs(z - X @ beta) <= width
            X, z = X[kept], z[kept]
            w = None if w is None else w[kept]
        return weighted(X, w).T @ X, weighted(X, w).T @ z

    return block


def _residual_terms(
    of: Callable[[FloatArray], FloatArray], centre: float, spread: float, beta: FloatArray
) -> RowTerms:
    """Count residuals in ranges, and add them there; what storage alone moves is none."""
    size = 2 * len(_EDGES) + 1

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        off = (of(y) - centre) / spread - X @ beta
        at = _ranges(np.where(np.abs(off) < EXACT, 0.0, off))
        counts = np.bincount(at, w, size).astype(np.float64)
        records = counts if w is None else np.bincount(at[w > 0], minlength=size).astype(np.float64)
        return counts, np.bincount(at, weighted(off, w), size).astype(np.float64), records

    return counts_records(block, 2)
