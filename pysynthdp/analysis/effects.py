"""Predictions and marginal effects: made in every copy, pooled by the result's rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.analysis.combining import Combined, combine_stack
from pysynthdp.analysis.rules.base import find_rule
from pysynthdp.analysis.stack import Stack
from pysynthdp.errors import CombiningRuleError, FitError

if TYPE_CHECKING:
    from pysynthdp.analysis.results import PooledResults

__all__ = ["marginal", "predict"]


def predict(result: PooledResults, newdata: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Pool the predicted means of all copies."""
    fits = _fits(result, "get_prediction")
    pairs = [_prediction(number, fit, newdata) for number, fit in enumerate(fits, start=1)]
    done = _pooled(result, pairs)
    limits = done.conf_int(alpha)
    columns = {
        "mean": done.qbar,
        "mean_se": done.se,
        "df": done.df,
        "mean_ci_lower": limits[:, 0],
        "mean_ci_upper": limits[:, 1],
    }
    return pd.DataFrame(columns, index=newdata.index)


def marginal(result: PooledResults, at: str, method: str) -> pd.DataFrame:
    """Pool the marginal effects of all copies."""
    effects = [fit.get_margeff(at=at, method=method) for fit in _fits(result, "get_margeff")]
    done = _pooled(result, [(np.ravel(e.margeff), np.ravel(e.margeff_se) ** 2) for e in effects])
    limits = done.conf_int()
    names = effects[0].summary_frame().index
    return pd.DataFrame(
        {
            "term": [name if isinstance(name, str) else ":".join(map(str, name)) for name in names],
            "estimate": done.qbar,
            "std.error": done.se,
            "statistic": done.qbar / done.se,
            "df": done.df,
            "p.value": done.pvalue(),
            "conf.low": limits[:, 0],
            "conf.high": limits[:, 1],
        }
    )


def _fits(result: PooledResults, method: str) -> tuple[Any, ...]:
    """Return the fits, if they can do what is asked."""
    if not result.fits or not hasattr(result.fits[0], method):
        raise FitError(f"{result.model} has no {method}; pool what you compute in each copy with apply()")
    return result.fits


def _prediction(number: int, fit: Any, newdata: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Mean and its variance in one copy."""
    # Formulas match the levels of a Categorical as a set, so unused ones would be refused.
    named = newdata.select_dtypes("category").columns
    try:
        done = fit.get_prediction(newdata.astype(dict.fromkeys(named, object)))
    except Exception as error:  # any error of the model library means that there is no prediction
        raise FitError(
            f"copy {number} cannot predict these rows ({type(error).__name__}); newdata needs all columns of "
            "the formula, with levels that occur in the copies"
        ) from error
    mean = np.asarray(getattr(done, "predicted_mean", done.predicted), dtype=np.float64).ravel()
    if mean.size != len(newdata):
        raise FitError("newdata holds missing values in columns of the model; drop those rows")
    return mean, np.asarray(done.se_mean if hasattr(done, "se_mean") else done.se, dtype=np.float64) ** 2


def _pooled(result: PooledResults, pairs: list[tuple[FloatArray, FloatArray]]) -> Combined:
    """Combine vectors of the copies by the rule of the result."""
    values = result.combined.stack
    if values.noise_var is not None:
        raise CombiningRuleError(
            "the variance that privacy noise gives these quantities is not known; use pool with noise_var="
        )
    q, u = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    moved = Stack(q, u, None, values.nests, values.n_syn, values.n_org, values.df_com)
    return combine_stack(moved, find_rule(result.rule))
