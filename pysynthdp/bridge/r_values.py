"""How settings come from R: doubles for whole numbers, single elements for vectors, names for labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import pandas as pd

from pysynthdp.base.errors import PlanError, PysynthdpError, SchemaError
from pysynthdp.base.forms import CODES, LIST, Notation, Place, SettingForm
from pysynthdp.base.words import Words, meant
from pysynthdp.bridge.facts import RFrame
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["R", "is_absent", "whole"]

_MODEL: Final = (
    "{at} must be a name, or a list of a name and settings",
    'write "norm", or list(name = "norm", ...)',
)
_GUARANTEE: Final = (
    "guarantee must come from by_sampling(), zcdp(), approx_dp() or protection()",
    "write guarantee = zcdp(rho = 0.5)",
)
_UNIT: Final = {"relation": "relation", "rows_per_unit": "rows_per_unit", "unit": "name", "unit_key": "key"}
_NAMES: Final = {"fresh_noise": "fresh"}
_APPROX: Final = {"epsilon": "eps", "delta": "at_delta"}


def is_absent(value: Any) -> bool:
    """Whether a value is missing."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def whole(value: Any) -> Any:
    """Give a whole double as an integer: R writes -8 as one."""
    is_whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    return int(value) if is_whole else value


def _listed(value: Any) -> list[Any]:
    """Give a vector of any length as a list, names left out."""
    items = list(value.values()) if isinstance(value, Mapping) else value
    return [whole(item) for item in items] if isinstance(items, list) else [whole(items)]


def _pair(value: Any) -> list[Any]:
    """Give two bounds; NA means none."""
    return [None if is_absent(item) else item for item in _listed(value)]


def _codes(value: Any, place: Place) -> Any:
    """Give codes; R's names are the labels."""
    codes = _listed(value)
    if any(isinstance(code, Mapping | list | pd.DataFrame | RFrame) for code in codes):
        raise place.fault("codes")
    if isinstance(value, Mapping):
        return {whole(code): label for label, code in value.items()}
    return [code for code in codes if code is not None]


def _model(value: Any) -> Any:
    """Give the settings of a model in a list: vectors as lists."""
    if not isinstance(value, Mapping):
        return value
    return {key: _listed(item) if isinstance(item, list) else whole(item) for key, item in value.items()}


def _matrix(value: Any, place: Place) -> Any:
    """Give a matrix as it is; a data frame is none."""
    if isinstance(value, RFrame):
        raise place.fault("matrix")
    return value


def _steps(value: Any, place: Place) -> list[dict[str, Any]]:
    """Give a list of list(columns = c(...), method = ...), or one of them, as a list of steps."""
    steps = [value] if isinstance(value, Mapping) else value
    if not isinstance(steps, list) or not all(
        isinstance(step, Mapping) and {"columns", "method"} <= step.keys() for step in steps
    ):
        raise place.fault("steps")
    return [{"columns": step["columns"], "method": step["method"]} for step in steps]


def _guarantee(value: Any) -> Any:
    """Give a guarantee, which is flat in R, as a table with a table of its unit."""
    if not isinstance(value, Mapping):
        return value
    given = {name: _deep(item) for name, item in value.items() if item is not None}
    unit = {_UNIT[name]: given.pop(name) for name in _UNIT if name in given}
    if given.get("name") == "approx_dp":
        own = {_APPROX.get(name, name): item for name, item in given.items()}
        given = {**own, "name": "approx"}
    plain = {_NAMES.get(name, name): item for name, item in given.items()}
    return {**plain, **({"unit": unit} if unit else {})}


def _deep(value: Any) -> Any:
    """Give whole doubles as integers, in lists too: R writes 1 as one."""
    if isinstance(value, Mapping):
        return {name: _deep(item) for name, item in value.items()}
    return [_deep(item) for item in value] if isinstance(value, list) else whole(value)


def _schema(value: Any, place: Place) -> Any:
    """Give a codebook's path, or the columns that numeric_column() and categorical_column() made."""
    if isinstance(value, str):
        return Path(value).expanduser()
    if not isinstance(value, Mapping):
        return value
    return Schema(tuple(_column(name, facts, place) for name, facts in value.items()))


def _column(name: str, facts: Any, place: Place) -> NumericColumn | CategoricalColumn:
    """Declare one column."""
    if not isinstance(facts, Mapping) or facts.get("kind") not in ("numeric", "categorical"):
        what = Words("{name} is not declared", name=name)
        remedy = "declare it with numeric_column() or categorical_column()"
        raise SchemaError(what, column=name, kind="declaration", remedy=remedy)
    own = {key: whole(value) for key, value in facts.items() if key != "kind" and value is not None}
    for key, form in (("levels", LIST), ("spikes", LIST), ("missing", CODES)):
        own |= {key: form.take(own[key], place)} if key in own else {}
    kind = NumericColumn if facts["kind"] == "numeric" else CategoricalColumn
    return kind(name, **own)


class _R(Notation):
    """Settings in a call from R, as :mod:`pysynthdp.bridge.plain` gives them."""

    kind: ClassVar[str] = "setting"
    kinds: ClassVar[Mapping[str, str]] = dict.fromkeys(("guarantee", "name of a guarantee"), "guarantee")
    words: ClassVar[Mapping[str, tuple[str, str | None]]] = {
        "text": ("{at} must be one text", None),
        "flag": ("{at} must be TRUE or FALSE", None),
        "whole number": ("{at} must be a whole number", None),
        "codes": ("{at} must be codes, each a number or a text", "write c(refused = -8)"),
        "names": ("{at} must be texts", 'write them as c("...", "...")'),
        "pair": ("{at} must be two numbers, lower and upper", "write c(lower, upper), with NA for none"),
        "by column": ("{at} must be a list with the columns' names", "write {at} = list(column = ...)"),
        "model": _MODEL,
        "name of a model": _MODEL,
        "model as set": ("{at}: {model} cannot be made with these settings", "see its documentation"),
        "matrix": ("{at} must be a matrix", "use as.matrix()"),
        "steps": ("{at} must be a list of steps", "write list(list(columns = c(...), method = ...))"),
        "number": ("{at} must be a number", None),
        "design": ("{at} must be a list", 'write list(weight = "pw", strata = "region")'),
        "guarantee": _GUARANTEE,
        "name of a guarantee": _GUARANTEE,
        "schema": (
            "{at} must be a codebook's path or a list with a name for each column",
            "write list(age = numeric_column(0, 99), sex = categorical_column(c(...)))",
        ),
    }
    converters: ClassVar[Mapping[str, Callable[[Any, Place], Any]]] = {
        "whole number": lambda value, _: whole(value),
        "names": lambda value, _: _listed(value),
        "list": lambda value, _: _listed(value),
        "pair": lambda value, _: _pair(value),
        "codes": _codes,
        "model": lambda value, _: _model(value),
        "predictors": _matrix,
        "joint": _steps,
        "design": lambda value, _: _deep(value),
        "guarantee": lambda value, _: _guarantee(value),
        "schema": _schema,
    }

    def unknown(self, key: str, known: Collection[str], owner: str, at: str) -> PysynthdpError:
        """Say what a model has, where nothing like the setting is among it."""
        remedy = meant(key, known, f"it has {', '.join(known)}" if known else "it has none, so leave it out")
        return PlanError(f"{at}: {owner} has no setting {key!r}", kind=self.kind, remedy=remedy)

    def part(self, at: str, name: str) -> str:
        """Parts are said of the whole."""
        del name
        return at

    def item(self, at: str, number: int) -> str:
        """Elements are said of the whole."""
        del number
        return at

    def of_column(self, form: SettingForm, value: Any, place: Place, name: str) -> Any:
        """Take what is set of one column; an error says of which."""
        try:
            return form.take(value, self.at(f"{place.at} of {name}"))
        except PlanError as error:
            raise PlanError(error.what, column=name, kind=error.kind, remedy=error.remedy) from error


R: Final = _R()
