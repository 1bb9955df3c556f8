"""Domain checks of the privacy formulas, and rounding that never makes a loss look smaller.

A formula outside its domain raises a PrivacyError that says what to change; it never gives a NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import as_number
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Said, Words

__all__ = [
    "bounds",
    "checked_deltas",
    "checked_orders",
    "count",
    "downward",
    "nonnegative",
    "order",
    "positive",
    "positive_definite",
    "probability",
    "real",
    "upward",
    "whole",
]

_DELTAS: Final = Said("deltas=(1e-6,)", "deltas = [1e-6]", "deltas = 1e-6")
_SLACK = 2.0**-50
_LARGEST_COUNT = 2**53


def upward(value: float) -> float:
    """Round a loss up by four units in the last place, so that float rounding cannot understate it."""
    return value + abs(value) * _SLACK


def downward(value: float) -> float:
    """Round a permitted amount down by four units in the last place."""
    return value - abs(value) * _SLACK


def real(name: str, value: float) -> float:
    """Return a finite number or say which argument is not one; a text or a truth value is no number."""
    number = as_number(value)
    if math.isnan(number) and not isinstance(value, float):
        raise PrivacyError(f"{name} must be a number, not a text or a truth value", kind="domain")
    if not math.isfinite(number):
        raise PrivacyError(f"{name} must be finite", kind="domain", remedy="give a public constant")
    return number


def positive(name: str, value: float) -> float:
    """Return a finite number above zero."""
    number = real(name, value)
    if number <= 0:
        raise PrivacyError(f"{name} must be above zero", kind="domain")
    return number


def nonnegative(name: str, value: float) -> float:
    """Return a finite number of at least zero."""
    number = real(name, value)
    if number < 0:
        raise PrivacyError(f"{name} must be at least zero", kind="domain")
    return number


def probability(name: str, value: float) -> float:
    """Return a number strictly between zero and one."""
    number = real(name, value)
    if not 0 < number < 1:
        raise PrivacyError(f"{name} must lie strictly between 0 and 1", kind="domain")
    return number


def checked_deltas(deltas: Any) -> tuple[float, ...]:
    """Return at least one delta, each strictly between zero and one."""
    if isinstance(deltas, str | bytes) or not isinstance(deltas, Sequence) or not deltas:
        mend = Words("give for example {deltas}", deltas=_DELTAS)
        raise PrivacyError("deltas must be a list of numbers", kind="setting", remedy=mend)
    return tuple(probability("each of deltas", delta) for delta in deltas)


def whole(name: str, value: float, least: int = 0) -> int:
    """Return a whole number of at least ``least``, exact in float64."""
    number = real(name, value)
    if number != math.floor(number):
        raise PrivacyError(f"{name} must be a whole number", kind="domain")
    if not least <= number <= _LARGEST_COUNT:
        raise PrivacyError(f"{name} must be at least {least} and at most 2**53", kind="domain")
    return int(value)


def count(name: str, value: float) -> int:
    """Return a whole number of at least one."""
    return whole(name, value, 1)


def bounds(lower: float, upper: float) -> float:
    """Return the width of a public range; both ends finite and in order."""
    width = real("upper", upper) - real("lower", lower)
    if width <= 0:
        raise PrivacyError(
            "upper must exceed lower", kind="domain", remedy="give the public range of the column"
        )
    return real("the width of the range", width)


def order(value: float) -> float:
    """Return a finite Renyi order above one."""
    number = real("order", value)
    if number <= 1:
        raise PrivacyError("a Renyi order must exceed 1", kind="domain")
    return number


def checked_orders(orders: FloatArray | float) -> FloatArray:
    """Return Renyi orders as an array, each above one; ``inf`` is allowed."""
    array = np.asarray(orders, dtype=np.float64)
    if not bool(np.all(array > 1)):
        raise PrivacyError("every Renyi order must exceed 1", kind="domain")
    return array


def positive_definite(name: str, matrix: FloatArray) -> FloatArray:
    """Return a symmetric positive definite matrix."""
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not bool(np.all(np.isfinite(array))):
        raise PrivacyError(f"{name} must be a finite square matrix", kind="domain")
    if not np.allclose(array, array.T) or float(np.linalg.eigvalsh(array)[0]) <= 0:
        raise PrivacyError(
            f"{name} must be symmetric and positive definite",
            kind="domain",
            remedy="add a public ridge",
        )
    return array
