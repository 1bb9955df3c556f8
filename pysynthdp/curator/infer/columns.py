"""Infer a schema from rows, marked ``declared=False``; bounds are never inferred."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import pandas as pd

from pysynthdp.base.errors import PysynthdpError, SchemaError, together
from pysynthdp.base.remarks import FEWEST
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.curator.infer.dates import infer_date
from pysynthdp.curator.infer.identifiers import identifier, not_all_numbers
from pysynthdp.curator.infer.numbers import Drawn, NumberFacts, infer_number
from pysynthdp.curator.infer.written import strays_among, texts_of
from pysynthdp.curator.spread.pieces import of_column
from pysynthdp.design.rows import Rows
from pysynthdp.design.tagged import absent_of
from pysynthdp.design.values import TO_NUMBERS, TO_TIMES, is_dated
from pysynthdp.schema import CategoricalColumn, Column, Schema
from pysynthdp.schema.declarations import Codes, Declarations
from pysynthdp.schema.labels import as_tag

__all__ = ["infer_column", "infer_schema"]
_NUMBERED: Final = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)
MANY_LEVELS = (
    60  # a text column with more distinct values than this, most of them rare, is an id or free text
)
_SHARE = 0.5
_FEW = 10  # with fewer rows, values that occur once say nothing
_DURATIONS: Final = Said("pd.to_timedelta", "a number of seconds", "as.difftime()")
_TIMES: Final = ("datetime", "datetime64")
_IN_ONE_ZONE: Final = Said(
    "pd.to_datetime(..., utc=True)", "times in one zone", 'as.POSIXct(..., tz = "UTC")'
)
_MENDS: Final[Mapping[str, Said]] = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), TO_NUMBERS),
    **dict.fromkeys(_TIMES, TO_TIMES),
    **dict.fromkeys(("timedelta", "timedelta64"), _DURATIONS),
}


def infer_schema(
    rows: Rows,
    *,
    declared: Declarations | None = None,
    exempt: Iterable[str] = (),
    drawn: Mapping[str, Drawn] | None = None,
    named: Iterable[str] = (),
    numbered: Iterable[str] = (),
    skip: Iterable[str] = (),
    public: bool = False,
) -> Schema:
    """Read every column once and say what it is.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    declared : Declarations, optional
        What the user declares; all else is learned.
    exempt : iterable of str
        Columns that may be identifiers: kept or replaced by running numbers.
    drawn : mapping column -> {"number", "levels", "ordered"}, optional
        What the user's method draws, if it draws one kind only: numbers become that; as numbers, without
        learned spikes.
    named : iterable of str
        Columns that the user names a method for: they are modelled, though they look like identifiers.
    numbered : iterable of str
        Columns whose identifiers are replaced by running numbers, written in their form.
    skip : iterable of str
        Columns to leave out.
    public : bool
        Whether the table is public, as copies are: then categories that no row has are levels too.

    Raises
    ------
    SchemaError
        If a column is an identifier or free text, or mixes types; the message names the ways out.

    Notes
    -----
    Privacy: reads real rows; the levels and decimals in the result are learned from them.
    """
    said = (declared or Declarations()).by_column(rows.columns)
    free, modelled, kinds, skipped = set(exempt) | set(numbered), set(named), drawn or {}, set(skip)
    columns: list[Column] = []
    faults: list[PysynthdpError] = []
    for name in (each for each in rows.columns if each not in skipped):
        wishes = {"drawn": kinds.get(name), "named": name in modelled}
        given = {**said[name], **wishes, "exempt": name in free, "public": public}
        try:
            columns.append(of_column(rows, name, infer_column, name, **given))
        except SchemaError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    schema = Schema(tuple(columns))
    for name in numbered:
        schema = _in_form(schema, name, rows)
    return schema


def _in_form(schema: Schema, name: str, rows: Rows) -> Schema:
    """Note how an identifier is written, where its column stays and holds texts."""
    texts = name in schema and isinstance(schema[name], CategoricalColumn)
    form = of_column(rows, name, _form_of) if texts else None
    return schema if form is None else schema.amend(name, form=form)


def infer_column(
    series: pd.Series[Any],
    name: str,
    *,
    missing: Codes = (),
    spikes: Iterable[Any] | None = None,
    bounds: tuple[Any, Any] = (None, None),
    decimals: int | None = None,
    levels: Iterable[Any] | None = None,
    exempt: bool = False,
    drawn: Drawn | None = None,
    named: bool = False,
    public: bool = False,
) -> Column:
    """Say what one column is."""
    kinds = _tags(series, missing)
    may_be_missing = bool(absent_of(series, kinds).any())
    for what, given in (("spikes", () if spikes is None else spikes), ("bounds", bounds)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SchemaError(
                Words("{what} of {name} must be a list", what=what, name=name),
                column=name,
                kind="setting",
                remedy=Words("write {setting}", setting=Setting(what, {name: [...]})),
            )
    kind = "text" if levels is not None or _is_category(series) else _what_it_holds(series, name, exempt)
    kind = "number" if kind == "empty" and kinds else kind
    asks_numbers = bool(spikes) or tuple(bounds) != (None, None) or decimals is not None
    if kind == "text" and asks_numbers and (strays := strays_among(texts_of(series))):
        raise not_all_numbers(series, name, strays)
    if kind == "text" and asks_numbers:
        what = Words("{name} is categorical: bounds, decimals and spikes are for numbers", name=name)
        raise SchemaError(what, column=name, kind="setting", remedy="leave them out")
    if levels is None and public and isinstance(series.dtype, pd.CategoricalDtype):
        codes = CategoricalColumn(name, (), missing=missing).specials
        own = tuple(level for level in series.cat.categories if level not in codes)
        column = _category(series, name, missing, own, may_be_missing, exempt, named)
        return replace(column, declared=False)
    if levels is not None or _is_category(series):
        ordered = drawn == "ordered" and levels is not None  # in the order of what is declared
        return _category(series, name, missing, levels, may_be_missing, exempt, named, ordered=ordered)
    if kind == "text":
        return _text(series, name, missing, may_be_missing, exempt, named)
    if kind == "empty":
        return CategoricalColumn(name, (), missing=missing, dtype=series.dtype, declared=False)
    if kind == "date":
        return infer_date(series, name, missing, spikes or (), bounds, decimals, released=exempt or public)
    heavy = None if spikes is None else tuple(spikes)
    facts = NumberFacts(missing, heavy, bounds, decimals, drawn, named, exempt or public)
    return infer_number(series, name, facts, exempt=exempt)


def _tags(series: pd.Series[Any], missing: Codes) -> tuple[str, ...]:
    """List the declared kinds that are NaN in a column of numbers."""
    numeric = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)
    codes = CategoricalColumn("", (), missing=missing).specials if numeric else ()
    return tuple(tag for tag in map(as_tag, codes) if tag is not None)


def _is_category(series: pd.Series[Any]) -> bool:
    """Whether a column comes with its levels: categorical or boolean."""
    return isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(series.dtype)


def _category(
    series: pd.Series[Any],
    name: str,
    missing: Codes,
    levels: Iterable[Any] | None,
    may_be_missing: bool,
    exempt: bool,
    named: bool,
    *,
    ordered: bool = False,
) -> CategoricalColumn:
    """Take the used levels of a categorical, both of a boolean, or levels that the user declares."""
    codes = CategoricalColumn(name, (), missing=missing).specials
    given = None if levels is None else tuple(levels)
    if not isinstance(series.dtype, pd.CategoricalDtype):
        own = tuple(level for level in (False, True) if level not in codes) if given is None else given
        dtype = "float64" if _tags(series, missing) else series.dtype
        return CategoricalColumn(name, own, ordered, None, missing, may_be_missing, dtype, given is not None)
    used = series.cat.remove_unused_categories()
    if given is None and _names_rows(used, named):
        return identifier(used, name, exempt)
    own = tuple(level for level in used.cat.categories if level not in codes) if given is None else given
    if ordered:
        return CategoricalColumn(name, own, True, None, missing, may_be_missing, "category")
    dtype, categories = _category_set(series.dtype, (*own, *codes))
    ordered = bool(series.dtype.ordered)
    return CategoricalColumn(
        name, own, ordered, None, missing, may_be_missing, dtype, given is not None, categories=categories
    )


def _category_set(
    dtype: pd.CategoricalDtype, wanted: tuple[Any, ...]
) -> tuple[pd.CategoricalDtype, tuple[Any, ...]]:
    """Keep the order and type of a category set, without what is not wanted; what it lacks goes behind."""
    asked = set(wanted)
    there = dtype.categories[[value in asked for value in dtype.categories]]
    known = set(there)
    categories = (*there, *(value for value in wanted if value not in known))
    return pd.CategoricalDtype(there, ordered=dtype.ordered), categories


def _names_rows(series: pd.Series[Any], named: bool) -> bool:
    """Whether values name rows; a method that the user names draws them, unless each record has its own."""
    return _mostly_alone(series) and not (named and series.nunique() < series.notna().sum())


def _text(
    series: pd.Series[Any], name: str, missing: Codes, may_be_missing: bool, exempt: bool, named: bool
) -> CategoricalColumn:
    """Take the distinct texts as levels, unless they are identifiers or free text."""
    if _names_rows(series, named):
        return identifier(series, name, exempt)
    distinct = series.dropna().unique()
    codes = CategoricalColumn(name, (), missing=missing).specials
    own = sorted((value for value in distinct if value not in codes), key=str)
    return CategoricalColumn(name, tuple(own), False, None, missing, may_be_missing, series.dtype, False)


def _form_of(series: pd.Series[Any]) -> str | None:
    """Say how all texts of a column are written, with zeros for the digits that number them.

    Returns
    -------
    str or None
        A form such as ``"A-00000"``; with one zero the numbers differ in length. None where fewer than five
        records hold texts, or not all of them share what stands before and behind their last digits.

    Notes
    -----
    Privacy: reads real values; the form is what every record shares, and goes into the copies.

    Examples
    --------
    >>> _form_of(pd.Series([f"A-{number:05d}" for number in range(70, 90)]))
    'A-00000'
    >>> _form_of(pd.Series([f"{name}@site.org" for name in "abcdefgh"])) is None
    True
    """
    texts = series.dropna()
    if len(texts) < FEWEST or not texts.map(lambda cell: isinstance(cell, str)).all():
        return None
    found = [_NUMBERED.fullmatch(text) for text in texts]
    parts = {(match[1], match[3]) for match in found if match is not None}
    if None in found or len(parts) != 1:
        return None
    before, behind = parts.pop()
    widths = {len(match[2]) for match in found if match is not None}
    return f"{before}{'0' * (widths.pop() if len(widths) == 1 else 1)}{behind}"


def _what_it_holds(
    series: pd.Series[Any], name: str, exempt: bool
) -> Literal["text", "empty", "date", "number"]:
    """Sort a column by what it holds; an exempt one that cannot be modelled holds nothing."""
    if not series.notna().any():
        return "empty"
    if is_dated(series.dtype):
        return "date"
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_complex_dtype(series.dtype):
        return "number"
    found = pd.api.types.infer_dtype(series, skipna=True)
    if found in ("string", "boolean"):
        return "text"
    if found == "date":
        return "date"
    if exempt:
        return "empty"
    how = _IN_ONE_ZONE if found in _TIMES and _zones(series) > 1 else _MENDS.get(found)
    mend = Words("convert it with {how}", how=how) if how else "convert it to text, numbers or dates"
    drop = Setting("drop", [name])
    raise SchemaError(
        Words("{name} holds {found} objects", name=name, found=found),
        column=name,
        kind="type",
        remedy=Words("{mend}, or leave it out with {drop}", mend=mend, drop=drop),
    )


def _zones(series: pd.Series[Any]) -> int:
    """Count the time zones of times that are objects."""
    return len({str(getattr(value, "tzinfo", None)) for value in series.dropna()})


def _mostly_alone(series: pd.Series[Any]) -> bool:
    """Whether most values name one row: an identifier or free text."""
    present = int(series.notna().sum())
    distinct = series.nunique()
    return present >= _FEW and (distinct == present or MANY_LEVELS < distinct > _SHARE * present)
