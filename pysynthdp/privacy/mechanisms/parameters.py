"""A released parameter as a priced mechanism: a mean by B2 and B7, shares by F8, G3 and F9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.domain import count, positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.beta_curves import parameter_renyi
from pysynthdp.privacy.prices.categorical import CellWeights, categorical_one_renyi
from pysynthdp.privacy.prices.gaussian_known import mean_release
from pysynthdp.privacy.unit import Relation

__all__ = ["NoisyMean", "NoisyShares", "PosteriorMean", "PosteriorShares"]

_ZHENG = "Zheng, The Differential Privacy of Bayesian Inference"
_CLAMPED = "values are clamped to the public range before any statistic"
_LEVELS = (
    "the list of levels, the prior and the number of records are public",
    "every unlisted or missing cell goes to a declared level",
)
_NOISE = "the noise comes from the operating system's entropy, on whole numbers"


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class PosteriorMean:
    """Draws of the mean from N(mean, sigma^2/n), its posterior under a flat prior (B2).

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range.
    sigma : float
        Public standard deviation.

    Notes
    -----
    Privacy: public constants only; see ``mean_release``. Records made from the draws cost nothing more.
    """

    n: int
    lower: float
    upper: float
    sigma: float
    name: ClassVar[str] = "posterior_mean"
    entry: ClassVar[str] = "B2"
    source: ClassVar[str] = (
        "Neunhoeffer, Latner and Drechsler, On the Formal Privacy Guarantees of Synthetic Data, 4.2, "
        "corrected"
    )
    assumptions: ClassVar[tuple[str, ...]] = (
        _CLAMPED,
        "sigma and the number of records are public",
        "the arithmetic is exact",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> GDP:  # noqa: ARG002  # records made from it cost nothing
        """Give m w^2/(2 n sigma^2), an exact Gaussian shift."""
        return mean_release(self.n, self.lower, self.upper, sigma=self.sigma, copies=copies)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class NoisyMean:
    """A mean, or its posterior mode, with discrete Laplace noise on whole steps (B7).

    Parameters
    ----------
    eps : float
        Pure epsilon of one copy.
    n : int
        Public number of records.
    lower, upper : float
        Public range; w is its width.
    weight : float
        Weight k of the sample mean in the mode; 1 without a prior.

    Notes
    -----
    Privacy: public constants only. The mode moves by at most k w/n, the noise has scale k w/(n eps).

    Examples
    --------
    >>> NoisyMean(0.5, n=100, lower=0, upper=1).price(n_syn=1, copies=2).eps.__round__(9)
    1.0
    """

    eps: float
    n: int
    lower: float
    upper: float
    weight: float = 1.0
    name: ClassVar[str] = "noisy_mean"
    entry: ClassVar[str] = "B7"
    source: ClassVar[str] = f"{_ZHENG}, 7.3, corrected"
    assumptions: ClassVar[tuple[str, ...]] = (
        _CLAMPED,
        "the prior and the number of records are public",
        _NOISE,
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> PureDP:  # noqa: ARG002  # records made from it cost nothing
        """Give epsilon for each copy."""
        return _each_copy(self.eps, copies)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class PosteriorShares:
    """Draws of the shares of levels from their Beta or Dirichlet posterior (F8 for two levels; G3 for more).

    Parameters
    ----------
    n : int
        Public number of records.
    prior : tuple of float
        Public prior weight of each level.

    Notes
    -----
    Privacy: public constants only; see ``parameter_renyi`` and ``categorical_one_renyi``. Only finite orders
    are bounded; records made from the draws cost nothing more.
    """

    n: int
    prior: tuple[float, ...]
    name: ClassVar[str] = "posterior_shares"
    entry: ClassVar[str] = "F8, G3"
    source: ClassVar[str] = f"{_ZHENG}, chapter 6, made exact"
    assumptions: ClassVar[tuple[str, ...]] = (*_LEVELS, "the arithmetic is exact")
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> RDP:  # noqa: ARG002  # records made from it cost nothing
        """Give the curve over all tables, once a copy."""
        if len(self.prior) == 2:
            curve = parameter_renyi(self.n, self.prior[0], self.prior[1], orders=ORDERS)
        else:
            curve = categorical_one_renyi(CellWeights.of(self.prior), orders=ORDERS)
        return RDP.from_curve(curve * upward(count("copies", copies)))


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class NoisyShares:
    """Posterior modes of the shares of levels, the counts with discrete Laplace noise (F9).

    Parameters
    ----------
    eps : float
        Pure epsilon of one copy.
    n : int
        Public number of records.
    prior : tuple of float
        Public prior weight of each level, at least one.

    Notes
    -----
    Privacy: public constants only. A replaced record moves two counts by one, so the noise has scale 2/eps;
    of two levels one count says all, and its noise has scale 1/eps.
    """

    eps: float
    n: int
    prior: tuple[float, ...]
    name: ClassVar[str] = "noisy_shares"
    entry: ClassVar[str] = "F9"
    source: ClassVar[str] = f"{_ZHENG}, 6.2, corrected"
    assumptions: ClassVar[tuple[str, ...]] = (*_LEVELS, _NOISE)
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> PureDP:  # noqa: ARG002  # records made from it cost nothing
        """Give epsilon for each copy."""
        return _each_copy(self.eps, copies)


def _each_copy(eps: float, copies: int) -> PureDP:
    """Epsilons of independent noisy copies add."""
    return PureDP(upward(count("copies", copies) * positive("eps", eps)))
