"""A confidential table of units: its rows by unit and place, what its columns are, and what was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.relations import Relations, find_relations
from pysynthdp.curator.rows import OwnedRows, listed, rows_of
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
from pysynthdp.synthesizer.designed import designed, in_rows
from pysynthdp.synthesizer.grouped import strata_named
from pysynthdp.synthesizer.planning import (
    check_drops,
    schema_of_table,
    settled_rare,
    to_be_drawn,
    told,
)
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.stated import stated_schema
from pysynthdp.synthesizer.unit_settings import check_named, derived_over_units, for_columns
from pysynthdp.units import (
    Placed,
    check_of_units,
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
    numbered : tuple of str
        Columns of running numbers that units have once, beside their ids.
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
    numbered: tuple[str, ...] = ()

    @property
    def structure(self) -> tuple[str, ...]:
        """Columns of the table of units that say which rows a unit has, where units differ in that."""
        if self.placed.waves is not None:
            return tuple(there_at(int(place)) for place in np.flatnonzero(~self.placed.there.all(axis=0)))
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
        mend = "give the table with its missing values, which are drawn as such; or fit one of them by itself"
        raise PlanError(what, kind="units", remedy=mend)
    rows = rows_of(table, full=True)
    check_drops(settings, rows.columns)
    check_named(settings, rows.columns)
    frame = _in_memory(rows, [name for name in rows.columns if name not in settings.drop])
    frame, placed = _as_asked(frame, settings, units)
    over = derived_over_units(settings, list(frame.columns))
    made = {units.id, units.member, *(each.column for each in over)}
    made |= {units.by} if units.panel else set()
    made |= {*_numbered(settings)}
    drawn = [name for name in frame.columns if name not in made and name != units.size]
    among = [name for name in drawn if name not in (units.by, units.head and units.head[0])]
    whole = [name for names in _of_units(settings).values() for name in names]
    shared, odd = shared_columns(frame, placed, units, among, also=whole)
    own = tuple(name for name in drawn if name not in shared)
    _check_names(frame, own, units)
    numbering = numbering_of(frame, placed, units)
    names = tuple(frame.columns)
    opened = OpenedUnits(settings, units, names, frame, placed, numbering, over, shared, own)
    opened.remarks = [*index_remarks(rows), *odd, *_left_out(placed, units)]
    serials = [name for name in _numbered(settings) if name in frame.columns]
    opened.numbered, _ = shared_columns(frame, placed, replace(units, shared=None), serials)
    opened.remarks += _under_design(opened)
    _understand(opened)
    return opened


def _numbered(settings: Settings) -> tuple[str, ...]:
    """Name further columns of running numbers, of units or of rows, by the method that asks for them."""
    methods = settings.method if isinstance(settings.method, Mapping) else {}
    return tuple(name for name, wish in methods.items() if wish == SERIAL)


def _of_units(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Name the columns that each setting takes as those of units."""
    design, kept = settings.design, tuple(settings.keep)
    found = {"keep": kept, "strata": strata_named(settings.strata)}
    if design is not None:
        totals = design.totals if isinstance(design.totals, Mapping) and design.drawn else ()
        found["keep"] = tuple(name for name in kept if name not in design.real)
        found |= {"design": (*design.real, *design.drawn), "totals": tuple(map(str, totals))}
    return found


def _as_asked(frame: pd.DataFrame, settings: Settings, units: Units) -> tuple[pd.DataFrame, Placed]:
    """Sort rows, refuse columns of rows where a setting needs those of units, and take rows by their design.

    Replicate weights are made of whole units where no sampling units are named; ids stay as they are.
    """
    placed, design = placed_rows(frame, units), settings.design
    check_of_units(frame, placed, units, _of_units(settings))
    if design is None:
        return frame, placed
    if design.psu is None and design.rebuilt:
        recode: list[Literal["strata", "psu"]] = [role for role in design.recode if role != "psu"]
        design = replace(design, psu=units.id, recode=recode)
    rows = designed(rows_of(frame), design, learns=settings.protection.learns)
    left = rows.take(list(frame.columns)).reset_index(drop=True)
    return left, placed if len(left) == len(frame) else placed_rows(left, units)


def _under_design(opened: OpenedUnits) -> Iterable[Remark]:
    """Say how units stand out under their design, and refuse weights among ordinary columns.

    Units are counted, since whoever is known again in a kept column of units is a unit.
    """
    settings, frame = opened.settings, opened.frame
    names = [*opened.shared, *(name for name in settings.keep if name == opened.units.size)]
    known = told(settings)
    yield from in_rows(settings, rows_of(unit_frame(frame, opened.placed, names)), known, of="units")
    yield from in_rows(for_columns(settings, opened.own), rows_of(frame[list(opened.own)]), known)


def _in_memory(rows: Rows, names: Sequence[str]) -> pd.DataFrame:
    """Take rows as one frame; those that lie on other machines are refused."""
    if not hasattr(rows, "frame"):
        what = "units are sorted in one frame, and this table lies in pieces elsewhere"
        mend = Words(
            "compute() makes one data frame of it where that has room, and a path to Parquet is read from "
            "disk; or leave {units} out",
            units=Setting("units", ...),
        )
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
    by_unit = OwnedRows(rows_of(members), placed.unit)
    for names, part in ((opened.shared, rows_of(heads)), (opened.own, by_unit)):
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


def _settled(opened: OpenedUnits, names: Sequence[str], rows: Rows) -> tuple[Schema, pd.DataFrame]:
    """Say what some columns are, and settle their rare levels."""
    if not names:
        return Schema(()), rows.take(())
    settings = for_columns(opened.settings, names)
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
    ids: list[Column] = [
        CategoricalColumn(name, (), dtype=_id_type(frame[name].dtype), declared=False, may_be_missing=False)
        for name in (units.id, units.member)
        if name is not None
    ]
    made = [each.column for each in opened.over]
    if units.panel and units.by is not None:
        ids.append(_levels(units.by, opened.placed.waves, frame[units.by].dtype))
    if units.panel and units.size is not None:
        sizes = np.arange(1, opened.placed.places + 1)
        ids.append(_levels(units.size, sizes, frame[units.size].dtype))
    serials = [name for name in _numbered(opened.settings) if name in frame.columns]
    if serials:
        found = _schema(for_columns(opened.settings, serials), rows_of(frame[serials]), serials)
        ids += [replace(own, levels=()) if isinstance(own, CategoricalColumn) else own for own in found]
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
        columns = {there_at(place): there[:, place] for place in range(placed.places)}
        columns = {name: columns[name] for name in names}
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
        alone = {*settings.derived, *(() if settings.design is None else settings.design.drawn)}
        known = Schema(tuple(schema[name] for name in frame.columns if name not in alone))
        free &= {*known.names}
        if free:
            there = None if order is None else [name for name in order if name in known.names]
            opened.found[sort] = find_relations((rows_of(frame),), known, order=there, free=free)
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
