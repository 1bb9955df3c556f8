"""Checks of public settings that a guarantee is priced from."""

from __future__ import annotations

import math

from pysynthdp.errors import PrivacyError

__all__ = ["positive_setting", "public_range"]


def positive_setting(model: str, setting: str, value: float | None) -> float:
    """Return a setting that must be a positive finite number.

    Raises
    ------
    PrivacyError
        If it is missing or outside its domain; give it from public knowledge.

    Notes
    -----
    Privacy: reads settings only.

    Examples
    --------
    >>> positive_setting("gaussian", "sigma", 15)
    15.0
    """
    if value is None:
        raise PrivacyError(f"{model} needs a public {setting}; give {setting}=... from public knowledge")
    if isinstance(value, bool) or not (math.isfinite(value) and value > 0):
        raise PrivacyError(f"{model}: {setting} must be a positive finite number; change it")
    return float(value)


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
        raise PrivacyError(
            f"{column}: method {model!r} needs finite declared bounds; give lower= below upper="
        )
    return float(lower), float(upper)
