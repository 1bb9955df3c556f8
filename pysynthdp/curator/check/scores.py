"""From sums over real rows and stand-ins to scores: how far apart, and what is beyond chance.

Five families of comparisons, each with a fifth of the 5 % with which a table that fits is warned about:
means, means of what all others together leave of a feature (which show a shift that the feature's own spread
hides), slopes of one feature on another, slopes on all others together, and triple products (curves, and
effects that depend on a third column). A score is a difference over its standard error from the sampling of
both sides; that of real rows counts in full, although fitting took part of it away, so that scores err on the
quiet side. A family's limit is Bonferroni's, times what pieces of the stand-ins, each taken for the real
table and compared with the others, exceed the expectation under normality by at most: heavy tails and rare
levels raise it by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.curator.check.features import CheckedFeatures
from pysynthdp.curator.check.sums import CheckSums, Compared, PiecedSums, covariances

__all__ = ["Scores", "residual_columns", "scored"]

ALPHA = 0.05
BAND = 256  # features whose pairs with all others are compared at a time: bounds the memory of a wide table
FEWEST_EXPECTED = 10.0
MOST_TOGETHER = 400  # plain features, above which slopes on all others together are not compared
ROWS_A_FEATURE = 10  # below, slopes on all others together are not compared
_COLLINEAR = 10.0  # times its own variance, beyond which a slope's says more of rounding than of the column
_CONSTANT = 1e-12  # a variance, of features in units of their spread, that is none
_EXACT = 1e-7  # of the product of variances: below, a relation is without exception up to arithmetic
_MEAN_OF_LARGEST = 0.5615  # exp(-Euler's constant): m times the tail at the expected largest of m


@dataclass(frozen=True, slots=True, repr=False)
class Scores:
    """Scores of one family.

    Parameters
    ----------
    what : str
        The family: ``"mean"``, ``"given"``, ``"slope"``, ``"partial"``, ``"product"``.
    values : array
        Scores, by features; zero where there is nothing to compare.
    limit : float
        Beyond which chance is no explanation.
    tests : int
        Comparisons in it.
    """

    what: str
    values: FloatArray
    limit: float
    tests: int


def scored(features: CheckedFeatures, real: CheckSums, pieces: Sequence[CheckSums]) -> list[Scores]:
    """Compare real rows with all stand-ins, and find limits by comparing pieces with the others.

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    """
    kept = independent(real, len(features.plain))
    masks = _masks(features, real, kept)
    found = {what: _whole(own, masks[what]) for what, own in _families(real, PiecedSums(pieces), kept, masks)}
    chance: dict[str, float] = dict.fromkeys(found, 0.0)
    for piece in pieces:
        for what, own in _families(piece, PiecedSums(pieces, piece), kept, masks):
            for values in own:
                chance[what] = max(chance[what], float(np.abs(values).max(initial=0.0)))
    result = []
    for what, values in found.items():
        compared = int(masks[what].sum())
        tests = max(compared, 1)
        largest = chance[what]
        expected = -ndtri(min(_MEAN_OF_LARGEST / tests, 1.0) / 2)
        plain = -ndtri(ALPHA / len(found) / tests / 2)
        limit = float(plain * max(1.0, largest / max(expected, 1.0)))
        result.append(Scores(what, values, limit, compared))
    return result


def _families(
    left: CheckSums, right: Compared, kept: IntArray, masks: dict[str, BoolArray]
) -> Iterator[tuple[str, Iterator[FloatArray]]]:
    """Compute all scores of one comparison, family by family, some rows at a time."""
    p = len(masks["partial"])
    yield "mean", iter([_masked(_means(left, right), masks["mean"])])
    yield "given", iter([_masked(_given(left, right, kept, p), masks["given"])])
    yield "slope", _slopes(left, right, masks["slope"])
    if masks["partial"].any():
        yield "partial", iter([_masked(_partials(left, right, kept, p), masks["partial"])])
    else:
        yield "partial", iter(())
    if left.crossed.size:
        yield "product", iter([_masked(_products(left, right), masks["product"])])


def _masked(values: FloatArray, mask: BoolArray) -> FloatArray:
    """Leave zero where nothing is compared."""
    return np.where(mask, np.nan_to_num(values, posinf=0, neginf=0), 0.0)


def _whole(bands: Iterator[FloatArray], mask: BoolArray) -> FloatArray:
    """Put the rows of a family together; one without comparisons takes no room."""
    out = np.zeros(mask.shape) if mask.any() else np.broadcast_to(0.0, mask.shape)
    start = 0
    for band in bands if mask.any() else ():
        out[start : start + len(band)] = band
        start += len(band)
    return out


def _masks(features: CheckedFeatures, real: CheckSums, at: IntArray) -> dict[str, BoolArray]:
    """Say which comparisons rest on ten expected records at least."""
    p = len(features.plain)
    variance = real.variances
    share = np.where(features.dummy, np.maximum(0.5 - np.sqrt(np.maximum(0.25 - variance, 0.0)), 0.0), 0.5)
    share = np.where(variance > _CONSTANT, share, 0.0)
    n, apart = real.n, features.owner[:, None] != features.owner[None, :]
    pairs = apart
    for start in range(0, len(share), BAND):
        rows = slice(start, start + BAND)
        pairs[rows] &= n * np.outer(share[rows], share) >= FEWEST_EXPECTED
    some = share[:p]
    masks = {"mean": n * share >= FEWEST_EXPECTED, "slope": pairs}
    kept = np.zeros(p, dtype=np.bool_)
    kept[at] = True
    masks["partial"] = pairs[:p, :p] & kept[:, None] & kept[None, :] & (n >= ROWS_A_FEATURE * at.size)
    masks["given"] = kept & masks["mean"][:p] & (n >= ROWS_A_FEATURE * at.size)
    if real.crossed.size:
        triple = n * some[:, None, None] * some[None, :, None] * some[None, None, :] >= FEWEST_EXPECTED
        own, number = features.owner[:p], ~features.dummy[:p]
        same = own[:, None] == own[None, :]
        allowed = ~same | np.diag(number)
        upper = np.triu(np.ones((p, p), dtype=np.bool_))
        masks["product"] = (
            triple & (allowed & upper)[None] & ~same[:, :, None] & ~same[:, None, :] & kept[:, None, None]
        )
    return masks


def _means(left: CheckSums, right: Compared) -> FloatArray:
    """Score differences of means."""
    d = right.first / right.n - left.first / left.n
    variance = left.variances / left.n + right.variances / right.n
    return np.asarray(d / np.sqrt(np.maximum(variance, 1e-300)))


def _given(left: CheckSums, right: Compared, kept: IntArray, p: int) -> FloatArray:
    """Score differences of the means of what the slopes of ``left`` on all others leave of each feature."""
    out = np.zeros(p)
    cov = covariances(left, kept, kept)
    inverse = np.linalg.inv(cov + np.diag(1e-9 * np.maximum(cov.diagonal(), 1e-9)))
    R = inverse / inverse.diagonal()
    d = (right.first / right.n - left.first / left.n)[kept] @ R
    there = np.einsum("ij,ij->j", R, covariances(right, kept, kept) @ R)
    variance = 1.0 / inverse.diagonal() / left.n + np.maximum(there, 0.0) / right.n
    out[kept] = d / np.sqrt(np.maximum(variance, 1e-300))
    return out


def _slopes(left: CheckSums, right: Compared, mask: BoolArray) -> Iterator[FloatArray]:
    """Score, for every a (rows) on b (columns), what the slope of ``left`` leaves in ``right``."""
    spread, other = left.variances, right.variances
    at = np.arange(len(spread))
    fourths = [of.taken("squares", (at, at)) / of.n for of in (left, right)]
    every = slice(None)
    for start in range(0, len(spread), BAND):
        rows = slice(start, start + BAND)
        here, there = covariances(left, rows, every), covariances(right, rows, every)
        slope = np.where(spread > _CONSTANT, here, 0.0) / np.maximum(spread, _CONSTANT)
        d = there - slope * other
        least = _EXACT * np.outer(spread[rows], spread)
        variance: Any = 0.0
        for of, fourth in zip((left, right), fourths, strict=True):
            cubes = of.taken("cubes", (every, rows)).T / of.n  # a b^3 at (a, b)
            own = of.taken("squares", (rows, every)) / of.n - 2 * slope * cubes + slope**2 * fourth
            variance = variance + np.maximum(own, least) / of.n
        yield _masked(d / np.sqrt(np.maximum(variance, 1e-300)), mask[rows])


def independent(real: CheckSums, p: int) -> IntArray:
    """Plain features of which others leave a tenth of the variance at least, the last one left out first."""
    spread = real.variances[:p]
    kept = np.flatnonzero(spread > _CONSTANT) if p <= MOST_TOGETHER else np.zeros(0, dtype=np.int64)
    kept = kept[_pivots(covariances(real, kept, kept))]
    while kept.size > 1:
        cov = covariances(real, kept, kept)
        scale = np.sqrt(cov.diagonal())
        values, vectors = np.linalg.eigh(cov / np.outer(scale, scale))
        inflation = (vectors**2 / np.maximum(values, 1e-12)).sum(axis=1)
        if inflation.max() <= _COLLINEAR:
            break
        kept = np.delete(kept, np.flatnonzero(inflation > _COLLINEAR)[-1])
    return kept


def _pivots(cov: FloatArray) -> BoolArray:
    """Whether those before it leave a tenth of each one's variance: most are left out here, in one pass."""
    left, kept = cov.copy(), np.zeros(len(cov), dtype=np.bool_)
    for at in range(len(cov)):
        if left[at, at] * _COLLINEAR >= cov[at, at]:
            kept[at] = True
            left -= np.outer(left[at], left[at]) / left[at, at]
    return kept


def residual_columns(real: CheckSums, p: int) -> FloatArray:
    """Columns that take the other plain features out of each: (p, p)."""
    kept = independent(real, p)
    inverse = np.linalg.inv(covariances(real, kept, kept))
    columns = np.zeros((p, p))
    columns[np.ix_(kept, kept)] = inverse / inverse.diagonal()
    return columns


def _partials(left: CheckSums, right: Compared, kept: IntArray, p: int) -> FloatArray:
    """Score differences of the slopes of each plain feature on all others together."""
    out = np.zeros((p, p))
    betas, errors = zip(*(_regressions(of, kept) for of in (left, right)), strict=True)
    variance = errors[0] + errors[1]
    known = variance > 0  # rounding alone is left of features that hardly vary
    apart = np.divide(betas[1] - betas[0], np.sqrt(np.where(known, variance, 1.0)))
    out[np.ix_(kept, kept)] = np.where(known, apart, 0.0)
    return out


def _regressions(of: Compared, kept: IntArray) -> tuple[FloatArray, FloatArray]:
    """Slopes of each feature (rows) on all others (columns), and squared standard errors."""
    cov = covariances(of, kept, kept)
    cov = cov + np.diag(1e-9 * np.maximum(cov.diagonal(), 1e-9))
    inverse = np.linalg.inv(cov)
    own = inverse.diagonal()
    beta = -inverse / own[:, None]
    error = np.maximum(own[None, :] - inverse**2 / own[:, None], 0.0) / own[:, None] / of.n
    return beta, error + 1e-300


def _products(left: CheckSums, right: Compared) -> FloatArray:
    """Score differences of the means of r b c."""
    d = right.crossed / right.n - left.crossed / left.n
    variance = left.crossed_squares / left.n**2 + right.crossed_squares / right.n**2
    return np.asarray(d / np.sqrt(np.maximum(variance, 1e-300)))
