"""Design-based estimates of svy: means, totals, shares, ratios, quantiles and survey-weighted regressions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pysynthdp.analysis.estimates import ADAPTERS, Estimates
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError

__all__ = ["SvyAdapter"]


@ADAPTERS.register
class SvyAdapter:
    """Reads what ``svy.Sample(...).estimation`` and ``svy.Sample(...).glm.fit`` return.

    Terms are ``mean(income)``, ``mean(income)[region=north]``, ``proportion(sex)[f]``; those of a regression
    are named as svy names them. Variances are design-based, degrees of freedom those of the design.
    """

    name: ClassVar[str] = "svy"

    def accepts(self, fit: Any) -> bool:
        """Whether it is an estimate or a regression of svy."""
        return type(fit).__module__.split(".")[0] == "svy" and not isinstance(fit, tuple)

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and design-based covariance."""
        model = getattr(fit, "fitted", None)
        if hasattr(model, "cov_matrix"):
            return _regression(model)
        if hasattr(fit, "covariance") and hasattr(fit, "to_dicts"):
            return _estimate(fit)
        raise FitError(
            f"svy's {type(fit).__name__} has no covariance to pool; estimate one quantity at a time",
            kind="fit",
        )

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Survey-weighted estimates have no likelihood."""
        del fit, values
        raise FitError("survey-weighted estimates have no likelihood to compare; use wald_test", kind="fit")


def _regression(model: Any) -> Estimates:
    """Coefficients of a survey-weighted regression."""
    values = np.array([float(coefficient.est) for coefficient in model.coefs])
    df = {coefficient.wald.df for coefficient in model.coefs}
    terms = tuple(str(coefficient.term) for coefficient in model.coefs)
    cov = np.asarray(model.cov_matrix, dtype=np.float64)
    return Estimates(
        terms, values, cov, df=float(min(df)), nobs=float(model.stats.n), model="survey-weighted regression"
    )


def _estimate(fit: Any) -> Estimates:
    """Means, totals, shares, ratios or quantiles, by domain."""
    rows = fit.to_dicts()
    cov = np.atleast_2d(np.asarray(fit.covariance, dtype=np.float64)).copy()
    # a share of a stratum itself has no variance, and comes as a rounding error of either sign
    np.fill_diagonal(cov, np.maximum(np.diagonal(cov), 0.0))
    kind = str(getattr(fit.param, "value", fit.param)).lower()
    return Estimates(
        tuple(_term(kind, row) for row in rows),
        np.array([float(row["est"]) for row in rows]),
        cov,
        df=float(min(row["df"] for row in rows)),
        nobs=float(sum(row["n"] for row in rows)),
        model=f"survey-weighted {kind}",
    )


def _term(kind: str, row: dict[str, Any]) -> str:
    """Name one estimate."""
    over = "" if row["x"] is None else f"/{row['x']}"
    prob = "" if row["prob"] is None else f", {row['prob']:g}"
    level = "" if row["y_level"] is None else f"[{row['y_level']}]"
    pairs = zip(row["by"] or (), row["by_level"] or (), strict=True)
    domain = ", ".join(f"{name}={value}" for name, value in pairs)
    return f"{kind}({row['y']}{over}{prob}){level}" + (f"[{domain}]" if domain else "")
