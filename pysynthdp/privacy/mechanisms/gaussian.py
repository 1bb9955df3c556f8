"""Gaussian column with public variance as priced mechanisms: B1 to B5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.gaussian_known import mean_per_copy, mean_per_record, plug_in_mean
from pysynthdp.privacy.prices.gaussian_prior import MeanDraw, mean_with_prior
from pysynthdp.privacy.unit import Relation

__all__ = ["MeanPerCopy", "MeanPerRecord", "MeanWithPrior", "PlugInMean"]

_PAPER = "Neunhoeffer, Latner and Drechsler, On the Formal Privacy Guarantees of Synthetic Data"
_ASSUMED = (
    "values are clamped to the public range before any statistic",
    "sigma and the number of records are public",
    "the arithmetic is exact",
)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class PlugInMean:
    """Records from N(mean, sigma^2), the mean plugged in (B1).

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
    Privacy: public constants only; see ``plug_in_mean``.
    """

    n: int
    lower: float
    upper: float
    sigma: float
    name: ClassVar[str] = "plug_in_mean"
    entry: ClassVar[str] = "B1"
    source: ClassVar[str] = f"{_PAPER}, 4.1"
    assumptions: ClassVar[tuple[str, ...]] = _ASSUMED
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> GDP:
        """Give N w^2/(2 n^2 sigma^2), an exact Gaussian shift."""
        return plug_in_mean(self.n, self.lower, self.upper, sigma=self.sigma, n_syn=n_syn, copies=copies)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class MeanPerCopy:
    """Records given one mean a copy, drawn from its posterior under a flat prior (B3).

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
    Privacy: public constants only; see ``mean_per_copy``.
    """

    n: int
    lower: float
    upper: float
    sigma: float
    name: ClassVar[str] = "mean_per_copy"
    entry: ClassVar[str] = "B3"
    source: ClassVar[str] = f"{_PAPER}, 4.2, corrected"
    assumptions: ClassVar[tuple[str, ...]] = _ASSUMED
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> GDP:
        """Give m w^2 n_syn/(2 n sigma^2 (n + n_syn)), an exact Gaussian shift."""
        return mean_per_copy(self.n, self.lower, self.upper, sigma=self.sigma, n_syn=n_syn, copies=copies)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class MeanPerRecord:
    """Records whose mean is drawn anew for every record, flat prior (B4).

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
    Privacy: public constants only; see ``mean_per_record``.
    """

    n: int
    lower: float
    upper: float
    sigma: float
    name: ClassVar[str] = "mean_per_record"
    entry: ClassVar[str] = "B4"
    source: ClassVar[str] = f"{_PAPER}, 4.2"
    assumptions: ClassVar[tuple[str, ...]] = _ASSUMED
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> GDP:
        """Give N w^2/(2 n^2 sigma^2 (1 + 1/n)), an exact Gaussian shift."""
        return mean_per_record(self.n, self.lower, self.upper, sigma=self.sigma, n_syn=n_syn, copies=copies)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class MeanWithPrior:
    """Records under the public prior N(mu0, sigma0^2) on the mean (B5).

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range.
    sigma, sigma0 : float
        Public standard deviations of the data and of the prior.
    draw : {"map", "one", "many", "parameter"}
        What is drawn from the posterior.

    Notes
    -----
    Privacy: public constants only; see ``mean_with_prior``.
    """

    n: int
    lower: float
    upper: float
    sigma: float
    sigma0: float
    draw: MeanDraw = "one"
    name: ClassVar[str] = "mean_with_prior"
    entry: ClassVar[str] = "B5"
    source: ClassVar[str] = "Zheng, The Differential Privacy of Bayesian Inference, 3.3 and 7, corrected"
    assumptions: ClassVar[tuple[str, ...]] = (*_ASSUMED, "the prior is public")
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> GDP:
        """Exact Gaussian shift of the shrunk mean."""
        return mean_with_prior(
            self.n,
            self.lower,
            self.upper,
            sigma=self.sigma,
            sigma0=self.sigma0,
            n_syn=n_syn,
            copies=copies,
            draw=self.draw,
        )
