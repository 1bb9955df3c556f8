"""T_f around one noisy release, never below what there would be without noise."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    FLAT,
    INDEPENDENT,
    NO_SUBSAMPLE,
    NOISE_REDRAWN,
    SIZES,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["NoiseFloored"]


@RULES.register
class NoiseFloored(Rule):
    """max(T_f, T_PPD), t reference; never negative."""

    name = "noise_floored"
    aliases = ("T_floor",)
    formula = "max((1 + 1/m) b - ubar, ubar (f + (1 + f)/m))"
    source = "Derived for this package, checked by simulation; T_f of Raghunathan, Reiter and Rubin (2003)"
    right_when = (
        "Each copy redraws the privacy noise and the sampling around one noisy release, so b holds both and "
        "the copies' own sampling; ubar takes the last off, and never below the variance without noise."
    )
    needs = ("between", "sizes")
    conditions = (
        INDEPENDENT,
        TWO_COPIES,
        NOISE_REDRAWN,
        ALL_SYNTHETIC,
        SOME_SYNTHETIC,
        DRAWN,
        SIZES,
        FLAT,
        NO_SUBSAMPLE,
    )
    order = 25
    wald = "wald_full_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """max(T_f, T_PPD)."""
        return np.maximum((1 + 1 / sums.m) * sums.between - sums.ubar, _without_noise(sums) * sums.ubar)

    def covariance(self, sums: Sums) -> FloatArray:
        """Floor T_f in the coordinates in which ubar is the identity, so that T stays positive definite."""
        root = np.linalg.cholesky(sums.ubar)
        inverse = np.linalg.inv(root)
        values, vectors = np.linalg.eigh(inverse @ sums.between @ inverse.T)
        floored = np.maximum((1 + 1 / sums.m) * values - 1, _without_noise(sums))
        turned = root @ vectors
        return np.asarray((turned * floored) @ turned.T)

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(T/((1 + 1/m) b))^2."""
        return (sums.m - 1) * (self.variance(sums) / ((1 + 1 / sums.m) * sums.between)) ** 2


def _without_noise(sums: Sums) -> float:
    """T_PPD over ubar: f + (1 + f)/m."""
    return sums.ratio + (1 + sums.ratio) / sums.m
