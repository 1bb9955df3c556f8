"""Fits of statsmodels: linear, generalised, discrete, ordinal, robust, quantile, GEE, mixed, hazards."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pysynthdp.analysis.coded_design import bases_of, codings_of, members_of
from pysynthdp.analysis.description import Description
from pysynthdp.analysis.estimates import ADAPTERS, Estimates
from pysynthdp.analysis.separation import covariance_of_rest, lost_directions, lost_terms, undetermined
from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.base.errors import FitError

__all__ = ["StatsmodelsAdapter"]

_ORDINARY = {"GEE": "robust", "RLM": "H1"}  # covariances that a model has without being asked
_STEP = 0.01


@ADAPTERS.register
class StatsmodelsAdapter:
    """Reads ``params`` and ``cov_params()``, so robust and cluster covariances come along.

    Thresholds of an OrderedModel are given on their own scale, by the delta method; of a MixedLM the fixed
    effects are read, since Wald intervals of variance components do not hold. Terms of a separated
    outcome are NaN.
    """

    name: ClassVar[str] = "statsmodels"

    def accepts(self, fit: Any) -> bool:
        """Whether it is a results object of statsmodels."""
        module = type(fit).__module__
        return module.startswith("statsmodels.") and hasattr(fit, "params") and hasattr(fit, "cov_params")

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and covariance of a statsmodels fit."""
        names, inner, values, cov = _read(fit)
        lost = lost_directions(fit, values)
        gone = lost_terms(lost)
        if gone.any() and not np.isfinite(np.diagonal(cov)[~gone]).all():
            cov = _without_lost(fit, lost, cov)
        if not gone.any() or not _rest_is_found(fit, cov, gone):
            _check_converged(fit)
        bad = (~np.isfinite(values) | ~np.isfinite(np.diagonal(cov))) & ~gone
        if bad.any():
            terms = ", ".join(name for name, wrong in zip(names, bad, strict=True) if wrong)
            raise FitError(
                f"there is no finite estimate or variance for {terms}; simplify the model", kind="fit"
            )
        found = Estimates(
            names,
            values,
            cov,
            df=float(fit.df_resid) if getattr(fit, "use_t", False) else None,
            nobs=_nobs(fit),
            formula=_formula(fit),
            design_terms=inner,
            model=type(fit.model).__name__,
            about=_description(fit),
        )
        return found.without(gone)

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Log-likelihood at other parameters; profile over the variance for linear models."""
        model = fit.model
        kind = type(model).__name__
        if kind == "MixedLM" or not hasattr(model, "loglike") or kind in {"GEE", "RLM", "QuantReg"}:
            raise FitError(f"{kind} has no likelihood to compare; use wald_test", kind="fit")
        if kind == "OrderedModel":
            values = _increments(values, int(model.k_levels) - 1)
        if kind == "MNLogit":
            values = values.reshape(np.shape(fit.params), order="F")
        if kind == "GLM":
            return float(model.loglike(values, scale=_profile_scale(fit, values)))
        return float(model.loglike(values))


def _profile_scale(fit: Any, values: FloatArray) -> float:
    """Scale of a GLM's likelihood: that of the parameters for a Gaussian, the fit's own otherwise."""
    if type(fit.model.family).__name__ != "Gaussian":
        return float(fit.scale)
    fitted = fit.model.predict(values)
    return float(np.average((fit.model.endog - fitted) ** 2))


def _check_converged(fit: Any) -> None:
    """Refuse a fit whose optimiser says that it did not finish."""
    told = getattr(fit, "mle_retvals", None)
    converged = told.get("converged", True) if isinstance(told, dict) else getattr(fit, "converged", True)
    if converged is not None and not np.all(converged):
        raise FitError("the optimiser did not converge; raise maxiter, or simplify the model", kind="fit")


def _without_lost(fit: Any, lost: FloatArray, cov: FloatArray) -> FloatArray:
    """Covariance of the coefficients that a separated fit still has, where the library gives none."""
    if type(fit.model).__name__ in {"MNLogit", "OrderedModel"} or not hasattr(fit.model, "hessian"):
        return cov
    try:
        return covariance_of_rest(-_array(fit.model.hessian(_array(fit.params))), lost)
    except np.linalg.LinAlgError:
        return cov


def _rest_is_found(fit: Any, cov: FloatArray, gone: BoolArray) -> bool:
    """Whether the other coefficients of a separated fit stopped within a hundredth of their error."""
    variance = np.diagonal(cov)[~gone]
    if type(fit.model).__name__ == "GEE" or not hasattr(fit.model, "score"):
        return False
    if not (np.isfinite(variance).all() and np.all(variance > 0)):
        return False
    with np.errstate(all="ignore"):
        score = _array(fit.model.score(_array(fit.params))).ravel(order="F")[: gone.size]
    return bool(np.all(np.abs(score[~gone]) * np.sqrt(variance) < _STEP))


def _covariance(fit: Any) -> FloatArray:
    """Covariance of the coefficients; NaN where the library could not compute it."""
    try:
        return _array(fit.cov_params())
    except ValueError:
        return np.full((np.size(fit.params), np.size(fit.params)), np.nan)


def _read(fit: Any) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray, FloatArray]:
    """Names, names within their equation, values and covariance."""
    kind = type(fit.model).__name__
    if kind == "MixedLM":
        size = int(fit.k_fe)
        names = tuple(str(name) for name in fit.model.exog_names[:size])
        return names, names, _array(fit.fe_params), _covariance(fit)[:size, :size]
    values, cov = _array(fit.params), _covariance(fit)
    if kind == "MNLogit":
        names, inner = _equations(fit)
        return names, inner, values.ravel(order="F"), cov
    names = tuple(str(name) for name in getattr(fit.params, "index", fit.model.exog_names))
    if kind == "OrderedModel":
        values, cov = _thresholds(values, cov, int(fit.model.k_levels) - 1)
    return names, names, values, cov


def _equations(fit: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the coefficients of a multinomial model ``level:term``."""
    labels = [str(label) for _, label in sorted(fit.model._ynames_map.items())][1:]  # noqa: SLF001 -- no public name for the outcome labels
    inner = [str(name) for name in fit.model.exog_names]
    return tuple(f"{label}:{name}" for label in labels for name in inner), tuple(inner * len(labels))


def _thresholds(values: FloatArray, cov: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """From the first threshold and log increments to thresholds, covariance by the delta method."""
    increments = np.exp(values[-count + 1 :]) if count > 1 else np.empty(0)
    moved = values.copy()
    moved[-count:] = values[-count] + np.concatenate([[0.0], np.cumsum(increments)])
    jacobian = np.eye(values.size)
    block = np.tril(np.ones((count, count)))
    block[:, 1:] *= increments
    jacobian[-count:, -count:] = block
    return moved, jacobian @ cov @ jacobian.T


def _increments(values: FloatArray, count: int) -> FloatArray:
    """From thresholds to the first threshold and log increments."""
    moved = values.copy()
    steps = np.diff(values[-count:])
    if np.any(steps <= 0):
        raise FitError("the pooled thresholds are not in order; use wald_test", kind="fit")
    moved[values.size - count + 1 :] = np.log(steps)
    return moved


def _array(values: Any) -> FloatArray:
    """Plain floats, whatever the container."""
    return np.asarray(values, dtype=np.float64)


def _nobs(fit: Any) -> float | None:
    """Rows that entered the fit, where the results say so."""
    nobs = getattr(fit, "nobs", None)
    if nobs is None:
        nobs = len(fit.model.endog)
    return float(nobs)


def _formula(fit: Any) -> str | None:
    """Return the formula, if the model was made from one."""
    formula = getattr(fit.model, "formula", None)
    return formula if isinstance(formula, str) else None


def _description(fit: Any) -> Description:
    """Read what the results say of their model."""
    model, formula = fit.model, _formula(fit)
    data = getattr(model, "data", None)
    design = getattr(data, "model_spec", None) or getattr(data, "design_info", None)
    coded = hasattr(design, "term_codings")  # a design of patsy
    return Description(
        formula=formula,
        response=formula.partition("~")[0].strip() if formula else _endog_name(model),
        family=_family(model),
        covariance=_kind_of_covariance(fit),
        members=members_of(design) if coded else {},
        codings=codings_of(design) if coded else (),
        bases=bases_of(design) if coded else {},
        entangled=_entangled(model),
        rows=partial(_rows, model) if formula else None,
    )


def _endog_name(model: Any) -> str | None:
    """Name of the response of a model that was given arrays."""
    name = getattr(model, "endog_names", None)
    return name if isinstance(name, str) else None


def _family(model: Any) -> str | None:
    """Family and link of a generalised model."""
    family = getattr(model, "family", None)
    if family is None:
        return None
    return f"{type(family).__name__}, {type(getattr(family, 'link', None)).__name__}"


def _kind_of_covariance(fit: Any) -> str | None:
    """Kind of covariance, where it is not the one that the model has without being asked."""
    kind = getattr(fit, "cov_type", None)
    return None if kind in {"nonrobust", _ORDINARY.get(type(fit.model).__name__)} else kind


def _entangled(model: Any) -> frozenset[str]:
    """Coefficients that collinear columns do not determine; statsmodels shares such a sum out in silence."""
    X = np.asarray(getattr(model, "exog", None), dtype=np.float64)
    if X.ndim != 2 or X.shape[1] == 0 or _full_rank(model, X.shape[1]):
        return frozenset()
    wrong = np.any(undetermined(X) != 0, axis=0)
    return frozenset(str(name) for name, bad in zip(model.exog_names, wrong, strict=False) if bad)


def _full_rank(model: Any, columns: int) -> bool:
    """Whether the model found its own columns to be independent."""
    rank = getattr(model, "rank", None)
    if rank is None and getattr(model, "df_model", None) is not None:
        rank = model.df_model + 1
    return rank is not None and rank >= columns


def _rows(model: Any) -> pd.DataFrame | None:
    """Rows that entered a model, with all columns that were at hand; None where that is not known."""
    frame, labels = model.data.frame, model.data.row_labels
    if not isinstance(frame, pd.DataFrame):
        return None
    if labels is None or len(labels) == len(frame):
        return frame
    return frame.loc[labels] if frame.index.is_unique else None
