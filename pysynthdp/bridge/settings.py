"""What an R user sets -> the settings of a Synthesizer: R's doubles, names and single elements understood."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.words import Words, meant
from pysynthdp.bridge.codec import RVector
from pysynthdp.bridge.facts import ColumnFacts, RFrame
from pysynthdp.bridge.guarantees import protection_from_r
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["labelled_codes", "settings_from_r"]


def settings_from_r(given: Mapping[str, Any], dtypes: Mapping[str, Any]) -> dict[str, Any]:
    """Read settings that came from R.

    Parameters
    ----------
    given : mapping
        Plain values: keywords of :class:`pysynthdp.Synthesizer`; ``plan``, a file; and ``guarantee``, see
        :func:`~pysynthdp.bridge.guarantees.protection_from_r`. None is not given.
    dtypes : mapping column -> pandas dtype
        Of the table, for the codes of a plan; empty where the table is not to be looked at.

    Returns
    -------
    dict
        Keyword settings.

    Raises
    ------
    PlanError, SchemaError
        For an unknown setting, or a value of the wrong form; the message names it.

    Notes
    -----
    Privacy: reads no row.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    plan, guarantee = asked.pop("plan", None), asked.pop("guarantee", None)
    settings = {} if plan is None else read_plan(Path(str(plan)).expanduser(), dtypes=dtypes)
    for name, value in asked.items():
        if name not in _READERS:
            remedy = meant(name, _READERS, f"settings are {', '.join(_READERS)}")
            raise PlanError(f"there is no setting {name!r}", kind="setting", remedy=remedy)
        settings[name] = _READERS[name](value, name)
    return settings if guarantee is None else {**settings, "guarantee": protection_from_r(guarantee)}


def labelled_codes(data: RFrame) -> dict[str, dict[str, Any]]:
    """Give what haven's labels declare: codes of missing answers, and levels where every code has a label.

    Parameters
    ----------
    data : RFrame
        The frame as it came from R.

    Returns
    -------
    dict
        ``missing`` and ``levels``, by column, as :class:`pysynthdp.Synthesizer` takes them.

    Notes
    -----
    Privacy: ``na_values``, ``na_range`` and labels are public facts of the codebook. Whether each value has
    a label is learned from the rows.
    """
    found: dict[str, dict[str, Any]] = {"missing": {}, "levels": {}}
    for (name, before), facts in data.facts.columns.items():
        if before or "labels" not in facts.attributes or "haven_labelled" not in _classes(facts):
            continue
        labels = _labels(facts)
        series = data.frame[name]
        codes = {code: labels.get(code, str(code)) for code in _user_missing(facts, labels)}
        if codes:
            found["missing"][name] = codes
        levels = [code for code in labels if code not in codes]
        if levels and bool(series.isin([*levels, *codes]).where(series.notna(), True).all()):
            found["levels"][name] = levels
    return found


def _classes(facts: ColumnFacts) -> tuple[str | None, ...]:
    """R's class of a column."""
    held = facts.attributes.get("class")
    return held.texts if isinstance(held, RVector) else ()


def _labels(facts: ColumnFacts) -> dict[Any, str]:
    """Give code -> label; tagged missing values are no codes."""
    held = facts.attributes["labels"]
    if not isinstance(held, RVector):
        return {}
    pairs = zip(held.array.tolist(), held.names, strict=False)
    return {_number(code): str(label) for code, label in pairs if not _is_absent(code)}


def _user_missing(facts: ColumnFacts, labels: Mapping[Any, str]) -> list[Any]:
    """Give the codes that haven's ``na_values`` and ``na_range`` name."""
    values, bounds = facts.attributes.get("na_values"), facts.attributes.get("na_range")
    codes = [_number(code) for code in values.array.tolist()] if isinstance(values, RVector) else []
    if isinstance(bounds, RVector):
        low, high = bounds.array.tolist()
        codes += [code for code in labels if low <= code <= high]
    return list(dict.fromkeys(codes))


def _is_absent(value: Any) -> bool:
    """Whether a value is missing."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _number(value: Any) -> Any:
    """Give a whole double as an integer: R writes -8 as one."""
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    return int(value) if whole else value


def _listed(value: Any, at: str) -> list[Any]:
    """Take a vector of any length, names left out."""
    del at
    items = list(value.values()) if isinstance(value, Mapping) else value
    return [_number(item) for item in items] if isinstance(items, list) else [_number(items)]


def _text(value: Any, at: str) -> str:
    """Take one text."""
    if not isinstance(value, str):
        raise PlanError(f"{at} must be one text", kind="setting")
    return value


def _texts(value: Any, at: str) -> list[str]:
    """Take a character vector."""
    items = _listed(value, at)
    if not all(isinstance(item, str) for item in items):
        raise PlanError(f"{at} must be texts", kind="setting", remedy='write them as c("...", "...")')
    return items


def _flag(value: Any, at: str) -> bool:
    """Take TRUE or FALSE."""
    if not isinstance(value, bool):
        raise PlanError(f"{at} must be TRUE or FALSE", kind="setting")
    return value


def _by_column(reader: Callable[[Any, str], Any]) -> Callable[[Any, str], dict[str, Any]]:
    """Make a reader of a list with a name for each column."""

    def read(value: Any, at: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            what = f"{at} must be a list with the columns' names"
            raise PlanError(what, kind="setting", remedy=f"write {at} = list(column = ...)")
        return {name: _of_column(reader, name, item, at) for name, item in value.items()}

    return read


def _of_column(reader: Callable[[Any, str], Any], name: str, item: Any, at: str) -> Any:
    """Read what is set of one column; an error says of which."""
    try:
        return reader(item, f"{at} of {name}")
    except PlanError as error:
        raise PlanError(error.what, column=name, kind=error.kind, remedy=error.remedy) from error


def _codes(value: Any, at: str) -> Any:
    """Take codes; R's names are the labels."""
    if isinstance(value, Mapping):
        return {_number(code): label for label, code in value.items()}
    return [code for code in _listed(value, at) if code is not None]


def _pair(value: Any, at: str) -> tuple[float | None, float | None]:
    """Take c(lower, upper); NA and an infinite one mean none."""
    items = _listed(value, at)
    if len(items) != 2 or any(isinstance(item, str | bool) for item in items):
        what = f"{at} must be two numbers, lower and upper"
        raise PlanError(what, kind="setting", remedy="write c(lower, upper), with NA for none")
    low, high = (None if item is None or not math.isfinite(item) else item for item in items)
    return low, high


def _whole(value: Any, at: str) -> int:
    """Take a whole number."""
    number = _number(value)
    if isinstance(number, bool) or not isinstance(number, int):
        raise PlanError(f"{at} must be a whole number", kind="setting")
    return number


def _model(value: Any, at: str) -> Any:
    """Take a method by name, or a list whose first element is the name and the others its settings."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        what = f"{at} must be a name, or a list of a name and settings"
        raise PlanError(what, kind="setting", remedy='write "norm", or list(name = "norm", ...)')
    own = {key: _setting(item) for key, item in value.items() if key != "name"}
    kind = COLUMN_MODELS[value["name"]]
    known = [item.name for item in fields(kind) if item.init]  # type: ignore[arg-type]  # models are dataclasses
    for key in own:
        if key not in known:
            what = f"{at}: {value['name']} has no setting {key!r}"
            remedy = meant(
                key, known, f"it has {', '.join(known)}" if known else "it has none, so leave it out"
            )
            raise PlanError(what, kind="setting", remedy=remedy)
    return kind(**own)


def _setting(value: Any) -> Any:
    """Take a setting of a model: vectors as tuples."""
    return tuple(_listed(value, "")) if isinstance(value, list) else _number(value)


def _method(value: Any, at: str) -> Any:
    """Take one method for all columns, or one for each."""
    return value if isinstance(value, str) else _by_column(_model)(value, at)


def _matrix(value: Any, at: str) -> Any:
    """Take a matrix with names on both sides, a row for each target, or a list of predictors by column."""
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, RFrame):
        raise PlanError(f"{at} must be a matrix", kind="setting", remedy="use as.matrix()")
    return _by_column(_texts)(value, at)


def _joint(value: Any, at: str) -> list[tuple[list[str], Any]]:
    """Take a list of list(columns = c(...), method = ...)."""
    steps = [value] if isinstance(value, Mapping) else value
    if not all(isinstance(step, Mapping) and {"columns", "method"} <= step.keys() for step in steps):
        what = f"{at} must be a list of steps"
        raise PlanError(what, kind="setting", remedy="write list(list(columns = c(...), method = ...))")
    return [(_texts(step["columns"], at), _model(step["method"], at)) for step in steps]


def _schema(value: Any, at: str) -> Schema:
    """Take a codebook's path, or a list of columns that numeric_column() and categorical_column() made."""
    if isinstance(value, str):
        return Schema.from_codebook(Path(value).expanduser())
    if not isinstance(value, Mapping):
        what = f"{at} must be a codebook's path or a list with a name for each column"
        remedy = "write list(age = numeric_column(0, 99), sex = categorical_column(c(...)))"
        raise PlanError(what, kind="setting", remedy=remedy)
    return Schema(tuple(_column(name, facts) for name, facts in value.items()))


def _column(name: str, facts: Any) -> NumericColumn | CategoricalColumn:
    """Declare one column."""
    if not isinstance(facts, Mapping) or facts.get("kind") not in ("numeric", "categorical"):
        what = Words("{name} is not declared", name=name)
        remedy = "declare it with numeric_column() or categorical_column()"
        raise SchemaError(what, column=name, kind="declaration", remedy=remedy)
    own = {key: value for key, value in facts.items() if key != "kind" and value is not None}
    for key in ("levels", "spikes"):
        own |= {key: tuple(_listed(own[key], key))} if key in own else {}
    own |= {"missing": _codes(own["missing"], "missing")} if "missing" in own else {}
    own = {key: _number(value) for key, value in own.items()}
    kind = NumericColumn if facts["kind"] == "numeric" else CategoricalColumn
    return kind(name, **own)


_READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "method": _method,
    "visit_sequence": _texts,
    "predictor_matrix": _matrix,
    "formulas": _texts,
    "missing": _by_column(_codes),
    "spikes": _by_column(_listed),
    "bounds": _by_column(_pair),
    "decimals": _by_column(_whole),
    "levels": _by_column(_listed),
    "keep": _texts,
    "drop": _texts,
    "proper": _flag,
    "emit_original": _flag,
    "joint": _joint,
    "rare": _text,
    "schema": _schema,
}
