"""Fits of any class that has statsmodels' two public names: ``params`` and ``cov_params()``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pysynthdp.analysis.description import Description
from pysynthdp.analysis.estimates import ADAPTERS, Estimates
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError

__all__ = ["WithParamsAdapter"]

_NAMES = ("param_names", "exog_names", "feature_names", "names")


@ADAPTERS.register
class WithParamsAdapter:
    """Reads ``params`` (Series, mapping or array) and ``cov_params`` (method, matrix or DataFrame).

    ``cov`` is read where there is no ``cov_params``. Names come from the estimates, from the covariance, or
    from ``param_names`` or ``exog_names`` of the fit or its ``model``; ``nobs``, ``df_resid`` (with
    ``use_t``), ``formula`` and ``cov_type`` are read where they are.
    """

    name: ClassVar[str] = "with_params"

    def accepts(self, fit: Any) -> bool:
        """Whether it is an object of a class that no other adapter reads, with both names."""
        library = type(fit).__module__.partition(".")[0]
        if isinstance(fit, type) or library in {"statsmodels", "pysynthdp"}:
            return False
        return getattr(fit, "params", None) is not None and _spread(fit) is not None

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and covariance."""
        given = fit.params() if callable(fit.params) else fit.params
        given = pd.Series(given) if isinstance(given, Mapping) else given
        spread = _spread(fit)
        spread = spread() if callable(spread) else spread
        values = np.asarray(given, dtype=np.float64).ravel()
        terms = _terms(fit, given, spread, values.size)
        if isinstance(spread, pd.DataFrame) and set(map(str, spread.index)) == set(terms):
            spread = spread.set_axis(list(map(str, spread.index))).set_axis(list(map(str, spread)), axis=1)
            spread = spread.loc[list(terms), list(terms)]
        cov = np.asarray(spread, dtype=np.float64)
        if cov.shape != (values.size, values.size):
            raise FitError(
                f"{type(fit).__name__}: params has {values.size} estimates, and cov_params is no matrix of "
                "that size; give (estimates, covariance)",
                kind="fit",
            )
        return Estimates(
            terms,
            values,
            cov,
            df=_number(fit, "df_resid") if getattr(fit, "use_t", False) else None,
            nobs=_number(fit, "nobs"),
            formula=_text(fit, "formula"),
            model=type(fit).__name__,
            about=Description(formula=_text(fit, "formula"), covariance=_covariance(fit)),
        )

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Nothing is known of the likelihood of such a fit."""
        del values
        raise FitError(
            f"{type(fit).__name__} has no likelihood that is known here; use wald_test", kind="fit"
        )


def _spread(fit: Any) -> Any:
    """Covariance as the class has it."""
    return getattr(fit, "cov_params", None) if hasattr(fit, "cov_params") else getattr(fit, "cov", None)


def _terms(fit: Any, given: Any, spread: Any, size: int) -> tuple[str, ...]:
    """Names of the estimates, from wherever the class keeps them."""
    owners = (fit, getattr(fit, "model", None))
    named = [getattr(owner, name, None) for owner in owners for name in _NAMES]
    for names in (getattr(given, "index", None), getattr(spread, "index", None), *named):
        if names is not None and not callable(names) and len(names) == size:
            return tuple(str(name) for name in names)
    return ("estimate",) if size == 1 else tuple(f"estimate {i + 1}" for i in range(size))


def _number(fit: Any, name: str) -> float | None:
    """Read a number, where there is one."""
    value = getattr(fit, name, None)
    return float(value) if isinstance(value, int | float | np.number) else None


def _text(fit: Any, name: str) -> str | None:
    """Read a text of the fit or of its model."""
    found = (getattr(owner, name, None) for owner in (fit, getattr(fit, "model", None)))
    return next((text for text in found if isinstance(text, str)), None)


def _covariance(fit: Any) -> str | None:
    """Kind of covariance, where it is not the ordinary one."""
    kind = getattr(fit, "cov_type", None)
    return kind if isinstance(kind, str) and kind not in {"nonrobust", "unadjusted"} else None
