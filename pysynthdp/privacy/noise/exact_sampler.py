"""The sampler of an implemented guarantee: what carries the claim is drawn in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.streams import NumpySampler
from pysynthdp.privacy.noise.protective import add_discrete_gaussian, draw_categories, draw_urn

__all__ = ["ExactSampler"]


@dataclass(frozen=True, slots=True)
class ExactSampler(NumpySampler):
    """Draw whole numbers exactly; other variates, for post-processing alone, as the numpy sampler does.

    Notes
    -----
    Privacy: the methods here are mechanisms (H1; F3, F5, G2 and G3 without floating point); they take the
    operating system's entropy, whatever the stream beside them was seeded with.

    Examples
    --------
    >>> sampler = ExactSampler(np.random.default_rng(0))
    >>> sampler.exact, sampler.integer_weights(np.array([0, 7]), 3).tolist()
    (True, [1, 1, 1])
    """

    exact: ClassVar[bool] = True

    def discrete_gaussian(self, centre: int, scale: float, size: int) -> IntArray:
        """Whole numbers around a centre with discrete Gaussian noise of a scale in steps."""
        return add_discrete_gaussian(np.full(size, centre, dtype=np.int64), scale)

    def integer_weights(self, weights: IntArray, size: int) -> IntArray:
        """Cell numbers with probabilities in exact proportion to whole weights."""
        return draw_categories(weights, size)

    def urn(self, weights: IntArray, added: int, size: int) -> IntArray:
        """Cell numbers drawn one after the other, each adding balls of its own cell."""
        return draw_urn(weights, added, size)
