"""Score tests of features that a fit does not have: what each would add, all products of two at once.

For residuals R (rows x scores) of a fit with features D, the scores of all products of two features are the
matrices D' diag(r) D, one for each column r of R. Candidates that look best are tested exactly: projected off
D and off those taken before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray

__all__ = ["Base", "Scores", "forward", "product_evidence", "single_evidence", "strongest"]

SPREAD = 10.0  # effective records on which a candidate rests: (sum z^2)^2 / sum z^4
TOLD = 1e-4  # share of a candidate's square below which the fit's features tell it
FLAT = 1e-8  # share of the largest below which a direction of residuals is none


@dataclass(frozen=True, slots=True, repr=False)
class Base:
    """Centred features of a fit, and the inverse of their cross-products.

    Parameters
    ----------
    D : array (rows, features)
        Without an intercept; each has mean zero.
    inverse : array (features, features)
        Pseudo-inverse of D'D.
    """

    D: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Base:
        """Centre features; a direction that others tell is left out of the inverse."""
        D = np.asfortranarray(X - X.mean(axis=0))
        values, vectors = np.linalg.eigh(D.T @ D)
        seen = values > FLAT * max(float(values[-1]), 1e-300) if values.size else values > 0
        half = vectors[:, seen] / np.sqrt(values[seen])
        return cls(D, half @ half.T)

    def off(self, Z: FloatArray) -> FloatArray:
        """Project columns off the features and off the intercept."""
        centred = Z - Z.mean(axis=0)
        return np.asarray(centred - self.D @ (self.inverse @ (self.D.T @ centred)))


@dataclass(frozen=True, slots=True, repr=False)
class Scores:
    """Residuals of a target in one or two codings: each is a test of its own.

    Parameters
    ----------
    codings : tuple of array (rows, scores)
        Such as one column a level; or rank and squared rank of a number. Projected off the features.
    """

    codings: tuple[FloatArray, ...]

    def whitened(self) -> tuple[FloatArray, ...]:
        """Orthonormal columns of each coding."""
        return tuple(_orthonormal(R) for R in self.codings)


def _orthonormal(R: FloatArray) -> FloatArray:
    """Orthonormal columns with the span of some."""
    values, vectors = np.linalg.eigh(R.T @ R)
    seen = values > FLAT * max(float(values[-1]), 1e-300)
    return np.asarray(R @ (vectors[:, seen] / np.sqrt(values[seen])))


def _normal(chi2: FloatArray, df: int) -> FloatArray:
    """Give the normal deviate of a chi-square (Wilson and Hilferty 1931)."""
    spread = 2 / (9 * max(df, 1))
    return np.asarray(((chi2 / max(df, 1)) ** (1 / 3) - (1 - spread)) / np.sqrt(spread))


def product_evidence(D: FloatArray, scores: Scores) -> FloatArray:
    """Deviates of all products of two features, not projected off the others: no larger than the exact ones.

    Parameters
    ----------
    D : array (rows, features)
        Each with mean zero.
    scores : Scores
        Residuals of the target, off these features.

    Returns
    -------
    array (features, features)
        Symmetric; the diagonal is of squares.
    """
    n, size = D.shape
    squares = D * D
    norms = squares.T @ squares - (D.T @ D) ** 2 / n
    norms = np.where(norms > 1e-9 * np.abs(norms).max(initial=0.0), norms, np.inf)
    best = np.full((size, size), -np.inf)
    for S in scores.whitened():
        found = np.zeros((size, size))
        for column in S.T:
            found += (D.T @ (column[:, None] * D)) ** 2
        best = np.maximum(best, _normal(n * found / norms, S.shape[1]))
    return best


def single_evidence(Z: FloatArray, scores: Scores) -> FloatArray:
    """Deviates of single candidates (rows, candidates), not projected off the features."""
    n = len(Z)
    norms = np.einsum("ij,ij->j", Z, Z) - Z.sum(axis=0) ** 2 / n
    norms = np.where(norms > 1e-9 * n, norms, np.inf)
    best = np.full(Z.shape[1], -np.inf)
    for S in scores.whitened():
        best = np.maximum(best, _normal(n * ((S.T @ Z) ** 2).sum(axis=0) / norms, S.shape[1]))
    return best


def forward(base: Base, Z: FloatArray, scores: Scores, *, level: float, most: int) -> list[int]:
    """Take candidates one after the other, the strongest first, each tested exactly beside those before it.

    Parameters
    ----------
    base : Base
        Features of the fit.
    Z : array (rows, candidates)
        Candidates.
    scores : Scores
        Residuals of the target; a candidate is taken by its strongest coding, its tail probability times
        their number.
    level : float
        Tail probability up to which one is taken, by the usual variance and by the robust one.
    most : int
        How many at most.

    Returns
    -------
    list of int
        Places among the candidates, in the order in which they were taken.
    """
    codings = [np.array(R) for R in scores.codings]
    Z = np.asfortranarray(base.off(Z))
    first = np.einsum("ij,ij->j", Z, Z)
    open_ = _rests_on_many(Z) & (first > 0)
    taken: list[int] = []
    while len(taken) < most and open_.any():
        norms = np.einsum("ij,ij->j", Z, Z)
        open_ &= norms > TOLD * first
        tails = np.where(open_, _tails(Z, norms, codings), np.inf)
        best = int(np.argmin(tails))
        if tails[best] > level:
            break
        open_[best] = False
        z = Z[:, best].copy()
        if not _rests_on_many(z[:, None])[0] or _robust_tail(z, codings) > level:
            continue
        taken.append(best)
        codings = [R - np.outer(z, (z @ R) / (z @ z)) for R in codings]
        Z -= np.outer(z, (z @ Z) / (z @ z))
    return taken


def _rests_on_many(Z: FloatArray) -> BoolArray:
    """Whether candidates rest on enough effective records."""
    squares = Z * Z
    fourth = np.einsum("ij,ij->j", squares, squares)
    return np.asarray(squares.sum(axis=0) ** 2 >= SPREAD * fourth)


def _tails(Z: FloatArray, norms: FloatArray, codings: Sequence[FloatArray]) -> FloatArray:
    """Tail probabilities by each candidate's strongest coding, times the number of codings."""
    n = len(Z)
    safe = np.where(norms > 0, norms, np.inf)
    each = []
    for R in codings:
        S = _orthonormal(R)
        each.append(_tail(n * ((S.T @ Z) ** 2).sum(axis=0) / safe, S.shape[1]))
    return np.asarray(len(codings) * np.minimum.reduce(each))


def _tail(chi2: FloatArray, df: int) -> FloatArray:
    """Probability of a larger chi-square."""
    return np.asarray(gammaincc(max(df, 1) / 2, chi2 / 2))


def _robust_tail(z: FloatArray, codings: Sequence[FloatArray]) -> float:
    """Tail probability of one candidate where rows differ in variance (White 1980), over the codings."""
    tails = []
    for R in codings:
        S = _orthonormal(R)
        weighed = z[:, None] * S
        values, vectors = np.linalg.eigh(weighed.T @ weighed)
        seen = values > FLAT * max(float(values[-1]), 1e-300)
        turned = (vectors.T @ weighed.sum(axis=0))[seen]
        tails.append(float(_tail(np.array((turned**2 / values[seen]).sum()), int(seen.sum()))))
    return len(codings) * min(tails)


def strongest(evidence: FloatArray, most: int) -> IntArray:
    """Places of the largest finite entries of a vector."""
    order = np.argsort(-evidence, kind="stable")[:most]
    return np.asarray(order[np.isfinite(evidence[order])])
