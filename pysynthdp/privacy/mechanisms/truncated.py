"""Gaussian column conditioned to its public range as a priced mechanism: B6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.gaussian_truncated import TruncatedDraw, truncated_draws
from pysynthdp.privacy.unit import Relation

__all__ = ["TruncatedMean"]


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class TruncatedMean:
    """Records of a Gaussian column conditioned to [-half_width, half_width], public variance (B6).

    Parameters
    ----------
    n : int
        Public number of records.
    half_width : float
        Data and draws lie in [-half_width, half_width].
    sigma : float
        Public standard deviation.
    sigma0 : float, optional
        Standard deviation of the public prior; None for a flat prior.
    draw : {"map", "many", "parameter"}
        What is drawn.

    Notes
    -----
    Privacy: public constants only.
    """

    n: int
    half_width: float
    sigma: float
    sigma0: float | None = None
    draw: TruncatedDraw = "map"
    name: ClassVar[str] = "truncated_mean"
    entry: ClassVar[str] = "B6"
    source: ClassVar[str] = (
        "Zheng, The Differential Privacy of Bayesian Inference, 7.7 and 7.12 to 7.14, corrected"
    )
    assumptions: ClassVar[tuple[str, ...]] = (
        "values are clamped to the public range before any statistic",
        "sigma, the prior and the number of records are public",
        "draws are conditioned to the range, not clipped",
        "the arithmetic is exact",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Pure epsilon and zCDP at once, on the public grid."""
        return truncated_draws(
            self.n,
            self.half_width,
            sigma=self.sigma,
            sigma0=self.sigma0,
            n_syn=n_syn,
            copies=copies,
            draw=self.draw,
        )
