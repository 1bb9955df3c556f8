"""Poisson and negative binomial regression on sums over rows."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import Answer, MomentSums, RowSum, Sums
from pysynthdp.models.fits.evidence import shrunken_mode
from pysynthdp.models.fits.glm import Coefficients, canonical_fit, poisson_terms, weighted_gram
from pysynthdp.models.fits.newton import Block, Minimum, Problem, minimise, posterior_root
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.weighting import weighted

__all__ = [
    "NegativeBinomial",
    "count_mean",
    "count_total",
    "fit_negative_binomial",
    "fit_poisson",
    "refuse_noncounts",
]

LARGEST_LOG = 36.0
NO_EVENT = -700.0
LARGEST_SIZE = 1e7


@dataclass(frozen=True, slots=True)
class NegativeBinomial:
    """Coefficients, dispersion alpha, and a root (features, any) of the coefficients' covariance."""

    beta: FloatArray
    alpha: float
    root: FloatArray


def refuse_noncounts(signs: Sums, column: str, method: str) -> None:
    """Raise FitError unless every value is 0, 1, 2, ...

    Parameters
    ----------
    signs : tuple
        The answer to ``count_signs``.
    column : str
        For the message.
    method : str
        For the message.

    Examples
    --------
    >>> refuse_noncounts((np.asarray(0), np.asarray(3), np.asarray(0)), "visits", "poisson")
    """
    if signs[0] > 0 or signs[2] > 0:
        what = "negative" if signs[0] > 0 else "non-integer"
        raise FitError(
            f"{column} has {what} values, and '{method}' needs counts",
            column=column,
            kind="fit",
            remedy="use 'norm' or 'normrank'",
        )


def count_mean(eta: FloatArray) -> FloatArray:
    """exp(eta), held below 2^53 so that every count drawn is an exact float.

    Examples
    --------
    >>> count_mean(np.array([0.0, 1000.0])).tolist()[0]
    1.0
    """
    return np.asarray(np.exp(np.minimum(eta, LARGEST_LOG)))


def count_total(fit: Coefficients) -> Generator[RowSum, Answer, float]:
    """Ask for the total that a fit expects over the rows.

    Notes
    -----
    Privacy: asks for a sum over rows; sees no row.
    """
    answer = yield RowSum(_mean_terms(fit.beta))
    return float(answer.value[0])


def _mean_terms(beta: FloatArray) -> Block:
    """Sum of the means over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        return (np.asarray(weighted(count_mean(X @ beta), w).sum()),)

    return block


def fit_poisson(sums: MomentSums, dummies: BoolArray) -> Generator[RowSum, Answer, Coefficients]:
    """Maximum likelihood, or the mode under a prior on slopes where events are sparse.

    Parameters
    ----------
    sums : MomentSums
        Cross-products of features and counts.
    dummies : array of bool (features,)
        Which features are 0/1.

    Returns
    -------
    Coefficients

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """
    size, events = sums.cross.size, float(sums.cross[0])
    if events <= 0:
        beta = np.zeros(size)
        beta[0] = NO_EVENT
        return Coefficients(beta, np.zeros((size, 0)), (), shrunk=False)
    sparse = _few_events(sums, dummies)
    start = float(np.log(events / sums.n))
    return (
        yield from canonical_fit(
            poisson_terms, sums.gram, sums.cross, intercept=start, sparse=sparse, events=events
        )
    )


def fit_negative_binomial(
    sums: MomentSums, poisson: Coefficients
) -> Generator[RowSum, Answer, NegativeBinomial]:
    """Joint maximum likelihood from a Poisson fit; alpha = 0 where there is no overdispersion.

    Parameters
    ----------
    sums : MomentSums
        Cross-products of features and counts.
    poisson : Coefficients
        The Poisson fit of the same counts.

    Returns
    -------
    NegativeBinomial

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    The score of alpha at 0 is sum((y - mu)^2 - y) / 2: where it is not positive the likelihood falls from
    alpha = 0 on (Dean and Lawless 1989, JASA 84, 467). The expected information of coefficients and alpha is
    block diagonal (Lawless 1987), so the covariance of the coefficients is that at the alpha found.
    """
    size = sums.cross.size
    limit = NegativeBinomial(poisson.beta, 0.0, poisson.root)
    if sums.cross[0] <= 0:
        return limit
    answer = yield RowSum(_dispersion_terms(poisson.beta))
    excess, scale = (float(part) for part in answer.value)
    if excess <= 1e-9 * scale:
        return limit
    free = np.append(independent_features(sums.gram), size)
    none = np.zeros(size + 1)
    problem = Problem(_negative_binomial_terms, none, none, free, int(sums.n))
    if poisson.shrunk:
        found = yield from _shrunken(problem, sums)
    else:
        found = yield from minimise(problem, np.append(poisson.beta, np.log(scale / excess)))
    log_size = float(found.theta[-1])
    if not np.isfinite(log_size) or log_size > np.log(LARGEST_SIZE):
        return limit
    root = posterior_root(found.hessian[:-1, :-1], free[:-1], size)
    return NegativeBinomial(found.theta[:-1], float(np.exp(-log_size)), root)


def _shrunken(problem: Problem, sums: MomentSums) -> Generator[RowSum, Answer, Minimum]:
    """Find the mode under a prior chosen at zero slopes: later, slopes and dispersion vie for the rows."""
    start = np.zeros(problem.linear.size)
    start[0] = np.log(sums.cross[0] / sums.n)
    answer = yield RowSum(_dispersion_terms(start[:-1]))
    excess, scale = (float(part) for part in answer.value)
    start[-1] = np.log(scale / max(excess, 1e-3 * scale))
    places = np.arange(start.size)
    slopes = (places > 0) & (places < start.size - 1)
    return (yield from shrunken_mode(problem, start, slopes, events=float(sums.cross[0]), changes=0))


def _few_events(sums: MomentSums, dummies: BoolArray) -> bool:
    """Whether a dummy (or its complement) has no event, or events are fewer than two per coefficient."""
    events = sums.cross[0]
    if events < 2 * independent_features(sums.gram).size:
        return True
    rows = sums.gram[0, dummies]
    inside = sums.cross[dummies]
    alone = (inside < 0.5) | (events - inside < 0.5)
    return bool(np.any(alone & (rows > 0.5) & (rows < sums.n - 0.5)))


def _dispersion_terms(beta: FloatArray) -> Block:
    """Sum of (y - mu)^2 - y, and of mu^2, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        mean = count_mean(X @ beta)
        return (
            np.asarray(np.sum(weighted((y - mean) ** 2 - y, w))),
            np.asarray(np.sum(weighted(mean**2, w))),
        )

    return block


def _negative_binomial_terms(theta: FloatArray, curvature: bool) -> Block:
    """Minus the log likelihood in beta and log r, r = 1 / alpha, with derivatives, over a block."""
    beta, r = theta[:-1], float(np.exp(np.clip(theta[-1], -30.0, 30.0)))

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        eta = X @ beta
        mean = count_mean(eta)
        total = r + mean
        log_ratio = -np.log1p(mean / r)
        # the log of a mean that has underflowed is still eta
        log_share = np.minimum(eta, LARGEST_LOG) - np.log(total)
        terms = gammaln(y + r) - gammaln(r) - gammaln(y + 1) + r * log_ratio + y * log_share
        value = -np.sum(weighted(terms, w))
        slope = digamma(y + r) - digamma(r) + log_ratio + (mean - y) / total
        slopes = weighted(slope, w).sum()
        gradient = np.append(-X.T @ weighted(r * (y - mean) / total, w), -r * slopes)
        if not curvature:
            return (np.asarray(value), gradient)
        bend = polygamma(1, y + r) - polygamma(1, r) + 1 / r - 2 / total + (r + y) / total**2
        hessian = np.zeros((theta.size, theta.size))
        hessian[:-1, :-1] = weighted_gram(X, weighted(mean * r * (y + r) / total**2, w))
        hessian[-1, :-1] = hessian[:-1, -1] = -X.T @ weighted(r * mean * (y - mean) / total**2, w)
        # far from the mode the curvature in log r may be negative: the squared slope then stands in for it
        bent = -(r * slopes + r**2 * weighted(bend, w).sum())
        hessian[-1, -1] = bent if bent > 0 else float(np.sum(weighted((r * slope) ** 2, w)))
        return (np.asarray(value), gradient, hessian)

    return block
