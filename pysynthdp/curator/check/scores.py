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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.curator.check.features import CheckedFeatures
from pysynthdp.curator.check.sums import CheckSums

__all__ = ["Scores", "residual_columns", "scored"]

ALPHA = 0.05
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
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = whole + piece
    kept = independent(real, len(features.plain))
    masks = _masks(features, real, kept)
    found = _families(real, whole, kept, masks)
    chance: dict[str, float] = dict.fromkeys(found, 0.0)
    for piece in pieces:  # one after the other: of a wide table each is large
        for what, values in _families(piece, whole - piece, kept, masks).items():
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
    left: CheckSums, right: CheckSums, kept: IntArray, masks: dict[str, BoolArray]
) -> dict[str, FloatArray]:
    """Compute all scores of one comparison."""
    p = len(masks["partial"])
    found = {
        "mean": _means(left, right),
        "given": _given(left, right, kept, p),
        "slope": _slopes(left, right),
        "partial": _partials(left, right, kept, p),
    }
    if left.crossed.size:
        found["product"] = _products(left, right)
    return {
        what: np.where(masks[what], np.nan_to_num(values, posinf=0, neginf=0), 0.0)
        for what, values in found.items()
    }


def _masks(features: CheckedFeatures, real: CheckSums, at: IntArray) -> dict[str, BoolArray]:
    """Say which comparisons rest on ten expected records at least."""
    p = len(features.plain)
    variance = real.covariance.diagonal()
    share = np.where(features.dummy, np.maximum(0.5 - np.sqrt(np.maximum(0.25 - variance, 0.0)), 0.0), 0.5)
    share = np.where(variance > _CONSTANT, share, 0.0)
    n, apart = real.n, features.owner[:, None] != features.owner[None, :]
    pairs = apart & (n * np.outer(share, share) >= FEWEST_EXPECTED)
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


def _means(left: CheckSums, right: CheckSums) -> FloatArray:
    """Score differences of means."""
    d = right.first / right.n - left.first / left.n
    variance = left.covariance.diagonal() / left.n + right.covariance.diagonal() / right.n
    return np.asarray(d / np.sqrt(np.maximum(variance, 1e-300)))


def _given(left: CheckSums, right: CheckSums, kept: IntArray, p: int) -> FloatArray:
    """Score differences of the means of what the slopes of ``left`` on all others leave of each feature."""
    out = np.zeros(p)
    cov = left.covariance[np.ix_(kept, kept)]
    inverse = np.linalg.inv(cov + np.diag(1e-9 * np.maximum(cov.diagonal(), 1e-9)))
    R = inverse / inverse.diagonal()
    d = (right.first / right.n - left.first / left.n)[kept] @ R
    there = np.einsum("ij,ij->j", R, right.covariance[np.ix_(kept, kept)] @ R)
    variance = 1.0 / inverse.diagonal() / left.n + np.maximum(there, 0.0) / right.n
    out[kept] = d / np.sqrt(np.maximum(variance, 1e-300))
    return out


def _slopes(left: CheckSums, right: CheckSums) -> FloatArray:
    """Score, for every a (rows) on b (columns), what the slope of ``left`` leaves in ``right``."""
    here, there = left.covariance, right.covariance
    spread = here.diagonal()
    slope = np.where(spread > _CONSTANT, here, 0.0) / np.maximum(spread, _CONSTANT)
    d = there - slope * there.diagonal()
    least = _EXACT * np.outer(here.diagonal(), here.diagonal())

    def variance(of: CheckSums) -> FloatArray:
        cubes = of.cubes.T / of.n  # a b^3 at (a, b)
        fourth = of.squares.diagonal() / of.n
        return np.maximum(of.squares / of.n - 2 * slope * cubes + slope**2 * fourth, least) / of.n

    return np.asarray(d / np.sqrt(np.maximum(variance(left) + variance(right), 1e-300)))


def independent(real: CheckSums, p: int) -> IntArray:
    """Plain features of which others leave a tenth of the variance at least, the last one left out first."""
    spread = real.covariance.diagonal()[:p]
    kept = np.flatnonzero(spread > _CONSTANT) if p <= MOST_TOGETHER else np.zeros(0, dtype=np.int64)
    kept = kept[_pivots(real.covariance[np.ix_(kept, kept)])]
    while kept.size > 1:
        cov = real.covariance[np.ix_(kept, kept)]
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
    inverse = np.linalg.inv(real.covariance[np.ix_(kept, kept)])
    columns = np.zeros((p, p))
    columns[np.ix_(kept, kept)] = inverse / inverse.diagonal()
    return columns


def _partials(left: CheckSums, right: CheckSums, kept: IntArray, p: int) -> FloatArray:
    """Score differences of the slopes of each plain feature on all others together."""
    out = np.zeros((p, p))
    betas, errors = zip(*(_regressions(of, kept) for of in (left, right)), strict=True)
    variance = errors[0] + errors[1]
    known = variance > 0  # rounding alone is left of features that hardly vary
    apart = np.divide(betas[1] - betas[0], np.sqrt(np.where(known, variance, 1.0)))
    out[np.ix_(kept, kept)] = np.where(known, apart, 0.0)
    return out


def _regressions(of: CheckSums, kept: IntArray) -> tuple[FloatArray, FloatArray]:
    """Slopes of each feature (rows) on all others (columns), and squared standard errors."""
    cov = of.covariance[np.ix_(kept, kept)]
    cov = cov + np.diag(1e-9 * np.maximum(cov.diagonal(), 1e-9))
    inverse = np.linalg.inv(cov)
    own = inverse.diagonal()
    beta = -inverse / own[:, None]
    error = np.maximum(own[None, :] - inverse**2 / own[:, None], 0.0) / own[:, None] / of.n
    return beta, error + 1e-300


def _products(left: CheckSums, right: CheckSums) -> FloatArray:
    """Score differences of the means of r b c."""
    d = right.crossed / right.n - left.crossed / left.n
    variance = left.crossed_squares / left.n**2 + right.crossed_squares / right.n**2
    return np.asarray(d / np.sqrt(np.maximum(variance, 1e-300)))
