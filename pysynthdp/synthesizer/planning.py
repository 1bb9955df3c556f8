"""What the settings of a synthesis come to: the schema of a table, and the plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from pysynthdp.base.errors import PlanError, SchemaError, together
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import CODEBOOK, Setting, Words, meant
from pysynthdp.curator.infer import (
    Drawn,
    Settled,
    infer_schema,
    kinds_apart,
    settle_rare,
    united,
)
from pysynthdp.design.dtypes import with_types
from pysynthdp.design.parts import absent_columns
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import declarations_of, labelled
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import SynthesisPlan, drawn_by, make_plan
from pysynthdp.plan.asked import asking
from pysynthdp.plan.order import Behind
from pysynthdp.schema import Schema
from pysynthdp.schema.declarations import DECLARATIONS
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.stated import stated_schema
from pysynthdp.synthesizer.wrong import NOTHING

__all__ = [
    "check_drops",
    "check_named",
    "declared_plan",
    "fitting_schema",
    "plan_of",
    "schema_of_table",
    "schema_of_tables",
    "settled_rare",
    "to_be_drawn",
    "told",
    "unnamed",
]


def plan_of(
    settings: Settings,
    schema: Schema,
    found: Mapping[str, str] | None = None,
    codes: Mapping[str, str] | None = None,
    nearly: Mapping[str, Sequence[str]] | None = None,
) -> SynthesisPlan:
    """Plan from a schema, the settings, and what was found in a table.

    Parameters
    ----------
    settings, schema : Settings, Schema
        A user's.
    found : mapping column -> expression, optional
        Functions of columns.
    codes : mapping column -> column, optional
        Columns that are looked up by a code, and it.
    nearly : mapping column -> formulas, optional
        Numbers that are drawn as a function of others and a residual.
    """
    method = settings.method
    if nearly:
        method = {**(method if isinstance(method, Mapping) else {}), **dict.fromkeys(nearly, "residual")}
    by_code = {name: (code,) for name, code in (codes or {}).items()}
    protection = settings.protection
    return make_plan(
        stated_schema(settings, schema, learns=protection.learns).without(settings.drop),
        protection,
        method=method,
        visit_sequence=settings.visit_sequence,
        predictor_matrix=settings.predictor_matrix,
        formulas=[*settings.formulas, *itertools.chain(*(nearly or {}).values())],
        keep=settings.keep,
        drop=settings.drop,
        proper=settings.proper,
        draws=settings.draws,
        emit_original=settings.emit_original,
        joint=settings.joint,
        derive=settings.derived,
        nested=settings.nested,
        strata=settings.strata,
        design=settings.design,
        found=found,
        rules=settings.rules,
        recoded=tuple(dict.fromkeys((*settings.top_code, *settings.round))),
        behind=Behind(directly=by_code, first={code for (code,) in by_code.values()}),
        max_predictors=settings.max_predictors,
        terms=settings.terms,
    )


def declared_plan(settings: Settings) -> SynthesisPlan:
    """Plan from the declared schema alone; no record is read.

    Raises
    ------
    PlanError
        If there is no schema, or a setting cannot be met.
    """
    if settings.schema is None:
        raise PlanError(
            "there is neither a schema nor a table",
            kind="table",
            remedy=Words("give a table, or {schema}", schema=CODEBOOK),
        )
    return plan_of(settings, settings.schema)


def settled_rare(settings: Settings, schema: Schema, tables: Sequence[Rows]) -> Settled:
    """Keep, merge or refuse rare levels of the columns that are modelled."""
    method = settings.method if isinstance(settings.method, Mapping) else {}
    serials = [name for name, wish in method.items() if wish == SERIAL]
    apart = [*settings.keep, *serials, *settings.drop]
    open_to_guesses = settings.schema is None and (settings.method is None or settings.method is method)
    guessed = [name for name in schema.names if open_to_guesses and name not in told(settings)]
    return settle_rare(schema, tables, settings.rare, exempt=apart, guessed=guessed)


def schema_of_tables(settings: Settings, tables: Sequence[Rows]) -> Schema:
    """Infer one schema for several imputations of a table, or for one table.

    A column that few distinct values make categorical in some of them only stays a number in all.
    """
    schemas = [schema_of_table(settings, rows) for rows in tables]
    apart = kinds_apart(schemas)
    if apart:
        schemas = [schema_of_table(settings, rows, numbers=apart) for rows in tables]
    return united(schemas)


def schema_of_table(settings: Settings, rows: Rows, *, numbers: Iterable[str] = ()) -> Schema:
    """Infer the schema with what the user declares; ``numbers`` stay numbers."""
    check_drops(settings, rows.columns)
    method = settings.method if isinstance(settings.method, Mapping) else {}
    own = settings.declarations
    schema = infer_schema(
        rows,
        declared=own if settings.labels is None else own.over(declarations_of(settings.labels), rows.columns),
        exempt=settings.keep,
        drawn={**dict.fromkeys(numbers, "number"), **_drawn(settings, rows.columns)},
        named=[
            *(name for name, wish in method.items() if wish != SERIAL),
            *settings.derived,
            *settings.parting,
        ],
        numbered=[name for name, wish in method.items() if wish == SERIAL],
        skip=settings.drop,
    )
    return schema if settings.labels is None else labelled(schema, settings.labels)


def _drawn(settings: Settings, names: Iterable[str]) -> dict[str, Drawn]:
    """Say what the user's methods draw, of columns whose method draws one kind only."""
    names = list(names)
    wishes = {name: _wish(settings, name) for name in names}
    levels: dict[str, Drawn] = {name: "levels" for name in names if name in settings.parting}
    kinds = {name: drawn_by(wish) for name, wish in wishes.items() if wish is not None}
    parts = (*settings.must_sum, *itertools.chain(*settings.must_sum.values()))
    weight = () if settings.design is None or settings.design.weight is None else (settings.design.weight,)
    numbered = (*settings.top_code, *settings.round, *parts, *weight)
    numbers: dict[str, Drawn] = dict.fromkeys(numbered, "number")
    return {**levels, **numbers, **{name: kind for name, kind in kinds.items() if kind is not None}}


def to_be_drawn(settings: Settings, schema: Schema) -> frozenset[str]:
    """Columns of which the user says nothing, so that they may turn out to be functions of others."""
    for_all = settings.method is not None and not isinstance(settings.method, Mapping)
    if settings.derive == NOTHING or for_all:
        return frozenset()
    apart = {*told(settings), *settings.drop, *(settings.derive or ()), *settings.formulated}
    apart |= settings.parting
    apart |= set() if settings.design is None else {*settings.design.columns}
    apart.update(name for columns, _ in settings.joint for name in columns)
    apart.update(asking(settings.universe, schema.names))
    return frozenset(schema.names) - apart


def told(settings: Settings) -> frozenset[str]:
    """Columns of which the user says something himself, so that nothing is guessed about them."""
    method = settings.method if isinstance(settings.method, Mapping) else {}
    stated = (settings.universe, settings.top_code, settings.round)
    return frozenset(settings.keep).union(
        method, settings.derived, *stated, *(getattr(settings, what) for what in DECLARATIONS)
    )


def _wish(settings: Settings, name: str) -> str | ColumnModel | None:
    """Find the method that the user names for a column."""
    return settings.method.get(name) if isinstance(settings.method, Mapping) else settings.method


def fitting_schema(settings: Settings, schema: Schema, rows: Rows) -> Schema:
    """Fill in the types that the schema leaves open by the table's; refuse columns that it does not name."""
    check_named(settings, schema, rows, key=settings.protection.unit.key)
    return with_types(schema, rows.dtypes)


def check_named(settings: Settings, schema: Schema, rows: Rows | None, *, key: str | None) -> None:
    """Refuse columns that neither the schema nor the unit's key names, and drops of what is no column."""
    if rows is None:
        return
    apart = {*settings.drop, key}
    faults = [unnamed(name) for name in rows.columns if name not in schema and name not in apart]
    faults += absent_columns(rows.columns, schema.without(settings.drop))
    if faults:
        raise together(faults)
    known = () if settings.schema is None else settings.schema.names
    check_drops(settings, [*rows.columns, *known])


def unnamed(name: str) -> SchemaError:
    """Say that the schema does not name a column of the table."""
    what = Words("the schema does not name '{name}'", name=name)
    mend = Words("declare it, or leave it out with {drop}", drop=Setting("drop", [name]))
    return SchemaError(what, column=name, kind="columns", remedy=mend)


def check_drops(settings: Settings, names: Sequence[str]) -> None:
    """Refuse to drop what is not there: a slip in the name would release the column."""
    for name in settings.drop:
        if name not in names:
            what = Words("drop names '{name}', which is no column", name=name)
            mend = meant(str(name), names, f"columns are {', '.join(names)}")
            raise PlanError(what, column=str(name), kind="columns", remedy=mend)
