"""A plan as a TOML file: a Synthesizer's settings, to be reviewed and checked before data are touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.toml_text import as_number, read_toml, refuse_unknown, to_toml
from pysynthdp.io.plans.guarantee import guarantee_of, plain_guarantee, refuse_settings_outside
from pysynthdp.io.plans.toml_values import (
    Reader,
    by_column,
    flag_of,
    list_of,
    names_of,
    pair_of,
    table_of,
    text_of,
    whole_of,
)
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.schema import Schema

__all__ = ["KEYS", "PLAN_VERSION", "READING_KEYS", "read_plan", "read_reading", "settle_codes", "write_plan"]

PLAN_VERSION = 2  # to be raised when keys move or change their meaning
READING_KEYS: dict[str, Reader] = {
    "sep": text_of,
    "decimal": text_of,
    "encoding": text_of,
    "text": names_of,
    "day_first": flag_of,
}
_OWN = ("codebook", "format", *READING_KEYS)  # keys that are no settings


def read_plan(path: str | Path, *, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read settings of a Synthesizer from TOML.

    Parameters
    ----------
    path : path
        Keys: ``method, visit_sequence, predictors, formulas, missing, spikes, bounds, decimals, levels,
        keep, drop, proper, emit_original, joint, rare, guarantee``, which holds the settings of its own, and
        ``codebook``, a path relative to the file; ``format``, a whole number, tells of which format the
        file is, and may be left out. ``sep, decimal, encoding, text, day_first`` say how the table's file is
        written (:func:`read_reading`).
    dtypes : mapping column -> pandas dtype, optional
        Of the table; codes of text columns then stay texts. Without it, what looks like a number is one.

    Returns
    -------
    dict
        Keyword settings of :class:`pysynthdp.Synthesizer`.

    Raises
    ------
    PlanError
        For an unknown key (a near miss is named), a value of the wrong form, or a plan of another format.

    Notes
    -----
    Privacy: reads no record.
    """
    file = Path(path)
    content = read_toml(file, PlanError)
    _check_format(content.get("format", PLAN_VERSION), file)
    refuse_settings_outside(content, str(file))
    refuse_unknown(content, (*_READERS, *_OWN), where=str(file), error=PlanError)
    settings = {
        _RENAMED.get(key, key): _READERS[key](value, f"{file}: {key}")
        for key, value in content.items()
        if key not in _OWN
    }
    if "codebook" in content:
        named = text_of(content["codebook"], f"{file}: codebook")
        settings["schema"] = Schema.from_codebook(file.parent / named)
    return settle_codes(settings, dtypes or {})


def read_reading(path: str | Path) -> dict[str, Any]:
    """Read from a plan how the file of its table is written.

    Parameters
    ----------
    path : path
        TOML with ``sep``, ``decimal``, ``encoding``, ``text`` and ``day_first``, beside the settings.

    Returns
    -------
    dict
        Keyword settings of :func:`pysynthdp.read_table`; only those that the file has.

    Raises
    ------
    PlanError
        For a value of the wrong form.

    Notes
    -----
    Privacy: reads no record.
    """
    file = Path(path)
    content = read_toml(file, PlanError)
    return {key: take(content[key], f"{file}: {key}") for key, take in READING_KEYS.items() if key in content}


def _check_format(given: Any, file: Path) -> None:
    """Refuse a plan of another format before a key of it is read by this one's meaning."""
    if isinstance(given, bool) or given != PLAN_VERSION:
        raise PlanError(
            f"{file} is a plan of format {given!r}, and this version reads format {PLAN_VERSION}: write it "
            "by the present documentation and fit again, or use the version that it was written for",
            kind="plan file",
        )


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


def _codes(value: Any, at: str) -> dict[Any, str]:
    """Take codes with labels, or codes alone."""
    if isinstance(value, list):
        return {code: str(code) for code in list_of(value, at)}
    return {code: text_of(label, f"{at}.{code}") for code, label in table_of(value, at).items()}


def _model(value: Any, at: str) -> Any:
    """Take a method by name, or by name with settings: ``{name = "norm", ridge = 0.1}``."""
    if isinstance(value, str):
        return value
    given = table_of(value, at)
    kind = COLUMN_MODELS[text_of(given.get("name"), f"{at}.name")]
    own: list[str] = [item.name for item in fields(kind) if item.init] if is_dataclass(kind) else []
    refuse_unknown(given, ["name", *own], where=at, error=PlanError)
    settings = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items() if key != "name"}
    try:
        return kind(**settings)
    except TypeError as error:
        raise PlanError(
            f"{at}: {given['name']} cannot be made with these settings",
            kind="plan file",
            remedy="see its documentation",
        ) from error


def _method(value: Any, at: str) -> Any:
    """Take one method for all columns, or a table column -> method."""
    return value if isinstance(value, str) else by_column(_model)(value, at)


def _joint(value: Any, at: str) -> list[tuple[list[str], Any]]:
    """Take a list of ``{columns = [...], method = ...}``."""
    steps = []
    for number, part in enumerate(list_of(value, at), start=1):
        step = table_of(part, f"{at}[{number}]")
        refuse_unknown(step, ("columns", "method"), where=f"{at}[{number}]", error=PlanError)
        if len(step) < 2:
            raise PlanError(f"{at}[{number}] needs columns and method", kind="plan file")
        steps.append((names_of(step["columns"], f"{at}.columns"), _model(step["method"], f"{at}.method")))
    return steps


_READERS: dict[str, Reader] = {
    "method": _method,
    "visit_sequence": names_of,
    "predictors": by_column(names_of),
    "formulas": names_of,
    "missing": by_column(_codes),
    "spikes": by_column(list_of),
    "bounds": by_column(pair_of),
    "decimals": by_column(whole_of),
    "levels": by_column(list_of),
    "keep": names_of,
    "drop": names_of,
    "proper": flag_of,
    "emit_original": flag_of,
    "joint": _joint,
    "rare": text_of,
    "guarantee": guarantee_of,
}
KEYS = (*_OWN, *_READERS)
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
        text = to_toml({"format": PLAN_VERSION, **{key: _plain(key, value) for key, value in plain.items()}})
        file.write_text(text, encoding="utf-8")
    except TypeError as error:
        raise PlanError(
            f"a setting holds a {error}, which a plan file cannot",
            kind="plan file",
            remedy="write it in Python",
        ) from error
    except OSError as error:
        raise PlanError(
            f"{file} cannot be written: {error.strerror or type(error).__name__}", kind="plan file"
        ) from error
    return file


def _plain(key: str, value: Any) -> Any:
    """Write a setting as TOML can hold it."""
    return value if value is None or key not in _WRITERS else _WRITERS[key](value)


def _plain_predictors(given: Any) -> Any:
    """Write a matrix as lists of names."""
    if not isinstance(given, pd.DataFrame):
        return given
    return {str(name): list(given.columns[row.to_numpy() != 0]) for name, row in given.iterrows()}


def _plain_bounds(given: Mapping[str, Any]) -> dict[str, Any]:
    """Write absent bounds as infinite."""
    ends = (float("-inf"), float("inf"))
    return {
        name: [end if bound is None else bound for bound, end in zip(pair, ends, strict=True)]
        for name, pair in given.items()
    }


def _plain_joint(given: Any) -> list[dict[str, Any]]:
    """Write joint steps."""
    return [{"columns": list(columns), "method": _plain_model(model)} for columns, model in given]


def _plain_method(given: Any) -> Any:
    """Write one method, or one a column."""
    if isinstance(given, Mapping):
        return {name: _plain_model(model) for name, model in given.items()}
    return _plain_model(given)


def _plain_model(model: Any) -> Any:
    """Write a method by name, with its settings where it is an instance."""
    return model if isinstance(model, str) or model is None else {"name": model.name, **_own(model)}


def _own(value: Any) -> dict[str, Any]:
    """Read a dataclass's own settings, without those that are None."""
    given = {item.name: getattr(value, item.name) for item in fields(value) if item.init}
    return {name: own for name, own in given.items() if own is not None}


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "predictors": _plain_predictors,
    "bounds": _plain_bounds,
    "joint": _plain_joint,
    "method": _plain_method,
    "guarantee": plain_guarantee,
}
