"""A plan as a TOML file: a Synthesizer's settings, to be reviewed and checked before data are touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from pysynthdp.errors import PlanError
from pysynthdp.io.codebook import read_codebook
from pysynthdp.io.toml_text import as_number, read_toml, refuse_unknown, to_toml
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["read_plan", "settle_codes", "write_plan"]

Reader: TypeAlias = Callable[[Any, str], Any]


def read_plan(path: str | Path, *, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read settings of a Synthesizer from TOML.

    Parameters
    ----------
    path : path
        Keys: ``method, visit_sequence, predictors, formulas, missing, spikes, bounds, decimals, levels,
        keep, drop, proper, emit_original, joint, guarantee``, and ``codebook``, a path relative to the file.
    dtypes : mapping column -> pandas dtype, optional
        Of the table; codes of text columns then stay texts. Without it, what looks like a number is one.

    Returns
    -------
    dict
        Keyword settings of :class:`pysynthdp.Synthesizer`.

    Raises
    ------
    PlanError
        For an unknown key (a near miss is named) or a value of the wrong form.

    Notes
    -----
    Privacy: reads no record.
    """
    file = Path(path)
    content = read_toml(file, PlanError)
    refuse_unknown(content, (*_READERS, "codebook"), where=str(file), error=PlanError)
    settings = {
        _RENAMED.get(key, key): _READERS[key](value, f"{file}: {key}")
        for key, value in content.items()
        if key != "codebook"
    }
    if "codebook" in content:
        named = _text(content["codebook"], f"{file}: codebook")
        settings["schema"] = read_codebook(file.parent / named)
    return settle_codes(settings, dtypes or {})


def settle_codes(settings: Mapping[str, Any], dtypes: Mapping[str, Any]) -> dict[str, Any]:
    """Turn codes, which are texts in TOML, into numbers where the column holds numbers or is not known.

    Examples
    --------
    >>> settle_codes({"missing": {"a": {"-8": "no"}, "b": {"-8": "no"}}}, {"b": pd.StringDtype()})["missing"]
    {'a': {-8: 'no'}, 'b': {'-8': 'no'}}
    """
    codes = {
        name: given
        if _holds_text(dtypes.get(name))
        else {as_number(code): label for code, label in given.items()}
        for name, given in settings.get("missing", {}).items()
    }
    return {**settings, "missing": codes} if codes else dict(settings)


def _holds_text(dtype: Any) -> bool:
    """Whether a column's values are texts."""
    if dtype is None:
        return False
    own = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
    return bool(pd.api.types.is_string_dtype(own))


def _text(value: Any, at: str) -> str:
    """Take a text."""
    if not isinstance(value, str):
        raise PlanError(f"{at} must be a text")
    return value


def _flag(value: Any, at: str) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise PlanError(f"{at} must be true or false")
    return value


def _names(value: Any, at: str) -> list[str]:
    """Take a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PlanError(f"{at} must be a list of texts, [...]")
    return value


def _list(value: Any, at: str) -> list[Any]:
    """Take a list of plain values; TOML's times become pandas' own."""
    if not isinstance(value, list):
        raise PlanError(f"{at} must be a list, [...]")
    return [pd.Timestamp(item) if hasattr(item, "isoformat") else item for item in value]


def _table(value: Any, at: str) -> dict[str, Any]:
    """Take a table."""
    if not isinstance(value, dict):
        raise PlanError(f"{at} must be a table, [{at.rsplit(': ', maxsplit=1)[-1]}] or {{...}}")
    return value


def _by_column(item: Reader) -> Reader:
    """Make a reader of a table column -> item."""
    return lambda value, at: {name: item(part, f"{at}.{name}") for name, part in _table(value, at).items()}


def _pair(value: Any, at: str) -> tuple[Any, Any]:
    """Take [lower, upper]; an infinite one means none."""
    pair = _list(value, at)
    if len(pair) != 2 or any(isinstance(bound, str | bool | list | dict) for bound in pair):
        raise PlanError(f"{at} must be [lower, upper]; write -inf or inf for none")
    low, high = (None if isinstance(bound, float) and abs(bound) == float("inf") else bound for bound in pair)
    return low, high


def _codes(value: Any, at: str) -> dict[Any, str]:
    """Take codes with labels, or codes alone."""
    if isinstance(value, list):
        return {code: str(code) for code in _list(value, at)}
    return {code: _text(label, f"{at}.{code}") for code, label in _table(value, at).items()}


def _whole(value: Any, at: str) -> int:
    """Take a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise PlanError(f"{at} must be a whole number")
    return value


def _model(value: Any, at: str) -> Any:
    """Take a method by name, or by name with settings: ``{name = "norm", ridge = 0.1}``."""
    if isinstance(value, str):
        return value
    given = _table(value, at)
    kind = COLUMN_MODELS[_text(given.get("name"), f"{at}.name")]
    own: list[str] = [item.name for item in fields(kind) if item.init] if is_dataclass(kind) else []
    refuse_unknown(given, ["name", *own], where=at, error=PlanError)
    settings = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items() if key != "name"}
    try:
        return kind(**settings)
    except TypeError as error:
        raise PlanError(
            f"{at}: {given['name']} cannot be made with these settings; see its documentation"
        ) from error


def _method(value: Any, at: str) -> Any:
    """Take one method for all columns, or a table column -> method."""
    return value if isinstance(value, str) else _by_column(_model)(value, at)


def _joint(value: Any, at: str) -> list[tuple[list[str], Any]]:
    """Take a list of ``{columns = [...], method = ...}``."""
    steps = []
    for number, part in enumerate(_list(value, at), start=1):
        step = _table(part, f"{at}[{number}]")
        refuse_unknown(step, ("columns", "method"), where=f"{at}[{number}]", error=PlanError)
        if len(step) < 2:
            raise PlanError(f"{at}[{number}] needs columns and method")
        steps.append((_names(step["columns"], f"{at}.columns"), _model(step["method"], f"{at}.method")))
    return steps


def _guarantee(value: Any, at: str) -> BySampling:
    """Take ``{name = "by_sampling", deltas = [...], exact = ..., unit = {...}}``."""
    given = _table(value, at)
    refuse_unknown(given, ("name", "deltas", "exact", "unit"), where=at, error=PlanError)
    if given.get("name") != "by_sampling":
        raise PlanError(f'{at}.name must be "by_sampling"')
    settings: dict[str, Any] = {}
    if "deltas" in given:
        settings["deltas"] = tuple(_list(given["deltas"], f"{at}.deltas"))
    if "exact" in given:
        settings["exact"] = _flag(given["exact"], f"{at}.exact")
    if "unit" in given:
        unit = _table(given["unit"], f"{at}.unit")
        refuse_unknown(unit, [item.name for item in fields(PrivacyUnit)], where=f"{at}.unit", error=PlanError)
        settings["unit"] = PrivacyUnit(**unit)
    return BySampling(**settings)


_READERS: dict[str, Reader] = {
    "method": _method,
    "visit_sequence": _names,
    "predictors": _by_column(_names),
    "formulas": _names,
    "missing": _by_column(_codes),
    "spikes": _by_column(_list),
    "bounds": _by_column(_pair),
    "decimals": _by_column(_whole),
    "levels": _by_column(_list),
    "keep": _names,
    "drop": _names,
    "proper": _flag,
    "emit_original": _flag,
    "joint": _joint,
    "guarantee": _guarantee,
}
_RENAMED = {"predictors": "predictor_matrix"}


def write_plan(settings: Mapping[str, Any], path: str | Path) -> Path:
    """Write settings of a Synthesizer as TOML, which :func:`read_plan` reads.

    Parameters
    ----------
    settings : mapping
        Keyword settings; a schema is not among them: write a codebook for it.
    path : path
        Of the file.

    Raises
    ------
    PlanError
        For a key that a plan does not have, or a value that TOML cannot hold.

    Notes
    -----
    Privacy: writes what it is given; a seed is no setting.
    """
    named = {key: name for name, key in _RENAMED.items()}
    plain = {named.get(key, key): value for key, value in settings.items()}
    refuse_unknown(plain, _READERS, where="the settings", error=PlanError)
    file = Path(path)
    try:
        text = to_toml({key: _plain(key, value) for key, value in plain.items()})
        file.write_text(text, encoding="utf-8")
    except TypeError as error:
        raise PlanError(f"a setting holds a {error}, which a plan file cannot; write it in Python") from error
    except OSError as error:
        raise PlanError(f"{file} cannot be written: {error.strerror or type(error).__name__}") from error
    return file


def _plain(key: str, value: Any) -> Any:
    """Write a setting as TOML can hold it."""
    if key == "predictors" and isinstance(value, pd.DataFrame):
        return {str(name): list(value.columns[row.to_numpy() != 0]) for name, row in value.iterrows()}
    if key == "bounds":
        ends = (float("-inf"), float("inf"))
        return {
            name: [e if b is None else b for b, e in zip(pair, ends, strict=True)]
            for name, pair in value.items()
        }
    if key == "joint":
        return [{"columns": list(columns), "method": _plain_model(model)} for columns, model in value]
    if key == "guarantee" and value is not None:
        return {"name": "by_sampling", **_own(value), "unit": _own(value.unit)}
    if key == "method" and isinstance(value, Mapping):
        return {name: _plain_model(model) for name, model in value.items()}
    return _plain_model(value) if key == "method" else value


def _plain_model(model: Any) -> Any:
    """Write a method by name, with its settings where it is an instance."""
    return model if isinstance(model, str) or model is None else {"name": model.name, **_own(model)}


def _own(value: Any) -> dict[str, Any]:
    """Read a dataclass's own settings, without those that are None."""
    given = {item.name: getattr(value, item.name) for item in fields(value) if item.init}
    return {name: own for name, own in given.items() if own is not None}
