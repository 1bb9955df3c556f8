"""Noise that a seed repeats: for tests and rehearsals only; it protects nobody and makes everything void."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pysynthdp.base.arrays import IntArray

__all__ = ["seeded_noise"]


def seeded_noise(rng: np.random.Generator) -> Callable[[IntArray, float], IntArray]:
    """Make a stand-in for the discrete Gaussian: rounded normal noise from a seeded generator.

    Parameters
    ----------
    rng : Generator
        Known to whoever gave the seed.

    Returns
    -------
    callable (values, scale) -> noised values

    Notes
    -----
    Privacy: none. Whoever knows the seed can take the noise off again (J5).

    Examples
    --------
    >>> seeded_noise(np.random.default_rng(1))(np.zeros(2, dtype=np.int64), 10.0).dtype
    dtype('int64')
    """

    def add(values: IntArray, scale: float) -> IntArray:
        return values + np.rint(scale * rng.standard_normal(values.size)).astype(np.int64)

    return add
