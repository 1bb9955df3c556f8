"""The one table of the settings that plan files and R take: name, form, what it says.

A new setting is a field of ``Synthesizer``, one line here, and its argument in R.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.forms import (
    CODES,
    FLAG,
    LIST,
    NAMES,
    NUMBER,
    PAIR,
    TEXT,
    WHOLE,
    Place,
    SettingForm,
    by_column,
    unknown_key,
)
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.plan.protection import protection_named, protection_of
from pysynthdp.schema import Design, Schema, Units
from pysynthdp.schema.universe import Universe

__all__ = ["MODEL", "SETTINGS", "Line"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table.

    Parameters
    ----------
    name : str
        The field of :class:`pysynthdp.Synthesizer`.
    form : SettingForm
        What it must be.
    about : str
        What a plan file says with it, and how; for ``plan --keys``.
    key : str, optional
        Of a plan file, where it is another than the name.
    """

    name: str
    form: SettingForm
    about: str
    key: str | None = None


def _model(value: Any, place: Place) -> Any:
    """Check a method: a name, or a table of a name and settings of its own."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise place.fault("model")
    name = value.get("name")
    if not isinstance(name, str):
        raise place.part("name").fault("name of a model")
    own = {
        key: tuple(item) if isinstance(item, list) else item for key, item in value.items() if key != "name"
    }
    kind = COLUMN_MODELS[name]
    known: list[str] = [item.name for item in fields(kind) if item.init] if is_dataclass(kind) else []
    for key in own:
        if key not in known:
            raise place.notation.unknown(key, known, name, place.at)
    try:
        return kind(**own)
    except TypeError as error:
        raise place.fault("model as set", model=name) from error


def _plain_model(model: Any) -> Any:
    """Write a method by name, with its settings where it is an instance."""
    if isinstance(model, str) or model is None:
        return model
    own = {"name": model.name}
    own |= {item.name: getattr(model, item.name) for item in fields(model) if item.init}
    return {name: value for name, value in own.items() if value is not None}


MODEL: Final = SettingForm("model", _model, _plain_model)
_MODELS: Final = by_column(MODEL)


def _method(value: Any, place: Place) -> Any:
    """Check one method for all columns, or one for each."""
    return value if isinstance(value, str) else _MODELS.take(value, place)


def _plain_method(given: Any) -> Any:
    """Write one method, or one a column."""
    if isinstance(given, Mapping):
        return {name: _plain_model(model) for name, model in given.items()}
    return _plain_model(given)


_PREDICTORS: Final = by_column(NAMES)


def _predictors(value: Any, place: Place) -> Any:
    """Check a matrix with names on both sides, a row for each target, or lists of predictors by column."""
    return value if isinstance(value, pd.DataFrame) else _PREDICTORS.take(value, place)


def _plain_predictors(given: Any) -> Any:
    """Write a matrix as lists of names."""
    if not isinstance(given, pd.DataFrame):
        return given
    return {str(name): list(given.columns[row.to_numpy() != 0]) for name, row in given.iterrows()}


def _strata(value: Any, place: Place) -> list[str]:
    """Check a list of columns; one may stand alone."""
    return [value] if isinstance(value, str) else NAMES.take(value, place)


_EXPRESSIONS: Final = by_column(TEXT)


def _derive(value: Any, place: Place) -> Any:
    """Check expressions by column, or one word that none is to be looked for."""
    return value if value == "no" else _EXPRESSIONS.take(value, place)


def _condition(value: Any, place: Place) -> Any:
    """Check a condition, or one with a code."""
    if isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str):
        return tuple(value)
    return TEXT.take(value, place)


def _plain_universe(given: Mapping[str, Any]) -> dict[str, Any]:
    """Write conditions alone, or with their codes."""
    found = {name: Universe.of(name, own) for name, own in given.items()}
    return {
        name: own.where if own.outside is None else [own.where, own.outside] for name, own in found.items()
    }


def _plain_bounds(given: Mapping[str, Any]) -> dict[str, Any]:
    """Write absent bounds as infinite."""
    ends = (float("-inf"), float("inf"))
    return {
        name: [end if bound is None else bound for bound, end in zip(pair, ends, strict=True)]
        for name, pair in given.items()
    }


_TOTALS: Final = by_column(by_column(NUMBER))


def _totals(value: Any, place: Place) -> Any:
    """Check one total, or totals by column and level."""
    return value if isinstance(value, int | float) else _TOTALS.take(value, place)


_DESIGN: Final = {
    **dict.fromkeys(("weight", "strata", "psu", "fpc", "how", "lonely"), TEXT),
    **dict.fromkeys(("odd_weights", "replicates", "rebuild"), TEXT),
    **dict.fromkeys(("replicate_weights", "recode"), NAMES),
    "accept": NUMBER,
    "weighted": FLAG,
    **dict.fromkeys(("populations", "sample"), WHOLE),
    "totals": SettingForm("totals", _totals),
}


def _units(value: Any, place: Place) -> Units:
    """Check a table of settings of units, or the name of their id."""
    if not isinstance(value, str | Mapping):
        raise place.fault("units")
    return Units.from_plain(value)


def _design(value: Any, place: Place) -> Any:
    """Check a table of what holds weights, strata and clusters."""
    if isinstance(value, Design):
        return value
    if not isinstance(value, Mapping):
        raise place.fault("design")
    for key in value:
        if key not in _DESIGN:
            raise unknown_key(key, list(_DESIGN), where=place.at, error=PlanError)
    own = {key: item for key, item in value.items() if item is not None}
    return Design(**{key: _DESIGN[key].take(item, place.part(key)) for key, item in own.items()})


def _plain_design(design: Design) -> dict[str, Any]:
    """Write what a design says beyond its defaults."""
    given = {item.name: getattr(design, item.name) for item in fields(design)}
    default = {item.name: item.default for item in fields(design)}
    plain = {name: own for name, own in given.items() if own != default[name]}
    return {name: [*own] if isinstance(own, tuple) else own for name, own in plain.items()}


_STEP: Final = ("columns", "method")


def _joint(value: Any, place: Place) -> list[tuple[list[str], Any]]:
    """Check a list of steps, each of columns and a method."""
    if not isinstance(value, list):
        raise place.fault("steps")
    return [_step(step, place, number) for number, step in enumerate(value, start=1)]


def _step(step: Any, place: Place, number: int) -> tuple[list[str], Any]:
    """Check one step."""
    here = place.item(number)
    if not isinstance(step, Mapping):
        raise here.fault("step")
    for key in step:
        if key not in _STEP:
            raise unknown_key(key, _STEP, where=here.at, error=PlanError)
    if len(step) < len(_STEP):
        raise here.fault("half a step")
    columns = NAMES.take(step["columns"], place.part("columns"))
    return columns, MODEL.take(step["method"], place.part("method"))


def _plain_joint(given: Any) -> list[dict[str, Any]]:
    """Write joint steps."""
    return [{"columns": list(columns), "method": _plain_model(model)} for columns, model in given]


def _guarantee(value: Any, place: Place) -> Any:
    """Check a table of a name and settings, which the protection of that name reads itself."""
    if not isinstance(value, Mapping):
        raise place.fault("guarantee")
    if not isinstance(value.get("name"), str):
        raise place.part("name").fault("name of a guarantee")
    return protection_named(value, place.at)


def _schema(value: Any, place: Place) -> Schema:
    """Check a schema, or the path of a codebook."""
    if isinstance(value, Schema):
        return value
    if not isinstance(value, Path):
        raise place.fault("schema")
    return Schema.from_codebook(value)


def _table(*lines: Line) -> dict[str, Line]:
    """Make the table: lines by name."""
    return {line.name: line for line in lines}


SETTINGS: Final[Mapping[str, Line]] = _table(
    Line(
        "method",
        SettingForm("method", _method, _plain_method),
        'column model, for all columns or by column: method = "norm" or [method] age = "norm"',
    ),
    Line(
        "visit_sequence",
        NAMES,
        'order in which columns are drawn, by kind without it: ["sex", "age", "income"]',
    ),
    Line(
        "predictor_matrix",
        SettingForm("predictors", _predictors, _plain_predictors),
        'which earlier columns a column is drawn from: [predictors] income = ["sex", "age"]',
        key="predictors",
    ),
    Line("formulas", NAMES, 'predictors as formulas: ["income ~ age * sex + cr(educ, 4)"]'),
    Line("terms", TEXT, 'products and curves: "screened" finds those that are needed, "main" takes none'),
    Line("max_predictors", WHOLE, "most predictors of a column, where no other line names them: 20"),
    Line(
        "missing",
        by_column(CODES),
        'codes that are no values, with labels: [missing] income = { -8 = "refused" }',
    ),
    Line("spikes", by_column(LIST), "values with a mass of their own: [spikes] income = [0]"),
    Line(
        "bounds",
        by_column(PAIR, _plain_bounds),
        "least and largest value, inf for none: [bounds] age = [0, 120]",
    ),
    Line(
        "decimals",
        by_column(WHOLE),
        "digits after the point, negative for tens and hundreds: [decimals] income = -2",
    ),
    Line("levels", by_column(LIST), 'declared levels: [levels] sex = ["F", "M"]'),
    Line("keep", NAMES, 'columns to release as they REALLY are: ["weight"]'),
    Line("drop", NAMES, 'columns to leave out: ["name", "id"]'),
    Line("proper", FLAG, "true: draw parameters anew for each copy"),
    Line("draws", TEXT, 'rows of a copy: "even" (spread over rows that are alike) or "independent"'),
    Line("emit_original", FLAG, "true: let normrank and sample repeat REAL values, as synthpop does"),
    Line(
        "joint",
        SettingForm("joint", _joint, _plain_joint),
        'columns that one model draws together: [[joint]] columns = [...], method = "..."',
    ),
    Line("rare", TEXT, 'levels of fewer than five records: "keep", "merge" or "refuse"'),
    Line(
        "derive",
        SettingForm("derive", _derive),
        'columns computed from others: [derive] bmi = "weight / (height / 100) ** 2"; "no" for none',
    ),
    Line(
        "universe",
        by_column(SettingForm("condition", _condition), _plain_universe),
        "rows in which a column is asked: [universe] nociga = [\"smoke == 'YES'\", -8]",
    ),
    Line("rules", NAMES, "what holds in every row: [\"not (marital == 'MARRIED' and age < 18)\"]"),
    Line("must_sum", by_column(NAMES), 'totals and their parts: [must_sum] income = ["wage", "pension"]'),
    Line("top_code", by_column(NUMBER), "larger numbers are written as it: [top_code] age = 90"),
    Line("round", by_column(NUMBER), "numbers are multiples of it: [round] income = 50"),
    Line(
        "nested",
        by_column(TEXT),
        'columns whose levels belong to those of a coarser one: [nested] town = "region"',
    ),
    Line(
        "strata",
        SettingForm("strata", _strata, lambda given: [given] if isinstance(given, str) else [*given]),
        'columns in whose levels all models are fitted apart: ["region"]',
    ),
    Line(
        "units",
        SettingForm("units", _units, lambda given: None if given is None else given.to_plain()),
        'rows that belong together: [units] id = "hid", size = "hsize", order = "age desc"',
    ),
    Line(
        "design",
        SettingForm("design", _design, _plain_design),
        'weights, strata and clusters of a sample: [design] weight = "pw", strata = "region"',
    ),
    Line(
        "guarantee",
        SettingForm("guarantee", _guarantee, lambda asked: protection_of(asked).to_plain()),
        'how the table is protected: [guarantee] name = "zcdp", rho = 0.5; see docs/guarantees.md',
    ),
    Line(
        "schema",
        SettingForm("schema", _schema),
        'codebook that declares the columns, a path relative to the plan: codebook = "codebook.csv"',
        key="codebook",
    ),
)
