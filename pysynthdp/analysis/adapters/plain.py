"""Estimates that come without a model library: pairs of numbers, or :class:`Estimates` themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pysynthdp.analysis.estimates import ADAPTERS, Estimates
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError

__all__ = ["PlainAdapter"]


@ADAPTERS.register
class PlainAdapter:
    """Reads ``(estimates, variances or covariance)``; a Series or mapping of estimates names the terms."""

    name: ClassVar[str] = "plain"

    def accepts(self, fit: Any) -> bool:
        """Whether it is a pair, or already Estimates."""
        return isinstance(fit, Estimates) or (isinstance(fit, tuple | list) and len(fit) == 2)

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and covariance of a pair."""
        if isinstance(fit, Estimates):
            return fit
        named = pd.Series(fit[0]) if isinstance(fit[0], Mapping) else fit[0]
        spread = pd.Series(fit[1]) if isinstance(fit[1], Mapping) else fit[1]
        values = np.atleast_1d(np.asarray(named, dtype=np.float64))
        cov = np.atleast_1d(np.asarray(spread, dtype=np.float64))
        if cov.ndim == 1:
            cov = np.diag(cov)
        terms = _names(named, values.size)
        if values.ndim != 1 or cov.shape != (values.size, values.size):
            raise FitError(
                "give (estimates, variances) of one length, or (estimates, covariance matrix)", kind="fit"
            )
        if np.any(np.diagonal(cov) < 0):
            raise FitError("a variance is negative; give squared standard errors", kind="fit")
        return Estimates(terms, values, cov)

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Plain numbers have no likelihood."""
        del fit, values
        raise FitError("plain estimates have no likelihood to compare; use wald_test", kind="fit")


def _names(named: Any, size: int) -> tuple[str, ...]:
    """Names of a Series, or numbers."""
    if isinstance(named, pd.Series):
        return tuple(str(name) for name in named.index)
    return ("estimate",) if size == 1 else tuple(f"estimate {i + 1}" for i in range(size))
