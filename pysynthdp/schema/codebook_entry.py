"""One entry of a codebook, as texts or TOML values, to a column of a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import pandas as pd

from pysynthdp.base.errors import PysynthdpError, SchemaError
from pysynthdp.base.forms import FLAG, LIST, NUMBER, Notation, Place
from pysynthdp.base.toml_text import as_number, refuse_unknown
from pysynthdp.schema.codebook_labels import LABEL_KEYS, labels_of
from pysynthdp.schema.columns import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.labels import as_tag

__all__ = ["KEYS", "column_of"]

KEYS = (
    "name", "kind", "type", "unit", "lower", "upper", "decimals", "levels", "values", "ordered", "other",
    "missing", "may_be_missing", "spikes", "fallback", "declared", "step", "offset",
    *LABEL_KEYS,
)  # fmt: skip
_BESIDE = ("released", "method", "note")  # what a release adds, and a schema does not need
_IGNORED = (*_BESIDE, "name", "kind", "values")
_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_KINDS = {"numeric": "numeric", "number": "numeric", "date": "numeric", "categorical": "categorical"}
_NUMERIC = ("type", "unit", "lower", "upper", "decimals", "missing", "may_be_missing", "spikes", "fallback",
            "declared", "step", "offset", *LABEL_KEYS)  # fmt: skip
_CATEGORICAL = ("type", "levels", "ordered", "other", "missing", "may_be_missing", "declared", *LABEL_KEYS)


def _number(value: Any, place: Place) -> Any:
    """Give a number that may be a text."""
    del place
    return as_number(value.strip() if isinstance(value, str) else value)


def _flag(value: Any, place: Place) -> Any:
    """Give yes or no, however it is written."""
    del place
    return value if isinstance(value, bool) else _FLAGS.get(str(value).strip().lower())


class _Codebook(Notation):
    """Facts of a column in a codebook, whose cells are texts."""

    kind: ClassVar[str] = "codebook"
    error: ClassVar[type[PysynthdpError]] = SchemaError
    words: ClassVar[Mapping[str, tuple[str, str | None]]] = {
        "number": ("{at} must be a number", None),
        "flag": ("{at} must be yes or no", None),
        "list": ("{at} must be a list", None),
    }
    converters: ClassVar[Mapping[str, Callable[[Any, Place], Any]]] = {"number": _number, "flag": _flag}

    def part(self, at: str, name: str) -> str:
        """Say at which key of a column."""
        return f"{at}: {name}"


_CODEBOOK: Final = _Codebook()


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
    at = _CODEBOOK.at(f"{where}: {name}")
    refuse_unknown(entry, (*KEYS, *_BESIDE), where=at.at, error=SchemaError)
    kind = _kind(entry, at)
    own = _NUMERIC if kind == "numeric" else _CATEGORICAL
    wrong = [key for key in entry if key not in own and key not in _IGNORED]
    if wrong:
        raise SchemaError(
            f"{at.at} is {kind}, which has no {wrong[0]}; leave it out or change kind", kind="codebook"
        )
    given = {key: entry[key] for key in own if key in entry}
    return _numeric(name, given, at) if kind == "numeric" else _categorical(name, given, entry, at)


def _kind(entry: Mapping[str, Any], at: Place) -> str:
    """Numeric or categorical: as said, else by whether there are levels."""
    said = entry.get("kind")
    if said is None:
        return "categorical" if "levels" in entry else "numeric"
    if said not in _KINDS:
        raise SchemaError(f"{at.at}: kind must be numeric or categorical", kind="codebook")
    return _KINDS[said]


def _numeric(name: str, given: dict[str, Any], at: Place) -> NumericColumn:
    """Make a numeric column; all its values are numbers."""
    own = ("lower", "upper", "decimals", "fallback", "step", "offset")
    numbers: dict[str, Any] = {key: NUMBER.take(given[key], at.part(key)) for key in own if key in given}
    listed = LIST.take(given.get("spikes", []), at.part("spikes"))
    spikes = [NUMBER.take(spike, at.part("spikes")) for spike in listed]
    coded = _codes(given.get("missing", {}), at)
    codes = {as_tag(code) or NUMBER.take(code, at.part("missing")): str(label) for code, label in coded}
    shared = _shared(given, at)
    if "missing" not in given and shared["labels"] is not None:
        texts = shared["labels"].texts()
        codes = {kind.tag: texts[kind.own] for kind in shared["labels"].kinds if kind.tag}
    return NumericColumn(
        name, missing=codes, spikes=spikes, unit=given.get("unit", "number"), **numbers, **shared
    )


def _categorical(name: str, given: dict[str, Any], entry: Mapping[str, Any], at: Place) -> CategoricalColumn:
    """Make a categorical column; texts become what ``values`` or the type says."""
    shared = _shared(given, at)
    values = entry.get("values") or _values_of(shared.get("dtype"))
    levels = [_level(level, values, at) for level in LIST.take(given.get("levels", []), at.part("levels"))]
    codes = {_level(c, values, at): str(label) for c, label in _codes(given.get("missing", {}), at)}
    if "missing" not in given and shared["labels"] is not None:
        texts = shared["labels"].texts()
        codes = {texts[kind.own]: texts[kind.own] for kind in shared["labels"].kinds}
    other = _level(given["other"], values, at) if "other" in given else None
    ordered = FLAG.take(given.get("ordered", False), at.part("ordered"))
    return CategoricalColumn(name, levels, ordered=ordered, other=other, missing=codes, **shared)


def _shared(given: Mapping[str, Any], at: Place) -> dict[str, Any]:
    """Read what both kinds have."""
    shared: dict[str, Any] = {
        key: FLAG.take(given[key], at.part(key)) for key in ("may_be_missing", "declared") if key in given
    }
    if "type" in given:
        shared["dtype"] = given["type"]
    shared["labels"] = labels_of(given, at)
    return shared


def _values_of(dtype: Any) -> str:
    """Say what the levels are by the column's type: texts unless it says otherwise."""
    name = str(dtype or "").lower()
    if name.startswith("bool"):
        return "yes/no"
    return "number" if name.startswith(("int", "uint", "float")) else "text"


def _level(value: Any, values: str, at: Place) -> Any:
    """Read one level; TOML's own numbers, flags and times are taken as they are."""
    if not isinstance(value, str):
        return value
    if values in ("text", ""):
        return value
    if values == "yes/no":
        return FLAG.take(value, at.part("levels"))
    if values in ("number", "mixed"):
        return as_number(value)
    if values == "time":
        return pd.Timestamp(value)
    raise SchemaError(f"{at.at}: values must be text, number, yes/no, time or mixed", kind="codebook")


def _codes(value: Any, at: Place) -> list[tuple[Any, Any]]:
    """Take codes with labels, or codes alone."""
    if isinstance(value, Mapping):
        return list(value.items())
    return [(code, code) for code in LIST.take(value, at.part("missing"))]
