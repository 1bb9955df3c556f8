"""Settings of a protection as plain values: what plan files and R hold, and what they may not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

from pysynthdp.base.errors import PlanError
from pysynthdp.base.slips import unknown_setting
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["common_settings", "deltas_from_plain", "plain_unit", "refuse_unknown_settings", "unit_from_plain"]


def refuse_unknown_settings(given: Mapping[str, Any], known: Iterable[str], at: str) -> None:
    """Refuse a setting that a protection does not have; a near miss is named."""
    names = list(known)
    for key in given:
        if key not in names:
            raise unknown_setting(key, names, at)


def unit_from_plain(value: Any, at: str) -> PrivacyUnit:
    """Take ``{relation = ..., rows_per_unit = ..., name = ...}``."""
    if not isinstance(value, Mapping):
        raise PlanError(
            f'{at} must be a table such as {{name = "person", rows_per_unit = 1}}', kind="setting"
        )
    refuse_unknown_settings(value, [item.name for item in fields(PrivacyUnit)], at)
    return PrivacyUnit(**value)


def plain_unit(unit: PrivacyUnit) -> dict[str, Any]:
    """Write what :func:`unit_from_plain` reads, without what is not set."""
    own = {item.name: getattr(unit, item.name) for item in fields(unit)}
    return {name: value for name, value in own.items() if value is not None}


def deltas_from_plain(value: Any, at: str) -> tuple[float, ...]:
    """Take a number or a list of numbers."""
    items = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(item, bool) or not isinstance(item, int | float) for item in items):
        raise PlanError(f"{at} must be a list of numbers between 0 and 1, such as [1e-6]", kind="setting")
    return tuple(float(item) for item in items)


def _names(value: Any, at: str) -> tuple[str, ...]:
    """Take a text or a list of texts."""
    items = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(item, str) for item in items):
        raise PlanError(f"{at} must be a list of texts", kind="setting")
    return tuple(items)


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "unit": unit_from_plain,
    "deltas": deltas_from_plain,
    "outside": _names,
}


def common_settings(given: Mapping[str, Any], at: str) -> dict[str, Any]:
    """Read the settings that every guarantee may have: unit, deltas, outside."""
    return {name: read(given[name], f"{at}.{name}") for name, read in _READERS.items() if name in given}
