"""Checks of public settings that a guarantee is priced from."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Facts, Words

__all__ = ["as_number", "positive_setting", "public_range"]

SMALLEST = 1e-50  # its inverse times any number of rows can be squared in float64
LARGEST = 1 / SMALLEST


def as_number(value: Any) -> float:
    """Turn a number of any kind into a float; NaN for anything else, texts and truth values included.

    Notes
    -----
    Privacy: reads settings only.

    Examples
    --------
    >>> as_number(2), as_number("2"), as_number(True)
    (2.0, nan, nan)
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def positive_setting(model: str, setting: str, value: float | None) -> float:
    """Return a setting that must be a positive number which every table can be priced and fitted with.

    Raises
    ------
    PrivacyError
        If it is missing, outside its domain, or so small or large that one table would overflow where its
        neighbour does not; give it from public knowledge.

    Notes
    -----
    Privacy: reads settings only. How a fit ends must not depend on the records.

    Examples
    --------
    >>> positive_setting("gaussian", "sigma", 15)
    15.0
    """
    if value is None:
        remedy = Words("give {setting} from public knowledge", setting=Facts(**{setting: ...}))
        raise PrivacyError(f"{model} needs a public {setting}", kind="setting", remedy=remedy)
    number = as_number(value)
    if not 0 < number < math.inf:
        raise PrivacyError(
            f"{model}: {setting} must be a positive finite number", kind="setting", remedy="change it"
        )
    if not SMALLEST <= number <= LARGEST:
        wrong = f"below {SMALLEST:g}, too small" if number < SMALLEST else f"above {LARGEST:g}, too large"
        raise PrivacyError(
            f"{model}: {setting} is {wrong} to compute with on every table",
            kind="setting",
            remedy="change it",
        )
    return number


def public_range(model: str, column: str, lower: float | None, upper: float | None) -> tuple[float, float]:
    """Return declared bounds that must be finite and in order.

    Raises
    ------
    PrivacyError
        If they are not declared; the message names the column and what to declare.

    Notes
    -----
    Privacy: reads the schema only.

    Examples
    --------
    >>> public_range("ridge", "age", 0, 100)
    (0.0, 100.0)
    """
    if lower is None or upper is None or not -math.inf < lower < upper < math.inf:
        what = Words("{column}: method '{model}' needs finite declared bounds", column=column, model=model)
        remedy = Words("declare {facts}", facts=Facts(lower=..., upper=...))
        raise PrivacyError(what, column=column, kind="bounds", remedy=remedy)
    return float(lower), float(upper)
