"""Take one value of a plan file in its form, or say by name what it must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pandas as pd

from pysynthdp.base.errors import PlanError

__all__ = [
    "Reader",
    "by_column",
    "flag_of",
    "list_of",
    "names_of",
    "pair_of",
    "table_of",
    "text_of",
    "whole_of",
]

Reader: TypeAlias = Callable[[Any, str], Any]


def text_of(value: Any, at: str) -> str:
    """Take a text."""
    if not isinstance(value, str):
        raise PlanError(f"{at} must be a text", kind="plan file")
    return value


def flag_of(value: Any, at: str) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise PlanError(f"{at} must be true or false", kind="plan file")
    return value


def names_of(value: Any, at: str) -> list[str]:
    """Take a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PlanError(f"{at} must be a list of texts, [...]", kind="plan file")
    return value


def list_of(value: Any, at: str) -> list[Any]:
    """Take a list of plain values; TOML's times become pandas' own."""
    if not isinstance(value, list):
        raise PlanError(f"{at} must be a list, [...]", kind="plan file")
    return [pd.Timestamp(item) if hasattr(item, "isoformat") else item for item in value]


def table_of(value: Any, at: str) -> dict[str, Any]:
    """Take a table."""
    if not isinstance(value, dict):
        raise PlanError(
            f"{at} must be a table, [{at.rsplit(': ', maxsplit=1)[-1]}] or {{...}}", kind="plan file"
        )
    return value


def by_column(item: Reader) -> Reader:
    """Make a reader of a table column -> item."""
    return lambda value, at: {name: item(part, f"{at}.{name}") for name, part in table_of(value, at).items()}


def pair_of(value: Any, at: str) -> tuple[Any, Any]:
    """Take [lower, upper]; an infinite one means none."""
    pair = value if isinstance(value, list) else []
    if len(pair) != 2 or any(isinstance(bound, str | bool | list | dict) for bound in pair):
        raise PlanError(f"{at} must be [lower, upper]; write -inf or inf for none", kind="plan file")
    low, high = (None if isinstance(bound, float) and abs(bound) == float("inf") else bound for bound in pair)
    return low, high


def whole_of(value: Any, at: str) -> int:
    """Take a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise PlanError(f"{at} must be a whole number", kind="plan file")
    return value
