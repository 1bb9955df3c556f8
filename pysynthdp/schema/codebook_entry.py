"""One entry of a codebook, as texts or TOML values, to a column of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.toml_text import as_number, refuse_unknown
from pysynthdp.schema.columns import CategoricalColumn, Column, NumericColumn

__all__ = ["KEYS", "column_of"]

KEYS = (
    "name", "kind", "type", "unit", "lower", "upper", "decimals", "levels", "values", "ordered", "other",
    "missing", "may_be_missing", "spikes", "fallback", "declared", "step",
)  # fmt: skip
_BESIDE = ("released", "method", "note")  # what a release adds, and a schema does not need
_IGNORED = (*_BESIDE, "name", "kind", "values")
_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_KINDS = {"numeric": "numeric", "number": "numeric", "date": "numeric", "categorical": "categorical"}
_NUMERIC = ("type", "unit", "lower", "upper", "decimals", "missing", "may_be_missing", "spikes", "fallback",
            "declared", "step")  # fmt: skip
_CATEGORICAL = ("type", "levels", "ordered", "other", "missing", "may_be_missing", "declared")


def column_of(name: str, entry: Mapping[str, Any], *, where: str) -> Column:
    """Make a column from a codebook's entry.

    Parameters
    ----------
    name : str
        Column name.
    entry : mapping
        Keys as in :data:`KEYS`; values may be texts.
    where : str
        The file, for messages.

    Raises
    ------
    SchemaError
        For an unknown key, a key that the kind does not have, or a value that cannot be read.
    """
    at = f"{where}: {name}"
    refuse_unknown(entry, (*KEYS, *_BESIDE), where=at, error=SchemaError)
    kind = _kind(entry, at)
    own = _NUMERIC if kind == "numeric" else _CATEGORICAL
    wrong = [key for key in entry if key not in own and key not in _IGNORED]
    if wrong:
        raise SchemaError(
            f"{at} is {kind}, which has no {wrong[0]}; leave it out or change kind", kind="codebook"
        )
    given = {key: entry[key] for key in own if key in entry}
    return _numeric(name, given, at) if kind == "numeric" else _categorical(name, given, entry, at)


def _kind(entry: Mapping[str, Any], at: str) -> str:
    """Numeric or categorical: as said, else by whether there are levels."""
    said = entry.get("kind")
    if said is None:
        return "categorical" if "levels" in entry else "numeric"
    if said not in _KINDS:
        raise SchemaError(f"{at}: kind must be numeric or categorical", kind="codebook")
    return _KINDS[said]


def _numeric(name: str, given: dict[str, Any], at: str) -> NumericColumn:
    """Make a numeric column; all its values are numbers."""
    own = ("lower", "upper", "decimals", "fallback", "step")
    numbers: dict[str, Any] = {key: _number(given[key], key, at) for key in own if key in given}
    spikes = [_number(spike, "spikes", at) for spike in _list(given.get("spikes", []), "spikes", at)]
    codes = {_number(c, "missing", at): str(label) for c, label in _codes(given.get("missing", {}), at)}
    shared = _shared(given, at)
    return NumericColumn(
        name, missing=codes, spikes=spikes, unit=given.get("unit", "number"), **numbers, **shared
    )


def _categorical(name: str, given: dict[str, Any], entry: Mapping[str, Any], at: str) -> CategoricalColumn:
    """Make a categorical column; texts become what ``values`` or the type says."""
    shared = _shared(given, at)
    values = entry.get("values") or _values_of(shared.get("dtype"))
    levels = [_level(level, values, at) for level in _list(given.get("levels", []), "levels", at)]
    codes = {_level(c, values, at): str(label) for c, label in _codes(given.get("missing", {}), at)}
    other = _level(given["other"], values, at) if "other" in given else None
    ordered = _flag(given.get("ordered", False), "ordered", at)
    return CategoricalColumn(name, levels, ordered=ordered, other=other, missing=codes, **shared)


def _shared(given: Mapping[str, Any], at: str) -> dict[str, Any]:
    """Read what both kinds have."""
    shared: dict[str, Any] = {
        key: _flag(given[key], key, at) for key in ("may_be_missing", "declared") if key in given
    }
    return shared | ({"dtype": given["type"]} if "type" in given else {})


def _values_of(dtype: Any) -> str:
    """Say what the levels are by the column's type: texts unless it says otherwise."""
    name = str(dtype or "").lower()
    if name.startswith("bool"):
        return "yes/no"
    return "number" if name.startswith(("int", "uint", "float")) else "text"


def _level(value: Any, values: str, at: str) -> Any:
    """Read one level; TOML's own numbers, flags and times are taken as they are."""
    if not isinstance(value, str):
        return value
    if values in ("text", ""):
        return value
    if values == "yes/no":
        return _flag(value, "levels", at)
    if values in ("number", "mixed"):
        return as_number(value)
    if values == "time":
        return pd.Timestamp(value)
    raise SchemaError(f"{at}: values must be text, number, yes/no, time or mixed", kind="codebook")


def _number(value: Any, key: str, at: str) -> Any:
    """Read a number."""
    number = as_number(value.strip() if isinstance(value, str) else value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise SchemaError(f"{at}: {key} must be a number", kind="codebook")
    return number


def _flag(value: Any, key: str, at: str) -> bool:
    """Read yes or no."""
    if isinstance(value, bool):
        return value
    if str(value).strip().lower() not in _FLAGS:
        raise SchemaError(f"{at}: {key} must be yes or no", kind="codebook")
    return _FLAGS[str(value).strip().lower()]


def _list(value: Any, key: str, at: str) -> list[Any]:
    """Take a list."""
    if not isinstance(value, list):
        raise SchemaError(f"{at}: {key} must be a list", kind="codebook")
    return value


def _codes(value: Any, at: str) -> list[tuple[Any, Any]]:
    """Take codes with labels, or codes alone."""
    if isinstance(value, Mapping):
        return list(value.items())
    return [(code, code) for code in _list(value, "missing", at)]
