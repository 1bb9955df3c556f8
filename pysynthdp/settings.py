"""What the settings of a synthesizer come to: their checks, the schema, the plan."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from pysynthdp.design.dtypes import with_types
from pysynthdp.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.infer import (
    Drawn,
    Rare,
    Settled,
    guess_remarks,
    infer_schema,
    kinds_apart,
    settle_rare,
    united,
)
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import SERIAL, SynthesisPlan, drawn_by, make_plan
from pysynthdp.plan.protection import protection_of
from pysynthdp.remarks import Remark
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import Schema

if TYPE_CHECKING:  # a synthesizer calls these functions, so at run time the import goes one way only
    from pysynthdp.synthesizer import Synthesizer

__all__ = [
    "check_named",
    "check_settings",
    "fitting_schema",
    "guesses",
    "plan_of",
    "schema_of_table",
    "schema_of_tables",
    "settled_rare",
]

DECLARATIONS = ("missing", "spikes", "bounds", "decimals", "levels")


def check_settings(settings: Synthesizer) -> None:
    """Refuse settings that contradict each other, whatever the table."""
    for what in ("keep", "drop", "formulas", "visit_sequence"):
        if isinstance(getattr(settings, what), str):
            raise PlanError(f"{what} is a single text; give a list, {what}=[...]")
    both = set(settings.keep) & set(settings.drop)
    if both:
        raise PlanError(f"{min(both)} is both kept and dropped; name it once")
    _check_types(settings)
    protection = protection_of(settings.guarantee)  # refuses what is no guarantee
    if settings.rare != "keep" and not protection.learns:
        raise PrivacyError(
            f"rare={settings.rare!r} counts records, which a formal guarantee does not allow; leave it out "
            "and declare coarser levels, with other= for what is not among them"
        )
    _check_schema(settings)


def _check_types(settings: Synthesizer) -> None:
    """Refuse settings that are merely like what is asked for: a text is true, and so is 1."""
    for what in ("proper", "emit_original"):
        if not isinstance(getattr(settings, what), bool):
            raise PlanError(f"{what} must be True or False")
    if settings.rare not in get_args(Rare):
        raise PlanError("rare must be one of 'keep', 'merge', 'refuse'")
    if settings.progress is not None and not isinstance(settings.progress, bool):
        raise PlanError("progress must be True, False or None")
    workers = settings.workers
    whole = isinstance(workers, int) and not isinstance(workers, bool)
    if workers is not None and (not whole or workers < 1):
        raise PlanError("workers must be a whole number of at least 1")


def _check_schema(settings: Synthesizer) -> None:
    """Refuse a schema of another type, and declarations beside a schema, which would be ignored."""
    if settings.schema is None:
        return
    if not isinstance(settings.schema, Schema):
        raise PlanError("schema must be a Schema; write schema=Schema([NumericColumn(...), ...])")
    for what in DECLARATIONS:
        if getattr(settings, what):
            raise PlanError(f"{what}= is given beside schema=; declare it in the schema's columns instead")


def plan_of(settings: Synthesizer, schema: Schema) -> SynthesisPlan:
    """Plan from a schema and the settings."""
    return make_plan(
        schema.without(settings.drop),
        settings.protection,
        method=settings.method,
        visit_sequence=settings.visit_sequence,
        predictor_matrix=settings.predictor_matrix,
        formulas=settings.formulas,
        keep=settings.keep,
        drop=settings.drop,
        proper=settings.proper,
        emit_original=settings.emit_original,
        joint=settings.joint,
    )


def settled_rare(settings: Synthesizer, schema: Schema, tables: Sequence[FrameRows]) -> Settled:
    """Keep, merge or refuse rare levels of the columns that are modelled."""
    method = settings.method if isinstance(settings.method, Mapping) else {}
    serials = [name for name, wish in method.items() if wish == SERIAL]
    return settle_rare(schema, tables, settings.rare, exempt=[*settings.keep, *serials, *settings.drop])


def schema_of_tables(settings: Synthesizer, tables: Sequence[FrameRows]) -> Schema:
    """Infer one schema for several imputations of a table, or for one table.

    A column that few distinct values make categorical in some of them only stays a number in all.
    """
    schemas = [schema_of_table(settings, rows) for rows in tables]
    apart = kinds_apart(schemas)
    if apart:
        schemas = [schema_of_table(settings, rows, numbers=apart) for rows in tables]
    return united(schemas)


def schema_of_table(settings: Synthesizer, rows: FrameRows, *, numbers: Iterable[str] = ()) -> Schema:
    """Infer the schema with what the user declares; ``numbers`` stay numbers."""
    _check_drops(settings, rows.columns)
    method = settings.method if isinstance(settings.method, Mapping) else {}
    return infer_schema(
        rows,
        missing=settings.missing,
        spikes=settings.spikes,
        bounds=settings.bounds,
        decimals=settings.decimals,
        levels=settings.levels,
        exempt=settings.keep,
        drawn={**dict.fromkeys(numbers, "number"), **_drawn(settings, rows.columns)},
        named=[name for name, wish in method.items() if wish != SERIAL],
        numbered=[name for name, wish in method.items() if wish == SERIAL],
        skip=settings.drop,
    )


def _drawn(settings: Synthesizer, names: Iterable[str]) -> dict[str, Drawn]:
    """Say what the user's methods draw, of columns whose method draws one kind only."""
    wishes = {name: _wish(settings, name) for name in names}
    kinds = {name: drawn_by(wish) for name, wish in wishes.items() if wish is not None}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def guesses(settings: Synthesizer, schema: Schema, rows: FrameRows) -> tuple[Remark, ...]:
    """Say what was guessed of the columns of which the user himself says nothing."""
    method = settings.method if isinstance(settings.method, Mapping) else {}
    declared = (
        settings.missing,
        settings.spikes,
        settings.bounds,
        settings.decimals,
        settings.levels,
        method,
    )
    told = frozenset(settings.keep).union(*declared)
    open_ones = [column for column in schema if column.name in rows.columns and column.name not in told]
    return tuple(remark for column in open_ones for remark in guess_remarks(rows.frame[column.name], column))


def _wish(settings: Synthesizer, name: str) -> str | ColumnModel | None:
    """Find the method that the user names for a column."""
    return settings.method.get(name) if isinstance(settings.method, Mapping) else settings.method


def fitting_schema(settings: Synthesizer, schema: Schema, rows: FrameRows) -> Schema:
    """Fill in the types that the schema leaves open by the table's; refuse columns that it does not name."""
    check_named(settings, schema, rows)
    return with_types(schema, dict(zip(rows.columns, rows.frame.dtypes, strict=True)))


def check_named(settings: Synthesizer, schema: Schema, rows: FrameRows | None) -> None:
    """Refuse columns of the table that the schema does not name, and drops of what neither of them has."""
    if rows is None:
        return
    apart = {*settings.drop, settings.protection.unit.key}
    for name in rows.columns:
        if name not in schema and name not in apart:
            raise SchemaError(f"the schema does not name {name!r}; declare it, or drop=[{name!r}]")
    known = () if settings.schema is None else settings.schema.names
    _check_drops(settings, {*rows.columns, *known})


def _check_drops(settings: Synthesizer, names: Container[str]) -> None:
    """Refuse to drop what is not there: a slip in the name would release the column."""
    for name in settings.drop:
        if name not in names:
            raise PlanError(f"drop names {name!r}, which is no column")
