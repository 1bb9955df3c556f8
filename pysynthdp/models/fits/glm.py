"""Generalised linear models with canonical link: logistic and Poisson, by Newton on sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, TypeVar

import numpy as np
from scipy.special import expit

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import Answer, RowSum, Sums
from pysynthdp.models.fits.evidence import shrunken_mode
from pysynthdp.models.fits.newton import Block, Minimum, Problem, minimise, posterior_root
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.sparsity import rows_tell, spread_of_predictor
from pysynthdp.models.fits.weighting import weighted

__all__ = [
    "AnyCoefficients",
    "Coefficients",
    "ask_sample_cross",
    "canonical_fit",
    "logistic_terms",
    "poisson_terms",
    "redraw_coefficients",
    "weighted_gram",
]

Terms = Callable[[FloatArray, bool], Block]


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A fitted linear predictor with the root of its posterior covariance.

    Parameters
    ----------
    beta : array (features,)
        Coefficients, intercept first; 0 for an aliased feature.
    root : array (features, free)
        root root' is the covariance: the inverse Hessian at the mode.
    aliased : tuple of int
        Features that are constant or combinations of earlier ones.
    shrunk : bool
        Whether a prior on slopes was needed.
    shift : float
        Subtracted from redrawn intercepts, so that the expected total stays the observed one.
    """

    beta: FloatArray
    root: FloatArray
    aliased: tuple[int, ...]
    shrunk: bool
    shift: float = 0.0

    def without_posterior(self) -> Self:
        """Leave out what redraws alone need: X'X can be solved for from it, cell by cell."""
        return replace(self, root=self.root[:, :0])


AnyCoefficients = TypeVar("AnyCoefficients", bound=Coefficients)


def canonical_fit(
    terms: Terms,
    gram: FloatArray,
    cross: FloatArray,
    *,
    intercept: float,
    sparse: bool,
    events: float,
    level: float | None = None,
) -> Generator[RowSum, Answer, Coefficients]:
    """Maximum likelihood, or the mode under a prior on slopes where that does not exist.

    Parameters
    ----------
    terms : callable (beta, curvature) -> (X, y, w=None) -> sums
        The log-partition of the model, summed over rows.
    gram : array (features, features)
        X'X.
    cross : array (features,)
        X'y, the sufficient statistics.
    intercept : float
        Start: the intercept when all slopes are 0.
    sparse : bool
        Use the prior from the start.
    events : float
        Rows of the rarer level, or counted events.
    level : float, optional
        Code of the level that counts as 1, where y holds codes of levels.

    Returns
    -------
    Coefficients

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    Minimises sum b(x'beta) - beta'X'y (McCullagh and Nelder 1989, ch. 2). Where a product separates rows and
    no single dummy shows it, the search ends far out where curvature is flat, and redraws would go anywhere:
    there too the prior is needed.
    """
    size = cross.size
    start = np.zeros(size)
    start[0] = intercept
    problem = Problem(
        terms=terms,
        linear=cross,
        precision=np.zeros(size),
        free=independent_features(gram),
        n=int(gram[0, 0]),
        scatter=spread_of_predictor(gram),
        of_sample=partial(ask_sample_cross, gram, cross, level),
    )
    if not sparse:
        found = yield from minimise(problem, start)
        fit = _coefficients(found, problem.free, shrunk=False) if found.converged else None
        if fit is not None and rows_tell(np.linalg.norm(fit.root, axis=1), gram):
            return fit
    found = yield from shrunken_mode(problem, start, np.arange(size) > 0, events=events)
    return _coefficients(found, problem.free, shrunk=True)


def ask_sample_cross(
    gram: FloatArray, cross: FloatArray, level: float | None, every: int
) -> Generator[RowSum, Answer, FloatArray]:
    """Ask what X'y a sample is fitted to, times as many as rows.

    Parameters
    ----------
    gram : array (features, features)
        X'X of all rows.
    cross : array (features,)
        X'y of all rows.
    level : float or None
        The level that counts as 1; None where y counts.
    every : int
        Every how many rows.

    Returns
    -------
    array (features,)

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    The mean of y is that of all rows, also where a dummy is 1: none is without events because the sample is
    small. Of numbers the mean over the sample's events is its own: X'y of all rows holds rows far out that
    the sample does not have, and nothing in it would resist what they ask.
    """
    own, total = (yield RowSum(_cross_terms(level), every)).value
    mean = own / own[0] if own[0] > 0 else np.zeros_like(own)
    found = mean * cross[0] * (every * total[0] / gram[0, 0])
    dummy = np.isclose(gram.diagonal(), gram[0], rtol=1e-9) & (gram[0] > 0)
    found[dummy] = every * total[dummy] * cross[dummy] / gram[0, dummy]
    return np.asarray(found)


def _cross_terms(level: float | None) -> Block:
    """Sum X'y and the features."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        Z = weighted(X, w)
        return ((y if level is None else (y == level).astype(np.float64)) @ Z, Z.sum(axis=0))

    return block


def redraw_coefficients(fit: AnyCoefficients, rng: np.random.Generator) -> AnyCoefficients:
    """Coefficients drawn from the normal approximation to their posterior at the mode.

    Notes
    -----
    Privacy: post-processing of the fit.
    beta* ~ N(beta, H^-1) (Gelman et al., BDA3, ch. 4), its intercept less ``shift``.

    Examples
    --------
    >>> fit = Coefficients(np.zeros(1), np.zeros((1, 1)), (), shrunk=False)
    >>> redraw_coefficients(fit, np.random.default_rng(0)).beta.tolist()
    [0.0]
    """
    beta = fit.beta + fit.root @ rng.standard_normal(fit.root.shape[1])
    beta[0] -= fit.shift
    return replace(fit, beta=beta)


def logistic_terms(beta: FloatArray, curvature: bool) -> Block:
    """Log-partition log(1 + e^eta) of the logistic model, its gradient and Hessian, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001  # the target is in the cross-products
        eta = X @ beta
        mean = expit(eta)
        value = np.sum(weighted(np.maximum(eta, 0.0), w)) + np.sum(
            weighted(np.log1p(np.exp(-np.abs(eta))), w)
        )
        if not curvature:
            return (np.asarray(value), X.T @ weighted(mean, w))
        return (np.asarray(value), X.T @ weighted(mean, w), weighted_gram(X, weighted(mean * (1 - mean), w)))

    return block


def poisson_terms(beta: FloatArray, curvature: bool) -> Block:
    """Log-partition e^eta of the Poisson model, its gradient and Hessian, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001  # the target is in the cross-products
        mean = np.exp(np.minimum(X @ beta, 100.0))
        value = np.asarray(weighted(mean, w).sum())
        if not curvature:
            return (value, X.T @ weighted(mean, w))
        return (value, X.T @ weighted(mean, w), weighted_gram(X, weighted(mean, w)))

    return block


def weighted_gram(X: FloatArray, weight: FloatArray) -> FloatArray:
    """X'WX for non-negative weights, as one symmetric product.

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0]]), np.array([4.0])).tolist()
    [[4.0, 8.0], [8.0, 16.0]]
    """
    scaled = X * np.sqrt(weight)[:, None]
    return scaled.T @ scaled


def _coefficients(found: Minimum, free: IntArray, *, shrunk: bool) -> Coefficients:
    """Give the minimum as coefficients of all features."""
    size = found.theta.size
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(size), free))
    return Coefficients(found.theta, posterior_root(found.hessian, free, size), aliased, shrunk)
