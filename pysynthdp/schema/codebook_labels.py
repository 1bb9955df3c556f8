"""What a labelled file says of a column, as entries of a codebook: CSV or TOML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.forms import LIST, NUMBER, Place
from pysynthdp.base.toml_text import as_number
from pysynthdp.schema.labels import Kind, Labels, as_tag

__all__ = ["LABEL_KEYS", "labels_entry", "labels_of"]

LABEL_KEYS: Final = ("label", "codes", "kinds", "missing_range", "measure", "width", "format", "source")
_TEXTS: Final = ("label", "measure", "format", "source")
_OPEN: Final = {"lowest": -math.inf, "highest": math.inf}


def labels_of(given: Mapping[str, Any], at: Place) -> Labels | None:
    """Read the labels of a codebook's entry; None where it has none.

    Raises
    ------
    SchemaError
        For a key that cannot be read.
    """
    if not any(key in given for key in LABEL_KEYS):
        return None
    texts: dict[str, Any] = {key: str(given[key]) for key in _TEXTS if key in given}
    width = NUMBER.take(given["width"], at.part("width")) if "width" in given else None
    span = LIST.take(given["missing_range"], at.part("missing_range")) if "missing_range" in given else None
    kinds = LIST.take(given.get("kinds", []), at.part("kinds"))
    return Labels(
        codes=tuple((_code(code), str(label)) for code, label in _pairs(given.get("codes", {}), at)),
        kinds=tuple(_missing_kind(kind, at.part("kinds")) for kind in kinds),
        missing_range=None if span is None else _span(span, at.part("missing_range")),
        width=None if width is None else int(width),
        **texts,
    )


def _pairs(value: Any, at: Place) -> list[tuple[Any, Any]]:
    """Take codes with their labels."""
    if isinstance(value, Mapping):
        return list(value.items())
    raise SchemaError(f"{at.at}: codes must have labels", kind="codebook", remedy="write 1 = Yes | 2 = No")


def _code(value: Any) -> Any:
    """Read a code: a number, or a text; a text in quotes where it would be a number without."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return as_number(value) if isinstance(value, str) else value


def _missing_kind(value: Any, at: Place) -> Kind:
    """Read tag, code and label of a missing kind."""
    parts = LIST.take(value, at)
    if len(parts) != 3:
        raise SchemaError(
            f"{at.at}: a missing kind is a tag, a code and a label",
            kind="codebook",
            remedy="write .a = -8 = refused, with nothing before the first sign if it has no tag",
        )
    tag, code, label = parts
    return Kind(as_tag(tag) or tag or None, None if code in ("", None) else _code(code), str(label))


def _span(ends: list[Any], at: Place) -> tuple[float, float]:
    """Read a range of codes."""
    if len(ends) != 2:
        raise SchemaError(
            f"{at.at} must be two numbers", kind="codebook", remedy="write 97 | 99, or lowest | -1"
        )
    low, high = (NUMBER.take(_OPEN.get(end, end) if isinstance(end, str) else end, at) for end in ends)
    return low, high


def labels_entry(labels: Labels | None, escaped: Any) -> dict[str, Any]:
    """Write labels as cells of a CSV codebook; what is not said is left out.

    Parameters
    ----------
    labels : Labels, optional
        Of a column.
    escaped : function of a value
        Writes it so that the separators stay readable.
    """
    if labels is None:
        return {}
    entry: dict[str, Any] = {key: getattr(labels, key) for key in (*_TEXTS, "width") if getattr(labels, key)}
    if labels.codes:
        pairs = (f"{escaped(_quoted(code))} = {escaped(text)}" for code, text in labels.codes)
        entry["codes"] = " | ".join(pairs)
    if labels.kinds:
        entry["kinds"] = " | ".join(
            f"{kind.tag or ''} = {escaped(_quoted(kind.code))} = {escaped(kind.label)}".strip()
            for kind in labels.kinds
        )
    if labels.missing_range is not None:
        low, high = labels.missing_range
        names = {end: name for name, end in _OPEN.items()}
        entry["missing_range"] = f"{names.get(low, low)} | {names.get(high, high)}"
    return entry


def _quoted(code: Any) -> Any:
    """Put a text in quotes that would be read as a number, or as quoted."""
    if code is None:
        return ""
    bare = not isinstance(code, str) or (isinstance(as_number(code), str) and not code.startswith('"'))
    return code if bare and code != "" else f'"{code}"'
