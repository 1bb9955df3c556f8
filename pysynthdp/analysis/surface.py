"""How the predicted means of a statsmodels fit depend on its parameters, for any new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.choose import model_columns
from pysynthdp.analysis.failures import told
from pysynthdp.analysis.formula import plain_name
from pysynthdp.analysis.frames import dated_kind, days_of
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import meant

__all__ = ["Surface", "surface_of", "unpredictable"]

_SHOWN = 12  # levels that a message names
_WITHOUT = {"PHReg": "a hazard model has no predicted mean"}


@dataclass(frozen=True, slots=True)
class Surface:
    """Parameters, their covariance, and the predicted means at any parameters.

    Parameters
    ----------
    values : array (p,)
        Parameters as the model counts them.
    cov : array (p, p)
        Their covariance.
    levels : tuple of str, length J
        Outcomes of a model for categories; one empty name for other models.
    design : callable
        From a table to the matrix of its rows.
    mean : callable
        From parameters and a matrix (n, k), and an offset, to predicted means (n, J).
    """

    values: FloatArray
    cov: FloatArray
    levels: tuple[str, ...]
    design: Callable[[pd.DataFrame], FloatArray]
    mean: Callable[[FloatArray, FloatArray], FloatArray]

    def gradient(self, target: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Give the derivatives (q, p) of a vector target (q,) by the parameters, by central differences."""
        steps = 1e-5 * np.maximum(np.abs(self.values), np.sqrt(np.diagonal(self.cov)))
        shifts = np.diag(steps)
        columns = [target(self.values + shift) - target(self.values - shift) for shift in shifts]
        return np.asarray(np.stack(columns, axis=-1) / (2 * steps))

    def delta(self, target: Callable[[FloatArray], FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Target (q,) at the estimates and its covariance (q, q) by the delta method."""
        slope = self.gradient(target)
        return target(self.values), slope @ self.cov @ slope.T


def surface_of(fit: Any) -> Surface:
    """Read the surface of a fit.

    Raises
    ------
    FitError
        When the model has no formula or no predicted mean.
    """
    kind = type(getattr(fit, "model", None)).__name__
    if kind in _WITHOUT:
        raise FitError(
            f"{kind}: {_WITHOUT[kind]}; pool what you compute in each copy with apply()", kind="estimates"
        )
    if not hasattr(getattr(fit, "model", None), "formula"):
        raise FitError(
            f"{kind} was not fitted by a formula; pool what you compute with apply()", kind="estimates"
        )
    values, cov = _parameters(fit, kind)
    shape = np.shape(fit.params)

    def mean(at: FloatArray, X: FloatArray) -> FloatArray:
        arranged = at.reshape(shape, order="F") if kind == "MNLogit" else at
        found = np.asarray(fit.model.predict(arranged, X, **_offset(fit.model, len(X))), dtype=np.float64)
        return found.reshape(len(X), -1)

    return Surface(values, cov, _levels(fit, kind), lambda frame: _design(fit, frame), mean)


def _parameters(fit: Any, kind: str) -> tuple[FloatArray, FloatArray]:
    """Parameters and covariance; of a mixed model the fixed effects."""
    cov = np.asarray(fit.cov_params(), dtype=np.float64)
    if kind == "MixedLM":
        size = int(fit.k_fe)
        return np.asarray(fit.fe_params, dtype=np.float64), cov[:size, :size]
    return np.asarray(fit.params, dtype=np.float64).ravel(order="F"), cov


def _levels(fit: Any, kind: str) -> tuple[str, ...]:
    """Name the outcomes of a model for categories."""
    if kind == "MNLogit":
        return tuple(str(label) for _, label in sorted(fit.model._ynames_map.items()))  # noqa: SLF001 -- no public name for the outcome labels
    if kind == "OrderedModel":
        return tuple(str(label) for label in fit.model.labels)
    return ("",)


def _design(fit: Any, frame: pd.DataFrame) -> FloatArray:
    """Matrix of new rows, coded as in the fit."""
    # Formulas match the levels of a Categorical as a set, so unused ones would be refused.
    plain = _like_the_fit(fit, frame)
    named = plain.select_dtypes("category").columns
    found, _ = fit._transform_predict_exog(plain.astype(dict.fromkeys(named, object)), transform=True)  # noqa: SLF001 -- no public way to code new rows
    return np.asarray(found, dtype=np.float64)


def _like_the_fit(fit: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the columns of the model, under the names and in the units that it was fitted in."""
    own = getattr(fit.model.data, "frame", None)
    if not isinstance(own, pd.DataFrame):
        return frame
    found = {plain_name(str(name)): name for name in frame.columns}
    kept = {}
    for name in own.columns:
        source = name if name in frame.columns else found.get(plain_name(str(name)))
        if source is None:
            continue
        values = frame[source]
        counted = pd.api.types.is_float_dtype(own[name].dtype) and dated_kind(values) is not None
        kept[name] = days_of(values) if counted else values
    return pd.DataFrame(kept, index=frame.index)


def unpredictable(fit: Any, newdata: pd.DataFrame, error: BaseException) -> FitError:
    """Say which column or level of new rows the fit does not know."""
    own = getattr(fit.model.data, "frame", None)
    if not isinstance(own, pd.DataFrame):
        return FitError(told(error), kind="newdata")
    right = fit.model.formula.split("~", maxsplit=1)[-1]
    used = [str(name) for name in own.columns if str(name) in model_columns(right, map(str, own.columns))]
    plain = _like_the_fit(fit, newdata)
    absent = [name for name in used if name not in plain.columns]
    if absent:
        remedy = "give a column for each in the formula"
        return FitError(
            f"newdata has no column {absent[0]!r}", column=absent[0], kind="newdata", remedy=remedy
        )
    gaps = [name for name in used if plain[name].isna().any()]
    if gaps:
        what = f"{gaps[0]} has missing values in newdata"
        return FitError(what, column=gaps[0], kind="missing", remedy="drop those rows")
    for name in used:
        if isinstance(own[name].dtype, pd.CategoricalDtype):
            unseen = [
                level for level in plain[name].dropna().unique() if level not in set(own[name].dropna())
            ]
            if unseen:
                return _unseen(name, unseen[0], own[name].cat.categories)
    return FitError(told(error), kind="newdata")


def _unseen(name: str, level: Any, known: Iterable[Any]) -> FitError:
    """Say which level is new, and which there are: levels of synthetic copies."""
    levels = list(map(str, known))
    what = f"{name} is {str(level)!r} in newdata, a level that the copy does not have"
    remedy = meant(
        str(level), levels, f"levels are {', '.join(levels[:_SHOWN])}{' ...' * (len(levels) > _SHOWN)}"
    )
    return FitError(what, column=name, kind="level", remedy=remedy)


def _offset(model: Any, rows: int) -> dict[str, FloatArray]:
    """Offset of the model's own rows; new rows are predicted without one."""
    parts = [np.asarray(getattr(model, name, 0.0), dtype=np.float64) for name in ("offset", "exposure")]
    total = sum((part for part in parts if part.ndim == 1), start=np.zeros(()))
    return {"offset": total} if total.shape == (rows,) and np.any(total) else {}
