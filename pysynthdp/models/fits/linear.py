"""Normal linear regression from cross-products: least squares, or Bayesian ridge where rows are few."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np
from scipy.linalg import solve_triangular

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import Answer, Moments, MomentSums
from pysynthdp.models.fits.rank import centred_products, independent_features
from pysynthdp.models.fits.ridge import marginal_ridge

__all__ = ["LinearFit", "ask_linear", "fit_linear", "redraw_linear"]

CANCELLED = 1e-7
EXACT = 1e-12


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A fitted y = X beta + sigma e, with what its posterior needs.

    Parameters
    ----------
    beta : array (features,)
        Coefficients, intercept first; 0 for an aliased feature.
    sigma : float
        Residual standard deviation, in the target's unit; 0 for an exact fit.
    df : float
        Degrees of freedom of sigma's posterior.
    root : array (features, any)
        root root' times sigma squared is the covariance of beta.
    aliased : tuple of int
        Features that are constant or combinations of earlier ones.
    """

    beta: FloatArray
    sigma: float
    df: float
    root: FloatArray
    aliased: tuple[int, ...]

    def without_posterior(self) -> Self:
        """Leave out what redraws alone need: X'X can be solved for from it, cell by cell."""
        return replace(self, root=self.root[:, :0])


AnyLinear = TypeVar("AnyLinear", bound=LinearFit)


def ask_linear(
    transform: Callable[[FloatArray], FloatArray] | None = None,
) -> Generator[Moments, Answer, LinearFit]:
    """Ask for the moments and fit; ask again about the mean where cancellation would cost digits.

    Parameters
    ----------
    transform : callable y -> z, optional
        Applied to the target first.

    Returns
    -------
    LinearFit

    Notes
    -----
    Privacy: the curator answers sums over rows; no row is seen here.
    z'z - n mean^2 loses log10(mean^2 / variance) digits; beyond seven a second question about z - mean
    gives them back.
    """
    answer = yield Moments(transform)
    sums: MomentSums = answer.value
    mean = sums.cross[0] / sums.n
    if sums.square - sums.n * mean**2 >= CANCELLED * sums.square:
        return fit_linear(sums)
    answer = yield Moments(lambda y: (y if transform is None else transform(y)) - mean)
    fit = fit_linear(answer.value)
    return replace(fit, beta=np.concatenate([[fit.beta[0] + mean], fit.beta[1:]]))


def fit_linear(sums: MomentSums) -> LinearFit:
    """Least squares, or Bayesian ridge where fewer than max(5, n / 10) degrees of freedom remain.

    Parameters
    ----------
    sums : MomentSums
        Cross-products of the features, intercept first, and the target.

    Returns
    -------
    LinearFit

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    beta = (X'X)^-1 X'z; sigma^2 = RSS / (n - rank), the unbiased estimate of any text on regression.

    Examples
    --------
    >>> X = np.column_stack([np.ones(8), np.arange(8.0)])
    >>> z = 1 + 2 * np.arange(8.0)
    >>> fit_linear(MomentSums(8.0, X.T @ X, X.T @ z, float(z @ z))).beta.round(6).tolist()
    [1.0, 2.0]
    """
    kept = independent_features(sums.gram)
    products, cross, total = _about_means(sums)
    left = sums.n - kept.size
    if total == 0.0:
        kept = kept[:1]
    slopes = kept[1:] - 1
    if total > 0.0 and left < max(5.0, 0.1 * sums.n):
        return _shrunken(sums, products, cross, total)
    factor = np.linalg.cholesky(products[np.ix_(slopes, slopes)])
    white = solve_triangular(factor, cross[slopes], lower=True)
    rest = _residual(total - float(white @ white), total)
    root = solve_triangular(factor, np.eye(slopes.size), lower=True).T
    df = max(left, 1.0)
    return _assemble(sums, slopes=slopes, root=root, beta=root @ white, sigma=np.sqrt(rest / df), df=df)


def redraw_linear(fit: AnyLinear, rng: np.random.Generator) -> AnyLinear:
    """Parameters drawn from their posterior under the flat prior.

    Parameters
    ----------
    fit : LinearFit
        The fit.
    rng : Generator
        Source of the draw.

    Returns
    -------
    LinearFit, or the subclass given

    Notes
    -----
    Privacy: post-processing of the fit.
    sigma*^2 = df sigma^2 / chi2_df; beta* | sigma* ~ N(beta, sigma*^2 (X'X)^-1) (Gelman et al., BDA3, 14.2).

    Examples
    --------
    >>> fit = LinearFit(np.zeros(1), 1.0, 5.0, np.eye(1), ())
    >>> redraw_linear(fit, np.random.default_rng(0)).sigma > 0
    True
    """
    sigma = fit.sigma * float(np.sqrt(fit.df / rng.chisquare(fit.df)))
    beta = fit.beta + sigma * (fit.root @ rng.standard_normal(fit.root.shape[1]))
    return replace(fit, beta=beta, sigma=sigma)


def _about_means(sums: MomentSums) -> tuple[FloatArray, FloatArray, float]:
    """Cross-products about the means; the target's sum of squares is 0 where only rounding is left."""
    mean = sums.cross[0] / sums.n
    cross = sums.cross[1:] - sums.gram[0, 1:] * mean
    total = float(sums.square - sums.n * mean**2)
    noise = 64 * np.finfo(float).eps * sums.square
    return centred_products(sums.gram), cross, total if total > noise else 0.0


def _residual(rest: float, total: float) -> float:
    """Residual sum of squares, 0 where the fit is exact to rounding."""
    return rest if rest > EXACT * total else 0.0


def _shrunken(sums: MomentSums, products: FloatArray, cross: FloatArray, total: float) -> LinearFit:
    """Fit the Bayesian ridge on every feature that varies, each scaled to unit variance."""
    spread = products.diagonal()
    slopes = np.flatnonzero(spread > EXACT * sums.gram.diagonal()[1:])
    scale = np.sqrt(spread[slopes] / sums.n)
    scaled = products[np.ix_(slopes, slopes)] / np.outer(scale, scale)
    ridge = marginal_ridge(scaled, cross[slopes] / scale, total, n=sums.n)
    df = max(sums.n - 1.0, 1.0)
    return _assemble(
        sums,
        slopes=slopes,
        root=ridge.root / scale[:, None],
        beta=ridge.beta / scale,
        sigma=np.sqrt(_residual(ridge.quadratic, total) / df),
        df=df,
    )


def _assemble(
    sums: MomentSums, *, slopes: IntArray, root: FloatArray, beta: FloatArray, sigma: float, df: float
) -> LinearFit:
    """Put the intercept back: its estimate is mean(z) - mean(x)'b, independent noise 1 / n beside b's."""
    size = sums.cross.size
    mean = sums.gram[0, 1:][slopes] / sums.n
    full = np.zeros(size)
    full[slopes + 1] = beta
    full[0] = sums.cross[0] / sums.n - mean @ beta
    cover = np.zeros((size, slopes.size + 1))
    cover[0, 0] = 1 / np.sqrt(sums.n)
    cover[0, 1:] = -mean @ root
    cover[slopes + 1, 1:] = root
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(1, size), slopes + 1))
    return LinearFit(full, float(sigma), float(df), cover, aliased)
