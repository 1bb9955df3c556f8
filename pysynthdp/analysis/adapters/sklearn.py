"""Estimators with scikit-learn's attributes that carry a covariance, such as BayesianRidge."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pysynthdp.analysis.estimates import ADAPTERS, Estimates
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError

__all__ = ["SklearnAdapter"]


@ADAPTERS.register
class SklearnAdapter:
    """Reads ``coef_`` and its covariance in ``covariance_`` or ``sigma_``."""

    name: ClassVar[str] = "sklearn"

    def accepts(self, fit: Any) -> bool:
        """Whether it is a fitted estimator with coefficients."""
        return hasattr(fit, "coef_") and hasattr(fit, "get_params")

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and covariance of a fitted estimator."""
        cov = getattr(fit, "covariance_", getattr(fit, "sigma_", None))
        values = np.asarray(fit.coef_, dtype=np.float64).ravel()
        if cov is None or np.shape(cov) != (values.size, values.size):
            raise FitError(
                f"{type(fit).__name__} has no covariance of its coefficients (covariance_ or sigma_); "
                "give (estimates, covariance) pairs",
                kind="fit",
            )
        names = getattr(fit, "feature_names_in_", [f"x{i}" for i in range(values.size)])
        terms = tuple(str(name) for name in names)
        return Estimates(terms, values, np.asarray(cov, dtype=np.float64), model=type(fit).__name__)

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Estimators of this kind give no likelihood."""
        del values
        raise FitError(f"{type(fit).__name__} has no likelihood to compare; use wald_test", kind="fit")
