"""How settings stand in TOML: texts, lists and tables as they are, and what a message says of them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import pandas as pd

from pysynthdp.base.forms import Notation, Place

__all__ = ["Toml"]

_TABLE: Final = ("{at} must be a table, [{key}] or {{...}}", None)
_TEXT: Final = ("{at} must be a text", None)
_LIST: Final = ("{at} must be a list, [...]", None)


def _values(value: Any, place: Place) -> Any:
    """TOML's times become pandas' own."""
    del place
    listed = isinstance(value, list)
    return [pd.Timestamp(item) if hasattr(item, "isoformat") else item for item in value] if listed else value


def _codes(value: Any, place: Place) -> Any:
    """Codes alone are their own labels."""
    alone = isinstance(value, list)
    return {code: str(code) for code in _values(value, place)} if alone else value


@dataclass(frozen=True)
class Toml(Notation):
    """Settings in a TOML file.

    Parameters
    ----------
    folder : Path
        Of the file: other files are named from there.
    """

    folder: Path
    kind: ClassVar[str] = "plan file"
    words: ClassVar[Mapping[str, tuple[str, str | None]]] = {
        "text": _TEXT,
        "flag": ("{at} must be true or false", None),
        "whole number": ("{at} must be a whole number", None),
        "names": ("{at} must be a list of texts, [...]", None),
        "list": _LIST,
        "pair": ("{at} must be [lower, upper]; write -inf or inf for none", None),
        "codes": _TABLE,
        "by column": _TABLE,
        "model": _TABLE,
        "name of a model": _TEXT,
        "model as set": ("{at}: {model} cannot be made with these settings", "see its documentation"),
        "steps": _LIST,
        "step": _TABLE,
        "half a step": ("{at} needs columns and method", None),
        "number": ("{at} must be a number", None),
        "design": _TABLE,
        "guarantee": _TABLE,
        "name of a guarantee": _TEXT,
        "schema": _TEXT,
    }

    converters: ClassVar[Mapping[str, Callable[[Any, Place], Any]]] = {"list": _values, "codes": _codes}

    def plain(self, form: str, value: Any, place: Place) -> Any:
        """Give what the file holds as a plain value; a path from where the file is."""
        if form == "schema" and isinstance(value, str):
            return self.folder / value
        return super().plain(form, value, place)
