"""A fit by sums: what pooling asks is there; what needs the rows, statsmodels computes when asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.base.model import Results
from statsmodels.discrete.discrete_model import LogitResults
from statsmodels.genmod import families
from statsmodels.genmod.generalized_linear_model import GLMResults
from statsmodels.regression.linear_model import RegressionResults

from pysynthdp.analysis.sums.design import Design
from pysynthdp.analysis.sums.request import Request
from pysynthdp.analysis.sums.summed import Summed
from pysynthdp.base.arrays import FloatArray

__all__ = ["SumsFit", "made"]


_ROWS = frozenset(
    [
        *("endog", "exog", "wendog", "wexog", "pinv_wexog", "weights", "iweights", "var_weights", "n_trials"),
        *("freq_weights", "offset", "exposure", "nobs", "wnobs", "rank", "df_model", "df_resid"),
        *("k_constant", "k_vars", "mu", "scale", "scaletype", "normalized_cov_params"),
    ]
)
"""What models of statsmodels hold besides what their class has."""


class _Data:
    """The rows of a model, as statsmodels names them."""

    def __init__(self, design: Design) -> None:
        self.frame, self.design_info, self.model_spec = design.frame, design.right, design.right
        self._design = design

    @cached_property
    def row_labels(self) -> Any:
        """Labels of the rows that entered."""
        return self.frame.index[self._design.kept()]


class _Model:
    """What a model says without its matrix; everything else is asked of statsmodels' own."""

    def __init__(self, design: Design, asked: Request, formula: str, full: Callable[[], Any]) -> None:
        self.data, self.formula, self._full, self._asked = _Data(design), formula, full, asked
        self.exog_names, self.endog_names = list(design.names), str(design.left.column_names[0])
        if asked.family is not None:
            self.family = asked.family
        if not {"offset", "exposure"} & asked.beside.keys():
            self.offset = self.exposure = 0.0

    def __getattr__(self, name: str) -> Any:
        if name not in _ROWS and not hasattr(getattr(sm, type(self).__name__), name):
            raise AttributeError(name)
        return getattr(self._full().model, name)

    def predict(self, params: Any, exog: Any = None, **more: Any) -> Any:
        """Means at some parameters and rows."""
        if exog is None or more or "offset" not in vars(self):
            return self._full().model.predict(params, exog, **more)
        return self._mean(np.asarray(exog) @ np.asarray(params))

    def _mean(self, eta: FloatArray) -> FloatArray:
        """Means at linear predictors."""
        return eta


class OLS(_Model):
    """Least squares."""


class WLS(_Model):
    """Weighted least squares."""


class GLM(_Model):
    """A family and its canonical link."""

    def _mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.family.fitted(eta))


class Logit(_Model):
    """A logistic regression."""

    family = families.Binomial()

    def _mean(self, eta: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-eta)))


_RESULTS: Mapping[str, Any] = {
    "OLS": RegressionResults,
    "WLS": RegressionResults,
    "GLM": GLMResults,
    "Logit": LogitResults,
}
_HELD = frozenset(
    [
        *("df_model", "k_constant", "method", "mle_retvals", "mle_settings", "fit_history", "cov_kwds"),
        *("normalized_cov_params", "cov_params_default", "n_groups", "df_resid_inference", "family"),
    ]
)
"""What results of statsmodels hold besides what their class has."""
_MODELS = {kind.__name__: kind for kind in (OLS, WLS, GLM, Logit)}


@dataclass(eq=False)
class SumsFit:
    """One model fitted to one copy by sums over blocks of rows.

    Parameters
    ----------
    model : object
        Of the name that statsmodels gives it.
    params : Series (p,)
        Coefficients.
    scale : float
        Variance of the response, or dispersion.
    nobs : float
        Rows that entered.
    use_t, cov_type
        As statsmodels has them.
    full : callable
        Fits by statsmodels; what is not here is an attribute of its result.

    Notes
    -----
    Privacy: post-processing of synthetic copies.
    """

    model: Any
    params: pd.Series[float]
    covariance: FloatArray = field(repr=False)
    scale: float
    nobs: float
    use_t: bool
    cov_type: str
    full: Callable[[], Any] = field(repr=False)
    found_by_sums: bool = True
    converged: bool = True

    def __getattr__(self, name: str) -> Any:
        if name not in _HELD and not hasattr(_RESULTS[type(self.model).__name__], name):
            raise AttributeError(name)  # who asks what a fit is must not have it fitted again
        return getattr(self.full(), name)

    @property
    def df_resid(self) -> float:
        """Rows less coefficients."""
        return self.nobs - self.params.size

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors."""
        return pd.Series(np.sqrt(np.diagonal(self.covariance)), index=self.params.index)

    def cov_params(self, *given: Any, **more: Any) -> Any:
        """Covariance of the coefficients (p, p), or of what statsmodels makes of it."""
        if given or more:
            return self.full().cov_params(*given, **more)
        return pd.DataFrame(self.covariance, index=self.params.index, columns=self.params.index)

    def _transform_predict_exog(self, exog: Any, *, transform: bool = True) -> Any:
        """Code new rows as statsmodels does, by the design of the fit."""
        return Results._transform_predict_exog(self, exog, transform=transform)  # noqa: SLF001 -- no public way


def made(design: Design, asked: Request, formula: str, sums: Summed, full: Callable[[], Any]) -> SumsFit:
    """Bind what sums said.

    Parameters
    ----------
    design : Design
        The copy as it was read.
    asked : Request
        What was fitted.
    formula : str
        As the user wrote it.
    sums : Summed
        What came out.
    full : callable
        Fits by statsmodels, once.

    Notes
    -----
    Privacy: post-processing of synthetic copies.
    """
    model = _MODELS[asked.kind](design, asked, formula, full)
    params = pd.Series(sums.beta, index=list(design.names))
    told = (sums.scale, float(sums.n), asked.use_t, asked.named)
    return SumsFit(model, params, sums.cov, *told, full)
