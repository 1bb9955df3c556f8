"""Variates from the operating system's entropy alone, under the method names of numpy's generators.

Slower than a seeded generator, and not reproducible by design: what a formal guarantee asks of the draw.
"""

from __future__ import annotations

import math
import os
from typing import TypeAlias

import numpy as np
from scipy.special import betaincinv, gammaincinv, ndtri, pdtrik

from pysynthdp.base.arrays import FloatArray, IntArray

__all__ = ["SystemEntropy"]

Size: TypeAlias = int | tuple[int, ...]
Parameter: TypeAlias = float | FloatArray


class SystemEntropy:
    """A source of variates without a state; every call reads fresh bytes from the operating system.

    Examples
    --------
    >>> SystemEntropy().random(3).shape
    (3,)
    """

    def random(self, size: Size = 1) -> FloatArray:
        """Uniforms inside (0, 1), on the midpoints of 2^53 cells."""
        count = math.prod(size) if isinstance(size, tuple) else size
        words = np.frombuffer(os.urandom(8 * count), dtype=np.uint64) >> np.uint64(11)
        return ((words.astype(np.float64) + 0.5) * 2.0**-53).reshape(size)

    def uniform(self, low: Parameter = 0.0, high: Parameter = 1.0, size: Size | None = None) -> FloatArray:
        """Uniforms on (low, high)."""
        return low + (np.asarray(high) - low) * self.random(_shape(size, low, high))

    def standard_normal(self, size: Size = 1) -> FloatArray:
        """Draw standard normals by inversion."""
        return np.asarray(ndtri(self.random(size)), dtype=np.float64)

    def normal(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size | None = None) -> FloatArray:
        """Draw normals."""
        return loc + scale * self.standard_normal(_shape(size, loc, scale))

    def standard_gamma(self, shape: Parameter, size: Size | None = None) -> FloatArray:
        """Gammas of scale one, by inversion."""
        u = self.random(_shape(size, shape))
        return np.asarray(np.where(np.asarray(shape) > 0, gammaincinv(np.maximum(shape, 1e-300), u), 0.0))

    def gamma(self, shape: Parameter, scale: Parameter = 1.0, size: Size | None = None) -> FloatArray:
        """Gammas."""
        return scale * self.standard_gamma(shape, _shape(size, shape, scale))

    def chisquare(self, df: Parameter, size: Size | None = None) -> FloatArray:
        """Chi-squares."""
        return 2.0 * self.standard_gamma(np.asarray(df) / 2.0, size)

    def beta(self, a: Parameter, b: Parameter, size: Size | None = None) -> FloatArray:
        """Betas by inversion."""
        return np.asarray(betaincinv(a, b, self.random(_shape(size, a, b))), dtype=np.float64)

    def dirichlet(self, alpha: FloatArray) -> FloatArray:
        """One draw of a Dirichlet."""
        weights = self.standard_gamma(np.asarray(alpha, dtype=np.float64))
        return np.asarray(weights / weights.sum())

    def poisson(self, lam: FloatArray) -> IntArray:
        """Poisson counts by inversion."""
        u = self.random(np.shape(lam))
        count = np.ceil(pdtrik(u, np.maximum(lam, 1e-300)))
        return np.asarray(np.maximum(np.nan_to_num(count), 0), dtype=np.int64)

    def integers(self, low: int, high: int | None = None, size: Size = 1) -> IntArray:
        """Whole numbers from low up to high - 1, each exactly as likely, by rejection."""
        start, span = (0, low) if high is None else (low, high - low)
        count = math.prod(size) if isinstance(size, tuple) else size
        limit = (2**64 // span) * span
        taken = np.zeros(0, dtype=np.uint64)
        while len(taken) < count:
            words = np.frombuffer(os.urandom(8 * (count - len(taken)) + 64), dtype=np.uint64)
            taken = np.concatenate([taken, words[words < limit] if limit < 2**64 else words])
        return (start + (taken[:count] % np.uint64(span)).astype(np.int64)).reshape(size)


def _shape(size: Size | None, *parameters: Parameter) -> tuple[int, ...]:
    """Shape asked for, or that of the parameters together."""
    if size is not None:
        return size if isinstance(size, tuple) else (size,)
    return np.broadcast_shapes(*(np.shape(parameter) for parameter in parameters)) or (1,)
