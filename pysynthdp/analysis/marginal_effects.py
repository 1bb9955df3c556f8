"""Average marginal effects of the variables of a formula, for any model with a predicted mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.choose import model_columns
from pysynthdp.analysis.surface import Surface, surface_of
from pysynthdp.base.arrays import FloatArray

__all__ = ["average_effects"]

_STEP = 1e-4  # of a standard deviation: the error of a central difference is then about 1e-8 of the effect


def average_effects(fit: Any) -> tuple[tuple[str, ...], tuple[FloatArray, FloatArray]]:
    """Average effect of every variable on the right of the formula over the rows of one fit.

    A number is moved, a factor is set to each level in turn and compared with its first; interactions and
    splines follow, since the variable is moved and not a column of the design. Variances are by the delta
    method for the rows as they are, as in statsmodels.

    Returns
    -------
    names, (values, variances)
        ``x``, ``g[b - a]``; with an outcome in front (``level:x``) for models of categories.
    """
    surface = surface_of(fit)
    frame = fit.model.data.frame.loc[fit.model.data.row_labels]
    right = fit.model.formula.split("~", maxsplit=1)[-1]
    names: list[str] = []
    values: list[FloatArray] = []
    variances: list[FloatArray] = []
    for variable in frame.columns:
        if str(variable) not in model_columns(right, [str(variable)]):
            continue
        for label, target in _targets(surface, frame, str(variable), right):
            value, cov = surface.delta(target)
            names += [f"{level}:{label}" if level else label for level in surface.levels]
            values.append(value)
            variances.append(np.diagonal(cov))
    return tuple(names), (np.concatenate(values), np.concatenate(variances))


def _targets(
    surface: Surface, frame: pd.DataFrame, variable: str, right: str
) -> list[tuple[str, Callable[[FloatArray], FloatArray]]]:
    """Give a label and the effect as a function of the parameters, for each effect of a variable."""
    column = frame[variable]
    if not _is_factor(column, variable, right):
        return [(variable, _slope(surface, frame, variable))]
    levels = _levels(column)
    designs = [surface.design(_with(frame, variable, level)) for level in levels]
    return [
        (f"{variable}[{level} - {levels[0]}]", _difference(surface, design, designs[0], np.ones(len(frame))))
        for level, design in zip(levels[1:], designs[1:], strict=True)
    ]


def _is_factor(column: pd.Series[Any], variable: str, right: str) -> bool:
    """Whether the formula takes a column as a factor."""
    wrapped = re.search(rf"\bC\(\s*{re.escape(variable)}\s*[,)]", right)
    number = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return wrapped is not None or not number


def _levels(column: pd.Series[Any]) -> list[Any]:
    """Levels that occur, in their order."""
    found = set(column.dropna().unique())
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [level for level in column.cat.categories if level in found]
    return sorted(found)


def _with(frame: pd.DataFrame, variable: str, level: Any) -> pd.DataFrame:
    """Set a column to one level in all rows."""
    moved = frame.copy(deep=False)
    moved[variable] = pd.Series([level] * len(frame), index=frame.index, dtype=frame[variable].dtype)
    return moved


def _slope(surface: Surface, frame: pd.DataFrame, variable: str) -> Callable[[FloatArray], FloatArray]:
    """Mean derivative by a number, by central differences that stay inside its range, as splines need."""
    x = frame[variable].to_numpy(dtype=np.float64)
    step = _STEP * (float(x.std()) or 1.0)
    up, down = np.minimum(x + step, x.max()), np.maximum(x - step, x.min())
    if x.max() == x.min():
        up, down = x + step, x - step
    high, low = (surface.design(frame.assign(**{variable: moved})) for moved in (up, down))
    return _difference(surface, high, low, up - down)


def _difference(
    surface: Surface, high: FloatArray, low: FloatArray, span: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Mean over the rows of (predicted at high - predicted at low)/span, outcome by outcome."""

    def target(at: FloatArray) -> FloatArray:
        moved = surface.mean(at, high) - surface.mean(at, low)
        return np.asarray((moved / span[:, None]).mean(axis=0))

    return target
