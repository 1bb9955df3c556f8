"""TOML in and out, with errors that name the file, the key and a near miss."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pysynthdp.base.errors import PysynthdpError
from pysynthdp.base.forms import unknown_key

__all__ = ["as_number", "read_toml", "refuse_unknown", "to_toml"]


def read_toml(path: Path, error: type[PysynthdpError]) -> dict[str, Any]:
    """Read a TOML file; ``error`` is raised with the file's name and the line."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror or type(problem).__name__}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise error(f"{path} is not TOML: {problem}") from problem


def refuse_unknown(
    given: Iterable[str], known: Collection[str], *, where: str, error: type[PysynthdpError]
) -> None:
    """Raise for a key that is not known and name the one that was probably meant.

    Examples
    --------
    >>> from pysynthdp.base.errors import PlanError
    >>> refuse_unknown(["metod"], ["method", "keep"], where="plan.toml", error=PlanError)
    Traceback (most recent call last):
    pysynthdp.base.errors.PlanError: plan.toml has an unknown key 'metod'; did you mean 'method'?
    """
    for key in given:
        if key not in known:
            raise unknown_key(key, known, where=where, error=error)


def as_number(text: Any) -> Any:
    """Read a text that looks like a number as one, whole if it is; anything else stays as it is.

    Examples
    --------
    >>> as_number("-8"), as_number("0.5"), as_number("x"), as_number(" 7")
    (-8, 0.5, 'x', ' 7')
    """
    if not isinstance(text, str) or text != text.strip() or "_" in text:
        return text
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if np.isfinite(value) else text
    return text


def to_toml(settings: Mapping[str, Any]) -> str:
    """Write settings: plain keys first, then one table for each mapping; keys with None are left out.

    Examples
    --------
    >>> print(to_toml({"proper": True, "method": {"my income": "norm"}}), end="")
    proper = true
    <BLANKLINE>
    [method]
    "my income" = "norm"
    """
    given = {key: value for key, value in settings.items() if value is not None}
    plain = [f"{_text(key)} = {_value(value)}\n" for key, value in given.items() if not _is_table(value)]
    tables = [
        f"\n[{_text(key)}]\n" + "".join(f"{_text(name)} = {_value(item)}\n" for name, item in value.items())
        for key, value in given.items()
        if _is_table(value)
    ]
    return "".join((*plain, *tables))


def _is_table(value: Any) -> bool:
    """Whether a value gets a table of its own."""
    return isinstance(value, Mapping)


def _value(value: Any) -> str:
    """Write one value in line."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, int | float):
        return repr(plain)
    if isinstance(plain, str):
        return _text(plain, always=True)
    if isinstance(plain, datetime | date):
        return plain.isoformat()
    if isinstance(plain, Mapping):
        return "{ " + ", ".join(f"{_text(key)} = {_value(item)}" for key, item in plain.items()) + " }"
    if isinstance(plain, Iterable):
        return "[" + ", ".join(_value(item) for item in plain) + "]"
    raise TypeError(type(plain).__name__)


def _text(text: Any, *, always: bool = False) -> str:
    """Write a key or text, quoted where TOML asks for it; its escapes are JSON's, but for the delete sign."""
    plain = str(text)
    bare = plain.isascii() and plain.replace("_", "").replace("-", "").isalnum()
    if bare and not always:
        return plain
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
