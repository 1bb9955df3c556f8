"""A confidential table of units: its rows by unit and place, what its columns are, and what was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.relations import Relations, find_relations
from pysynthdp.curator.rows import listed, rows_of
from pysynthdp.curator.universes import settled_universes
from pysynthdp.curator.whole_table import index_remarks
from pysynthdp.design.dtypes import with_types
from pysynthdp.design.rows import Rows
from pysynthdp.design.universes import limited
from pysynthdp.plan.unit_plan import (
    PLACE,
    SINCE,
    SIZE,
    Numbering,
    UnitDerived,
    of_before,
    of_first,
    there_at,
)
from pysynthdp.schema import CategoricalColumn, Column, Schema
from pysynthdp.schema.units import Units
from pysynthdp.synthesizer.planning import (
    check_drops,
    schema_of_table,
    settled_rare,
    to_be_drawn,
)
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.stated import stated_schema
from pysynthdp.synthesizer.unit_settings import check_named, derived_over_units, for_columns
from pysynthdp.units import (
    Placed,
    functions_over_units,
    numbering_of,
    placed_rows,
    shared_columns,
    unit_frame,
)

__all__ = ["OpenedUnits", "opened_units"]

_ODD_NAMES: Final = (PLACE, SINCE, SIZE)


@dataclass(slots=True, repr=False)
class OpenedUnits:
    """A table of units under way.

    Parameters
    ----------
    settings : Settings
        What was asked for.
    units : Units
        Of it.
    names : tuple of str
        Columns of a copy, in the order of the table.
    frame : DataFrame
        The confidential rows; once understood, by unit and place, with the columns of ``structure``.
    placed : Placed
        Rows by unit and place.
    numbering : Numbering
        How ids are written.
    over : tuple of UnitDerived
        Columns that are computed in whole units.
    shared, own : tuple of str
        Other columns: of units, and of rows.
    schema : Schema
        Of what is drawn: structure, shared, own.
    beside : Schema
        Of ids, places and what is computed in whole units.
    found : mapping
        Functions of columns of units, and of rows.
    merged : tuple of str
        Columns whose rare levels were merged.
    remarks : list of Remark
        What is odd about the table.
    """

    settings: Settings
    units: Units
    names: tuple[str, ...]
    frame: pd.DataFrame
    placed: Placed
    numbering: Numbering
    over: tuple[UnitDerived, ...]
    shared: tuple[str, ...]
    own: tuple[str, ...]
    schema: Schema = field(default_factory=lambda: Schema(()))
    beside: Schema = field(default_factory=lambda: Schema(()))
    found: dict[str, Relations] = field(default_factory=dict)
    merged: tuple[str, ...] = ()
    remarks: list[Remark] = field(default_factory=list)

    @property
    def structure(self) -> tuple[str, ...]:
        """Columns of the table of units that say which rows a unit has."""
        if self.placed.waves is not None:
            return tuple(map(there_at, range(self.placed.places)))
        return (self.units.size or SIZE,)

    @property
    def relations(self) -> Relations:
        """What was found of units and of rows, together."""
        found = self.found.values()
        return Relations(
            {name: text for own in found for name, text in own.exact.items()},
            tuple(remark for own in found for remark in own.offered),
            {name: code for own in found for name, code in own.codes.items()},
            {name: texts for own in found for name, texts in own.nearly.items()},
        )


def opened_units(settings: Settings, table: Any) -> OpenedUnits:
    """Sort the rows of a table, say what its columns are, and look for functions.

    Raises
    ------
    SchemaError, PlanError, FitError
        If units are not as they are said to be, or the settings do not fit the table.

    Notes
    -----
    Privacy: reads real rows.
    """
    units = settings.units
    assert units is not None  # noqa: S101 -- asked for before
    if listed(table) is not None:
        what = "units of several imputed tables are not drawn"
        raise PlanError(what, kind="units", remedy="fit each table by itself, and pool what each gives")
    rows = rows_of(table, full=True)
    check_drops(settings, rows.columns)
    check_named(settings, rows.columns)
    frame = _in_memory(rows, [name for name in rows.columns if name not in settings.drop])
    placed = placed_rows(frame, units)
    over = derived_over_units(settings, list(frame.columns))
    made = {units.id, units.member, *(each.column for each in over)}
    made |= {units.by} if units.panel else set()
    drawn = [name for name in frame.columns if name not in made and name != units.size]
    among = [name for name in drawn if name not in (units.by, units.head and units.head[0])]
    shared, odd = shared_columns(frame, placed, units, among)
    own = tuple(name for name in drawn if name not in shared)
    _check_names(frame, own, units)
    numbering = numbering_of(frame, placed, units)
    names = tuple(frame.columns)
    opened = OpenedUnits(settings, units, names, frame, placed, numbering, over, shared, own)
    opened.remarks = [*index_remarks(rows), *odd, *_left_out(placed, units)]
    _understand(opened)
    return opened


def _in_memory(rows: Rows, names: Sequence[str]) -> pd.DataFrame:
    """Take rows as one frame; those that lie on other machines are refused."""
    if not hasattr(rows, "frame"):
        what = "units are sorted in one frame, and this table lies in pieces elsewhere"
        mend = Words("give it as one data frame, or leave {units} out", units=Setting("units", ...))
        raise PlanError(what, kind="units", remedy=mend)
    return rows.take(names).reset_index(drop=True)


def _check_names(frame: pd.DataFrame, own: Sequence[str], units: Units) -> None:
    """Refuse names that columns have beside other rows of their unit, and a table with nothing of rows."""
    taken = {*_ODD_NAMES, *map(of_first, own), *map(of_before, own)}
    for name in frame.columns:
        if name in taken:
            text = Words("{name} is a name that units need for columns of their own", name=name)
            raise PlanError(text, column=name, kind="units", remedy="rename it")
    if not own:
        text = Words(
            "all columns are shared in units of {unit}: rows of one unit do not differ", unit=units.id
        )
        mend = "take one row a unit, and leave units out"
        raise PlanError(text, column=units.id, kind="units", remedy=mend)


def _left_out(placed: Placed, units: Units) -> Iterable[Remark]:
    """Say that units were too large."""
    if placed.left_out:
        what = "units of more than {limit} rows are {done}, as larger says"
        done = "left out" if units.larger == "drop" else "cut to these"
        yield Remark(units.id, "large units", Words(what, limit=units.max_size, done=done), "")


def _understand(opened: OpenedUnits) -> None:
    """Say what columns are, settle rare levels, and look for functions; then put rows in order."""
    settings, frame, placed = opened.settings, opened.frame, opened.placed
    opened.beside = _beside(opened)
    heads = unit_frame(frame, placed, opened.shared)
    members = frame[list(opened.own)].iloc[placed.rows].reset_index(drop=True)
    parts = []
    for names, part in ((opened.shared, heads), (opened.own, members)):
        schema, changed = _settled(opened, names, part)
        parts.append((schema, changed))
    number = placed.unit
    long = {name: parts[0][1][name].take(number).reset_index(drop=True) for name in opened.shared}
    long |= {name: parts[1][1][name] for name in opened.own}
    more = {name: frame[name].iloc[placed.rows].reset_index(drop=True) for name in opened.beside.names}
    structure, columns = _structure(opened)
    rows = {name: values[number] for name, values in columns.items()}
    opened.frame = pd.DataFrame({**rows, **long, **more}, copy=False)
    opened.placed = replace(placed, rows=np.arange(len(number)))
    opened.schema = Schema((*structure, *parts[0][0], *parts[1][0]))
    if settings.schema is None:
        _look_for_functions(opened, heads)
    drawn = for_columns(settings, {*opened.shared, *opened.own})
    stated = stated_schema(drawn, opened.schema, learns=True)
    if limited(stated):
        stated = settled_universes(stated, (rows_of(opened.frame),))
    opened.schema = stated


def _settled(opened: OpenedUnits, names: Sequence[str], part: pd.DataFrame) -> tuple[Schema, pd.DataFrame]:
    """Say what some columns are, and settle their rare levels."""
    if not names:
        return Schema(()), part
    settings = for_columns(opened.settings, names)
    rows = rows_of(part)
    schema = _schema(settings, rows, names)
    settled = settled_rare(settings, schema, (rows,))
    opened.merged = (*opened.merged, *settled.merged)
    opened.remarks += settled.remarks
    return settled.schema, settled.tables[0].take(list(names)).reset_index(drop=True)


def _schema(settings: Settings, rows: Rows, names: Sequence[str], numbers: Sequence[str] = ()) -> Schema:
    """Take the declared schema of some columns, or infer one; ``numbers`` are such, however few they are."""
    if settings.schema is None:
        return schema_of_table(settings, rows, numbers=numbers)
    return with_types(Schema(tuple(settings.schema[name] for name in names)), rows.dtypes)


def _beside(opened: OpenedUnits) -> Schema:
    """Say what ids, places and columns that are computed in whole units are."""
    units, frame = opened.units, opened.frame
    ids = [
        CategoricalColumn(name, (), dtype=_id_type(frame[name].dtype), declared=False, may_be_missing=False)
        for name in (units.id, units.member)
        if name is not None
    ]
    made = [each.column for each in opened.over]
    if units.panel and units.by is not None:
        ids.append(_levels(units.by, opened.placed.waves, frame[units.by].dtype))
    part = frame[made]
    numbers = [name for name in made if pd.api.types.is_numeric_dtype(part[name])]
    own = for_columns(opened.settings, made)
    schema = _schema(own, rows_of(part), made, numbers) if made else Schema(())
    for name in numbers:
        if opened.settings.schema is None and pd.api.types.is_float_dtype(part[name]):
            schema = schema.amend(name, may_be_missing=True)  # as the mean of none is, which the table lacks
    return Schema((*ids, *schema))


def _id_type(dtype: Any) -> Any:
    """Forget the categories of ids."""
    return "category" if isinstance(dtype, pd.CategoricalDtype) else dtype


def _levels(name: str, values: Any, dtype: Any) -> CategoricalColumn:
    """Make a column of known values, none of which is missing."""
    levels = tuple(np.asarray(values).tolist())
    plain = None if isinstance(dtype, pd.CategoricalDtype) else dtype
    return CategoricalColumn(name, levels, dtype=plain, declared=False, may_be_missing=False)


def _structure(opened: OpenedUnits) -> tuple[list[Column], dict[str, Any]]:
    """Make the columns that say which rows a unit has: its size, or where a panel has it."""
    placed, names = opened.placed, opened.structure
    if placed.waves is not None:
        there = placed.there.astype(np.int64)
        columns = {name: there[:, place] for place, name in enumerate(names)}
        return [_levels(name, (0, 1), np.dtype(np.int64)) for name in names], columns
    given = opened.units.size
    dtype = np.dtype(np.int64) if given is None else opened.frame[given].dtype
    sizes = placed.sizes
    column = _levels(names[0], np.unique(sizes), dtype)
    return [column], {names[0]: sizes}


def _look_for_functions(opened: OpenedUnits, as_they_are: pd.DataFrame) -> None:
    """Look for columns of units that are functions of others, or of rows, then for columns of rows."""
    settings, schema = opened.settings, opened.schema
    order = None if settings.visit_sequence is None else [*settings.visit_sequence]
    heads = unit_frame(opened.frame, opened.placed, opened.shared)
    whole = opened.frame[[*opened.shared, *opened.own]]
    for sort, names, frame in (("units", opened.shared, heads), ("rows", opened.own, whole)):
        own = for_columns(settings, names)
        free = to_be_drawn(own, Schema(tuple(schema[name] for name in names)))
        known = Schema(tuple(schema[name] for name in frame.columns if name not in settings.derived))
        free &= {*known.names}
        if free:
            opened.found[sort] = find_relations((rows_of(frame),), known, order=order, free=free)
        if sort == "units":
            opened.remarks += _over_units(opened, as_they_are, free)


def _over_units(opened: OpenedUnits, heads: pd.DataFrame, free: Collection[str]) -> tuple[Remark, ...]:
    """Offer what columns of units are computed from in whole units, where nobody said it."""
    among = [name for name in opened.shared if name in free and name not in opened.relations.exact]
    made = (each.column for each in opened.over)
    size = () if opened.units.size is None else (opened.units.size,)
    columns = {column.name: column for column in (*opened.schema, *opened.beside)}
    known = Schema(tuple(columns[name] for name in (*size, *opened.shared, *made, *opened.own)))
    return functions_over_units(heads[among], opened.frame, opened.placed, known, own=opened.own)
