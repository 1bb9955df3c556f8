"""Redrawn coefficients spread their index wider; the latent law that a margin was bent by must not widen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.fits.linear import LinearFit

__all__ = ["LatentFit", "index_moments", "redraw_latent"]


@dataclass(frozen=True, slots=True)
class LatentFit(LinearFit):
    """A regression of a latent number.

    Parameters
    ----------
    index : array (2,)
        Mean and variance of x'beta over the rows.
    moved : array (3, any)
        How a step along each column of ``root`` moves them; see :func:`index_moments`.
    """

    index: FloatArray
    moved: FloatArray

    def without_posterior(self) -> Self:
        """Leave out what redraws alone need: X'X can be solved for from it, cell by cell."""
        return replace(self, root=self.root[:, :0], moved=self.moved[:, :0])


AnyLatent = TypeVar("AnyLatent", bound=LatentFit)


def index_moments(gram: FloatArray, beta: FloatArray, root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of x'beta over the rows, and how a step along each column of a root moves them.

    Parameters
    ----------
    gram : array (features, features)
        X'X over the rows, intercept first.
    beta : array (features,)
        Coefficients.
    root : array (features, rank)
        root root' is the covariance of the coefficients, up to a factor.

    Returns
    -------
    array (2,), array (3, rank)
        Mean and variance; and for x'(beta + root z): the slope of the mean in z, half the slope of the
        variance, and the variance of each x'root.

    Notes
    -----
    Privacy: arithmetic on sums over all rows. In a least-squares fit the columns of X root are uncorrelated
    and of one length, so that the result follows from beta and root and tells nothing beside them.

    Examples
    --------
    >>> X = np.column_stack([np.ones(3), [-1.0, 0.0, 1.0]])
    >>> index_moments(X.T @ X, np.array([2.0, 3.0]), np.eye(2))[0].round(6).tolist()
    [2.0, 6.0]
    """
    mean = gram[0] / gram[0, 0]
    centred = gram / gram[0, 0] - np.outer(mean, mean)
    across = centred @ root
    moved = np.stack([mean @ root, beta @ across, np.einsum("jr,jr->r", root, across)])
    return np.array([mean @ beta, max(float(beta @ centred @ beta), 0.0)]), moved


def redraw_latent(fit: AnyLatent, rng: np.random.Generator) -> AnyLatent:
    """Draw the parameters of a latent regression; the spread of the latent draws stays that of the fit.

    Parameters
    ----------
    fit : LatentFit
        The regression.
    rng : Generator
        Source of the draw.

    Notes
    -----
    Privacy: post-processing of the fit.
    sigma* and beta* as in :func:`pysynthdp.models.fits.linear.redraw_linear`. x'beta* varies more over the
    rows than x'beta does, by about p / n of the residual variance, and the table F that leads from latent
    draws to ranks is that of the fit: both tails would be drawn too often. So the latent draws are shrunk
    about their mean to the variance that F has; what share of it the features explain, and where the mean
    lies, is as drawn.

    Examples
    --------
    >>> index, moved = index_moments(np.ones((1, 1)), np.ones(1), np.eye(1))
    >>> fit = LatentFit(np.ones(1), 1.0, 5.0, np.eye(1), (), index, moved)
    >>> round(redraw_latent(fit, np.random.default_rng(0)).sigma, 12)  # nothing but the residual: as wide
    1.0
    """
    sigma = fit.sigma * float(np.sqrt(fit.df / rng.chisquare(fit.df)))
    z = sigma * rng.standard_normal(fit.root.shape[1])
    beta = fit.beta + fit.root @ z
    mean = fit.index[0] + fit.moved[0] @ z
    spread = max(float(fit.index[1] + 2 * fit.moved[1] @ z + fit.moved[2] @ z**2), 0.0)
    shrink = float(np.sqrt((fit.index[1] + fit.sigma**2) / (spread + sigma**2)))
    beta = shrink * beta
    beta[0] += (1 - shrink) * mean
    return replace(fit, beta=beta, sigma=shrink * sigma)
