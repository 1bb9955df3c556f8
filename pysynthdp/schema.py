"""Public facts about a table: its columns, their kinds, levels, bounds and missing codes.

A schema is declared from public documents, or inferred and then marked ``declared=False``; bounds never are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, TypeAlias

import pandas as pd

from pysynthdp.display import Printable, Table, number
from pysynthdp.errors import SchemaError

__all__ = ["CategoricalColumn", "Column", "NumericColumn", "Schema"]

Codes: TypeAlias = tuple[tuple[Any, str], ...]
MOST_LEVELS = 32_767  # level codes are int16


def _codes(name: str, given: Mapping[Any, str] | Iterable[Any]) -> Codes:
    """Write declared codes as (code, label) pairs; a bare list of codes labels each by itself."""
    if isinstance(given, Mapping):
        return tuple((code, str(label)) for code, label in given.items())
    pairs = _listed(name, "missing codes", given)
    if all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return tuple((code, str(label)) for code, label in pairs)
    return tuple((code, str(code)) for code in pairs)


def _listed(name: str, what: str, given: Iterable[Any]) -> tuple[Any, ...]:
    """Take a list of hashable things; a single text or number is none."""
    if not isinstance(name, str):
        raise SchemaError("a column's name must be text; rename it")
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise SchemaError(f"{name}: {what} must be a list; write [...]")
    things = tuple(given)
    if not all(isinstance(thing, Hashable) for thing in things):
        raise SchemaError(f"{name}: {what} must be plain values, not lists or arrays")
    return things


def _is_number(value: Any) -> bool:
    """Whether a value is a finite real number."""
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)


def _dtype_of(name: str, given: Any) -> Any:
    """Read a dtype."""
    try:
        return pd.api.types.pandas_dtype(given)
    except TypeError:
        raise SchemaError(f"{name}: dtype is no type that pandas knows; write e.g. dtype='float64'") from None


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of numbers, dates or durations.

    Parameters
    ----------
    name : str
        Column name.
    lower, upper : float, optional
        Public bounds in the column's own unit (dates: days or seconds since 1970-01-01, see ``unit``). Drawn
        values are moved onto them; real values beyond them are an error, except under a formal guarantee.
    decimals : int, optional
        Digits after the point; None leaves drawn values unrounded.
    missing : mapping code -> label, or codes
        Special codes that are not values, e.g. ``{-8: "not applicable"}``.
    spikes : sequence of float
        Values with a mass of their own, e.g. ``[0]`` for wages.
    may_be_missing : bool
        Whether a value may be missing without a code.
    dtype : str or pandas dtype
        What the copies have.
    unit : {"number", "day", "second"}
        How dates and durations are counted.
    declared : bool
        False when inferred from data.
    fallback : float, optional
        What a cell without a readable value becomes under a formal guarantee.

    Examples
    --------
    >>> NumericColumn("income", lower=0, decimals=0, missing={-8: "not applicable"}).missing
    ((-8, 'not applicable'),)
    """

    name: str
    lower: float | None = None
    upper: float | None = None
    decimals: int | None = None
    missing: Any = ()
    spikes: Sequence[float] = ()
    may_be_missing: bool = True
    dtype: Any = "float64"
    unit: Literal["number", "day", "second"] = "number"
    declared: bool = True
    fallback: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", _codes(self.name, self.missing))
        object.__setattr__(self, "spikes", _listed(self.name, "spikes", self.spikes))
        object.__setattr__(self, "dtype", _dtype_of(self.name, self.dtype))
        self._check()

    def _check(self) -> None:
        """Bounds, codes and spikes are numbers, each named once, of a dtype that holds numbers."""
        given = (value for value in (self.lower, self.upper) if value is not None)
        if not all(_is_number(value) for value in (*given, *self.specials)):
            raise SchemaError(f"{self.name}: bounds, codes and spikes must be finite numbers")
        whole = self.decimals is None or (_is_number(self.decimals) and self.decimals % 1 == 0)
        if not whole or self.unit not in ("number", "day", "second"):
            raise SchemaError(f"{self.name}: decimals must be whole, and unit 'number', 'day' or 'second'")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise SchemaError(f"{self.name}: lower lies above upper; swap the bounds")
        specials = self.specials
        if len(set(specials)) < len(specials):
            raise SchemaError(f"{self.name}: a code or spike is declared twice; name each once")

    @property
    def specials(self) -> tuple[Any, ...]:
        """Missing codes, then spikes."""
        return (*(code for code, _ in self.missing), *self.spikes)


@dataclass(frozen=True, slots=True)
class CategoricalColumn:
    """A column of levels.

    Parameters
    ----------
    name : str
        Column name.
    levels : sequence
        All levels in order, those without cases too.
    ordered : bool
        Whether the order means something.
    other : level, optional
        Where unlisted values go; without it they are an error.
    missing : mapping code -> label, or codes
        Values that mean missing for a reason; not among ``levels``.
    may_be_missing : bool
        Whether a value may be missing without a code.
    dtype : str or pandas dtype
        What the copies have; ``"category"`` stands for a categorical of the levels and codes.
    declared : bool
        False when inferred from data.
    categories : sequence, optional
        Order of the category set of the copies, where it differs from levels and codes.
    absence : {"kind", "level"}
        Whether missing values are drawn first, as kinds, or as levels beside the others.

    Examples
    --------
    >>> CategoricalColumn("sex", levels=["F", "M"]).levels
    ('F', 'M')
    """

    name: str
    levels: Sequence[Any]
    ordered: bool = False
    other: Any = None
    missing: Any = ()
    may_be_missing: bool = True
    dtype: Any = "category"
    declared: bool = True
    categories: tuple[Any, ...] | None = None
    absence: Literal["kind", "level"] = "kind"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", _listed(self.name, "levels", self.levels))
        object.__setattr__(self, "missing", _codes(self.name, self.missing))
        self._check()
        object.__setattr__(self, "dtype", self._full_dtype())
        self._check_dtype()

    def _check(self) -> None:
        """Levels are distinct, codes are no levels, ``other`` is one."""
        codes = set(self.specials)
        if len(set(self.levels)) < len(self.levels):
            raise SchemaError(f"{self.name}: a level is listed twice; name each once")
        if codes & set(self.levels):
            raise SchemaError(f"{self.name}: a missing code is also a level; list it in one place")
        if self.other is not None and self.other not in self.levels:
            raise SchemaError(f"{self.name}: 'other' is not among the levels; add it")
        if any(pd.api.types.is_scalar(level) and pd.isna(level) for level in (*self.levels, *codes)):
            raise SchemaError(f"{self.name}: a level or code is itself missing; use may_be_missing=True")
        if len(self.levels) + len(codes) > MOST_LEVELS:
            raise SchemaError(f"{self.name} has more than {MOST_LEVELS:,} levels; group them or drop it")

    def _check_dtype(self) -> None:
        """Every level and code can be written in the dtype and read back."""
        values = [*self.levels, *self.specials]
        try:
            written = pd.Series(values, dtype=object).astype(self.dtype).tolist()
        except (TypeError, ValueError, OverflowError):
            written = None
        if written != values:
            raise SchemaError(f"{self.name}: dtype {self.dtype} cannot hold all its levels; change either")

    def _full_dtype(self) -> Any:
        """Give a categorical dtype its full category set."""
        if str(self.dtype) != "category":
            return _dtype_of(self.name, self.dtype)
        categories = self.categories or (*self.levels, *self.specials)
        own = getattr(self.dtype, "categories", None)
        index = pd.Index(categories) if categories else pd.Index([], dtype="str")
        if own is not None and tuple(own) == tuple(categories):
            index = own  # its type too
        return pd.CategoricalDtype(index, ordered=self.ordered)

    @property
    def specials(self) -> tuple[Any, ...]:
        """Missing codes."""
        return tuple(code for code, _ in self.missing)


Column: TypeAlias = NumericColumn | CategoricalColumn


@dataclass(frozen=True, repr=False)
class Schema(Printable):
    """The columns of a table, in order.

    Parameters
    ----------
    columns : sequence of NumericColumn or CategoricalColumn
        In the order of the table.

    Examples
    --------
    >>> schema = Schema([NumericColumn("age", lower=0, upper=120), CategoricalColumn("sex", ["F", "M"])])
    >>> schema.names
    ('age', 'sex')
    >>> schema["age"].upper
    120
    """

    columns: tuple[Column, ...]
    _by_name: dict[str, Column] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "_by_name", {column.name: column for column in self.columns})
        if len(self._by_name) < len(self.columns):
            names = [column.name for column in self.columns]
            twice = next(name for name in names if names.count(name) > 1)
            raise SchemaError(f"two columns are called {twice!r}; rename one")

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self._by_name)

    @property
    def declared(self) -> bool:
        """Whether every column is declared."""
        return all(column.declared for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise SchemaError(f"there is no column {name!r}; the schema has {', '.join(self.names)}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def without(self, names: Iterable[str]) -> Schema:
        """Return the schema without some columns."""
        gone = set(names)
        return Schema(tuple(column for column in self.columns if column.name not in gone))

    def amend(self, name: str, **changes: Any) -> Schema:
        """Return the schema with one column changed."""
        new = replace(self[name], **changes)
        return Schema(tuple(new if column.name == name else column for column in self.columns))

    def to_table(self) -> Table:
        """One row a column; no bound or level that was not declared is a number here."""
        rows = tuple(_row(column) for column in self.columns)
        return Table(
            f"Schema of {len(self)} columns",
            ("column", "kind", "type", "levels", "missing", "spikes", "bounds", "decimals", "declared"),
            rows,
        )


def _row(column: Column) -> tuple[str | int | None, ...]:
    """Write one column's public facts."""
    missing = [label for _, label in column.missing] + (["NA"] if column.may_be_missing else [])
    common = (", ".join(missing), "yes" if column.declared else "inferred")
    dtype = "category" if isinstance(column.dtype, pd.CategoricalDtype) else str(column.dtype)
    if isinstance(column, CategoricalColumn):
        kind = "ordered" if column.ordered else "categorical"
        return (column.name, kind, dtype, len(column.levels), common[0], None, None, None, common[1])
    bounds = None
    if column.lower is not None or column.upper is not None:
        bounds = f"{number(column.lower)} to {number(column.upper)}"
    spikes = ", ".join(str(spike) for spike in column.spikes)
    kind = "numeric" if column.unit == "number" else "date or time"
    return (column.name, kind, dtype, None, common[0], spikes, bounds, column.decimals, common[1])
