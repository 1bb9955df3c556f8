"""The card of settings: one line each that differs from its default."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import pandas as pd

from pysynthdp.base.display import Table
from pysynthdp.schema import Schema
from pysynthdp.synthesizer.settings import Settings

__all__ = ["settings_table"]

_LONGEST = 400  # letters of a setting on the card


def settings_table(settings: Settings) -> Table:
    """Build the card: one line a setting that differs from its default; it holds nothing of any table."""
    changed = _changed(settings)
    facts = [(name, _line(name, value)) for name, value in changed.items()]
    rest = ", ".join(each.name for each in fields(settings) if each.name not in changed)
    facts += [("at their defaults", rest)] if rest else []
    notes = ("fit(table) fits it; plan(table) shows who would be drawn from whom.",)
    return Table("Synthesizer, not fitted", facts=tuple(facts), notes=notes)


def _changed(settings: Any) -> dict[str, Any]:
    """Take the fields of a dataclass that differ from their defaults, by name."""
    given = {each.name: (getattr(settings, each.name), each) for each in fields(settings) if each.init}
    return {name: value for name, (value, each) in given.items() if not _is_default(value, each)}


def _is_default(value: Any, setting: Field[Any]) -> bool:
    """Whether nothing was set: empty lists and mappings count as nothing, of whatever type."""
    if isinstance(value, Mapping | tuple | list) and not value:
        return True
    default = setting.default
    return default is not MISSING and type(value) is type(default) and bool(value == default)


def _line(name: str, value: Any) -> str:
    """Write a setting as it was typed; levels, which may come from a table, by their columns alone."""
    if isinstance(value, pd.DataFrame):
        return f"a matrix for {', '.join(map(str, value.index))}"
    if isinstance(value, Schema):
        return f"declared for {', '.join(value.names)}"
    if name in ("levels", "spikes"):
        return f"declared for {', '.join(map(str, value))}"
    return textwrap.shorten(_typed(value), _LONGEST, placeholder=" ...")


def _typed(value: Any) -> str:
    """Write a value as a call or literal; of a dataclass only what differs from its defaults."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_typed(each)}" for key, each in value.items()) + "}"
    if not is_dataclass(value):
        return repr(value)
    inside = (f"{name}={_typed(each)}" for name, each in _changed(value).items())
    return f"{type(value).__name__}({', '.join(inside)})"
