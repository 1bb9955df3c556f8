"""Predictions and marginal effects: made in every copy, pooled by the result's rule."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.analysis.combining import Combined, combine_stack
from pysynthdp.analysis.failures import of_copy, told
from pysynthdp.analysis.marginal_effects import average_effects
from pysynthdp.analysis.pooled import Pooled
from pysynthdp.analysis.rules.base import find_rule
from pysynthdp.analysis.separation import uses_lost
from pysynthdp.analysis.surface import surface_of, unpredictable
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import CombiningRuleError, FitError, PysynthdpError, PysynthdpWarning
from pysynthdp.base.remarks import outside
from pysynthdp.base.words import TABLE, Said, Words

__all__ = ["marginal", "predict"]

_ROWS: Final = Said("pd.DataFrame({'column': [value, ...]})", "a table", "data.frame(column = c(...))")
Pair = tuple[FloatArray, FloatArray]


def predict(result: Pooled, newdata: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Pool the predicted means of all copies."""
    if not isinstance(newdata, pd.DataFrame):
        raise FitError(
            Words("newdata must be {table}, not {given}", table=TABLE, given=type(newdata).__name__),
            kind="newdata",
            remedy=Words("write {made} with the columns of the formula", made=_ROWS),
        )
    fits = _fits(result)
    pairs = [_prediction(number, fit, newdata) for number, fit in enumerate(fits, start=1)]
    _warn_of_unknown(pairs)
    done = _pooled(result, pairs)
    limits = done.conf_int(alpha)
    columns = {
        "mean": done.qbar,
        "mean_se": done.se,
        "df": done.df,
        "mean_ci_lower": limits[:, 0],
        "mean_ci_upper": limits[:, 1],
    }
    levels = surface_of(fits[0]).levels
    if len(levels) == 1:
        return pd.DataFrame(columns, index=newdata.index)
    table = pd.DataFrame(columns, index=newdata.index.repeat(len(levels)))
    table.insert(0, "level", list(levels) * len(newdata))
    return table


def marginal(result: Pooled, at: str, method: str) -> pd.DataFrame:
    """Pool the marginal effects of all copies."""
    fits = _fits(result)
    if at == "overall" and method == "dydx":
        found = [_effects(number, fit) for number, fit in enumerate(fits, start=1)]
        terms = tuple(dict.fromkeys(term for names, _ in found for term in names))
        return _table(result, terms, [_placed(names, pair, terms) for names, pair in found])
    if not hasattr(fits[0], "get_margeff"):
        remedy = "leave at='overall' and method='dydx'"
        raise FitError(f"{result.model} has average effects only", kind="effects", remedy=remedy)
    effects = [fit.get_margeff(at=at, method=method) for fit in fits]
    names = effects[0].summary_frame().index
    terms = tuple(name if isinstance(name, str) else ":".join(map(str, name)) for name in names)
    return _table(result, terms, [(np.ravel(e.margeff), np.ravel(e.margeff_se) ** 2) for e in effects])


def _effects(number: int, fit: Any) -> tuple[tuple[str, ...], Pair]:
    """Average effects in one copy, by name."""
    try:
        return average_effects(fit)
    except PysynthdpError as error:
        raise of_copy(number, error) from error
    except Exception as error:  # any error of the model library means that there is no effect
        raise FitError(f"copy {number} gives no effects: {told(error)}", kind="estimates") from error


def _placed(names: tuple[str, ...], pair: Pair, terms: tuple[str, ...]) -> Pair:
    """Bring the effects of a copy to the order of all, NaN for a level that it lacks."""
    place = [terms.index(name) for name in names]
    values, variances = np.full(len(terms), np.nan), np.full(len(terms), np.nan)
    values[place], variances[place] = pair
    return values, variances


def _table(result: Pooled, terms: Sequence[str], pairs: list[Pair]) -> pd.DataFrame:
    """Pool, and write under broom's names."""
    done = _pooled(result, pairs)
    limits = done.conf_int()
    return pd.DataFrame(
        {
            "term": list(terms),
            "estimate": done.qbar,
            "std.error": done.se,
            "statistic": done.qbar / done.se,
            "df": done.df,
            "p.value": done.pvalue(),
            "conf.low": limits[:, 0],
            "conf.high": limits[:, 1],
        }
    )


def _fits(result: Pooled) -> tuple[Any, ...]:
    """Return the fits, if there are models among them."""
    if not result.fits or not hasattr(result.fits[0], "model"):
        raise FitError(
            f"{result.model} has no model to predict by; pool what you compute with apply()", kind="estimates"
        )
    return result.fits


def _prediction(number: int, fit: Any, newdata: pd.DataFrame) -> Pair:
    """Means and their variances in one copy, rows first and then outcomes."""
    surface = surface_of(fit)
    try:
        X = surface.design(newdata)
    except Exception as error:  # any error of the model library means that there is no prediction
        why = unpredictable(fit, newdata, error)
        what = Words("copy {number} cannot predict these rows: {why}", number=number, why=why.what)
        raise FitError(what, column=why.column, kind=why.kind, remedy=why.remedy) from error
    if len(X) != len(newdata) or not np.isfinite(X).all():
        raise FitError(
            "newdata holds missing values in columns of the model", kind="missing", remedy="drop those rows"
        )
    slope = surface.gradient(lambda at: surface.mean(at, X).ravel())
    means, variances = surface.mean(surface.values, X), np.einsum("ij,jk,ik->i", slope, surface.cov, slope)
    lost = np.repeat(uses_lost(fit, X), means.shape[1])
    return np.where(lost, np.nan, means.ravel()), np.where(lost, np.nan, variances)


def _warn_of_unknown(pairs: list[Pair]) -> None:
    """Say that rows hang on coefficients that a copy cannot estimate, and are NaN."""
    where = [str(number) for number, (means, _) in enumerate(pairs, start=1) if np.isnan(means).any()]
    if where:
        warnings.warn(
            f"rows of newdata use terms that cannot be estimated in copy {', '.join(where)}, since the "
            "outcome is separated there; their means are NaN",
            PysynthdpWarning,
            stacklevel=outside(),
        )


def _pooled(result: Pooled, pairs: list[Pair]) -> Combined:
    """Combine vectors of the copies by the rule of the result."""
    values = result.combined.stack
    if values.noise_var is not None:
        raise CombiningRuleError(
            "the variance that privacy noise gives these quantities is not known",
            kind="noise",
            remedy="pool the copies with noise_var",
        )
    q, u = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    return combine_stack(replace(values, q=q, u=u, U=None), find_rule(result.rule))
