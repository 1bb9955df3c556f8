"""Public facts about one column: its kind, levels, bounds and missing codes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.words import Facts, Said, Setting, Words
from pysynthdp.schema.labels import Labels, as_tag, sentinel
from pysynthdp.schema.universe import AskedOf, Universe

__all__ = ["CategoricalColumn", "Column", "NumericColumn", "Unit"]

Codes: TypeAlias = tuple[tuple[Any, str], ...]
Unit: TypeAlias = Literal["number", "day", "hour", "minute", "second"]
MOST_LEVELS = 32_767  # level codes are int16


def _codes(name: str, given: Mapping[Any, str] | Iterable[Any]) -> Codes:
    """Write declared codes as (code, label) pairs; a bare list of codes labels each by itself."""
    if isinstance(given, Mapping):
        return tuple((code, str(label)) for code, label in given.items())
    pairs = _listed(name, "missing codes", given)
    if all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return tuple((code, str(label)) for code, label in pairs)
    return tuple((code, str(code)) for code in pairs)


def _tagged(codes: Codes) -> Codes:
    """Name kinds as this package does: .a for .A."""
    return tuple((as_tag(code) or code, label) for code, label in codes)


def _listed(name: str, what: str, given: Iterable[Any]) -> tuple[Any, ...]:
    """Take a list of hashable things; a single text or number is none."""
    if not isinstance(name, str):
        raise SchemaError("a column's name must be text", kind="names", remedy="rename it")
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        fact = Facts(**{what.rsplit(maxsplit=1)[-1].replace("codes", "missing"): [...]})
        raise _wrong(name, Words("{what} must be a list", what=what), Words("write {fact}", fact=fact))
    things = tuple(given)
    if not all(isinstance(thing, Hashable) for thing in things):
        raise _wrong(name, Words("{what} must be plain values, not lists or arrays", what=what))
    return things


def _wrong(name: str, what: str, mend: str | None = None) -> SchemaError:
    """Make the error of a declaration that cannot be."""
    return SchemaError(
        Words("{name}: {what}", name=name, what=what), column=name, kind="declaration", remedy=mend
    )


def _is_number(value: Any) -> bool:
    """Whether a value is a finite real number."""
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)


def _dtype_of(name: str, given: Any) -> Any:
    """Read a dtype."""
    try:
        return pd.api.types.pandas_dtype(given)
    except TypeError:
        mend = Words("write for example {fact}", fact=Facts(dtype="float64"))
        raise _wrong(name, "its type is none that is known", mend) from None


def _settle_universe(column: NumericColumn | CategoricalColumn) -> None:
    """Read a column's universe, and say whether what stands outside of it stands nowhere else.

    Raises
    ------
    SchemaError
        If the code outside is not declared.
    """
    if column.universe is None:
        return
    given = Universe.of(column.name, column.universe)
    codes = [code for code, _ in column.missing]
    known = (*codes, *(column.levels if isinstance(column, CategoricalColumn) else column.spikes))
    if given.outside is not None and given.outside not in known:
        what = Words("what stands outside its universe is no declared code, spike or level")
        fact = Facts(missing={given.outside: "not asked"})
        raise _wrong(column.name, what, Words("declare {fact}", fact=fact))
    alone = given.alone or given.outside in codes
    if given.outside is None and not column.may_be_missing:
        alone = True
        object.__setattr__(column, "may_be_missing", True)
    object.__setattr__(column, "universe", replace(given, alone=alone))


@answers_slips
@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of numbers, dates or durations.

    Parameters
    ----------
    name : str
        Column name.
    lower, upper : float, optional
        Public bounds in the column's own unit (dates: days, hours, minutes or seconds since 1970-01-01, see
        ``unit``). Drawn values are moved onto them; real values beyond them are an error, except under a
        formal guarantee. Under noise in the answers, numbers drawn by ``norm`` may lie outside their declared
        bounds: clamping them again would bias means and regressions.
    decimals : int, optional
        Digits after the point; None leaves drawn values unrounded.
    missing : mapping code -> label, or codes
        Special codes that are not values, e.g. ``{-8: "not applicable"}``; ``{".a": "refused"}`` for the
        kinds of missing values of Stata and SAS, which are NaN in the table.
    spikes : sequence of float
        Values with a mass of their own, e.g. ``[0]`` for wages.
    may_be_missing : bool
        Whether a value may be missing without a code.
    dtype : str or pandas dtype, optional
        What the copies have; None for what the table has (float64 under a formal guarantee).
    unit : {"number", "day", "hour", "minute", "second"}
        How dates and durations are counted. Numbers in such a column, numerals of a file too, are that many
        days, hours, minutes or seconds since 1970-01-01.
    declared : bool
        False when inferred from data.
    fallback : float, optional
        What a cell without a readable value becomes under a formal guarantee.
    learned_spikes : bool
        Whether the spikes were seen in the data.
    step : float, optional
        Drawn values are multiples of it, such as 5 or 0.25; for a power of ten ``decimals`` says the same
        (-2 for hundreds).
    offset : float
        Drawn values are it plus multiples of the step: 2.5 beside a step of 5 for 17.5, 22.5, ...
    topped : bool
        Whether values above ``upper`` are written as it, in the table too.
    universe : str, (str, code) or Universe, optional
        In which rows the column is asked, as an expression of other columns; all other rows of a copy hold
        the code, or are missing.
    labels : Labels, optional
        What a labelled file says of it.

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
    dtype: Any = None
    unit: Unit = "number"
    declared: bool = True
    fallback: float | None = None
    learned_spikes: bool = False
    step: float | None = None
    offset: float = 0.0
    topped: bool = False
    universe: AskedOf = None
    labels: Labels | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", _tagged(_codes(self.name, self.missing)))
        object.__setattr__(self, "spikes", _listed(self.name, "spikes", self.spikes))
        if self.dtype is not None:
            object.__setattr__(self, "dtype", _dtype_of(self.name, self.dtype))
        self._check()
        _settle_universe(self)

    def _check(self) -> None:
        """Bounds, codes and spikes are numbers, each named once, of a dtype that holds numbers."""
        given = (value for value in (self.lower, self.upper) if value is not None)
        if not all(_is_number(value) for value in (*given, *self.specials)):
            raise self._no_number()
        whole = self.decimals is None or (_is_number(self.decimals) and self.decimals % 1 == 0)
        if not whole:
            raise _wrong(
                self.name, "decimals must be a whole number", Words("write {it}", it=Facts(decimals=2))
            )
        if self.unit not in get_args(Unit):
            units = ", ".join(repr(unit) for unit in get_args(Unit))
            raise _wrong(self.name, Words("unit must be one of {units}", units=units))
        if self.step is not None and not (_is_number(self.step) and self.step > 0):
            raise _wrong(self.name, "step must be a positive number", Words("write {it}", it=Facts(step=5)))
        if not _is_number(self.offset) or (self.offset and self.step is None):
            mend = Words("write {it}", it=Facts(step=5, offset=2.5))
            raise _wrong(self.name, "offset must be a number, beside a step", mend)
        if self.topped and self.upper is None:
            raise _wrong(self.name, "a top code needs an upper bound", Words("give {it}", it=Facts(upper=90)))
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise _wrong(self.name, "lower lies above upper", "swap the bounds")
        if self.tags and self.dtype not in (None, np.float64):
            mend = Words("leave its type out, or write {it}", it=Facts(dtype="float64"))
            raise _wrong(self.name, "kinds such as .a are missing values of type float64 alone", mend)
        specials = self.specials
        if len(set(specials)) < len(specials):
            raise _wrong(self.name, "a code or spike is declared twice", "name each once")

    @property
    def grain(self) -> str | int | None:
        """Decimals, or the step and where it begins, for a table that people read."""
        if self.step is None:
            return self.decimals
        return f"steps of {self.step:g}" + (f" from {self.offset:g}" if self.offset else "")

    def _no_number(self) -> SchemaError:
        """Say what of the declaration is no number; a label in the place of its code is the common slip."""
        if any(isinstance(code, str) for code, _ in self.missing):
            how = Setting("missing", {self.name: {...: "label"}})
            mend = Words("write {how}, the code first", how=how)
            return _wrong(self.name, "missing codes of a number must be numbers, or .a to .z", mend)
        return _wrong(self.name, "bounds, codes and spikes must be finite numbers")

    @property
    def specials(self) -> tuple[Any, ...]:
        """Missing codes, then spikes; numbers that no table holds stand for kinds such as ``.a``."""
        codes = (sentinel(code) if as_tag(code) else code for code, _ in self.missing)
        return (*codes, *self.spikes)

    @property
    def tags(self) -> tuple[str, ...]:
        """Kinds of missing values that are NaN in a table, such as ``.a``."""
        return tuple(code for code, _ in self.missing if as_tag(code))


@answers_slips
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
    dtype : str or pandas dtype, optional
        What the copies have; ``"category"`` stands for a categorical of the levels and codes, None for what
        the table has (``"category"`` under a formal guarantee).
    declared : bool
        False when inferred from data.
    categories : sequence, optional
        Order of the category set of the copies, where it differs from levels and codes.
    absence : {"kind", "level"}
        Whether missing values are drawn first, as kinds, or as levels beside the others.
    form : str, optional
        How method ``serial`` writes running numbers in place of identifiers: text with zeros for the digits,
        such as ``"A-00000"`` for A-00001; plain numbers without it.
    universe : str, (str, code) or Universe, optional
        In which rows the column is asked, as of :class:`NumericColumn`.
    labels : Labels, optional
        What a labelled file says of it; its levels are then texts of the labels.

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
    dtype: Any = None
    declared: bool = True
    categories: tuple[Any, ...] | None = None
    absence: Literal["kind", "level"] = "kind"
    form: str | None = None
    universe: AskedOf = None
    labels: Labels | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", _listed(self.name, "levels", self.levels))
        object.__setattr__(self, "missing", _codes(self.name, self.missing))
        if self.dtype is not None and str(self.dtype) == "float64":
            object.__setattr__(self, "missing", _tagged(self.missing))
        self._check()
        _settle_universe(self)
        if self.dtype is not None:
            object.__setattr__(self, "dtype", self._full_dtype())
            self._check_dtype()

    def _check(self) -> None:
        """Levels are distinct, codes are no levels, ``other`` is one."""
        codes = set(self.specials)
        if len(set(self.levels)) < len(self.levels):
            raise _wrong(self.name, "a level is listed twice", "name each once")
        if codes & set(self.levels):
            raise _wrong(self.name, "a missing code is also a level", "list it in one place")
        if self.other is not None and self.other not in self.levels:
            raise _wrong(self.name, "'other' is not among the levels", "add it")
        if any(pd.api.types.is_scalar(level) and pd.isna(level) for level in (*self.levels, *codes)):
            mend = Words("leave it out and declare {fact}", fact=Facts(may_be_missing=True))
            raise _wrong(self.name, "a level or code is itself missing", mend)
        if self.form is not None and "0" not in self.form:
            raise _wrong(self.name, "form has no zero to stand for the digits", "write e.g. 'A-00000'")
        if len(self.levels) + len(codes) > MOST_LEVELS:
            what = Words("it has more than {most} levels", most=f"{MOST_LEVELS:,}")
            mend = Words("group them, or leave it out with {drop}", drop=Setting("drop", [self.name]))
            raise _wrong(self.name, what, mend)

    def _check_dtype(self) -> None:
        """Every level and code can be written in the dtype and read back; kinds are NaN of float64."""
        codes = [code for code in self.specials if self.dtype != np.float64 or not as_tag(code)]
        values = [*self.levels, *codes]
        try:
            written = pd.Series(values, dtype=object).astype(self.dtype).tolist()
        except (TypeError, ValueError, OverflowError):
            written = None
        if written != values:
            kind = Said(f"the type {self.dtype}", "its type", "the column")
            what = Words("{kind} cannot hold all its levels", kind=kind)
            mend = "write levels as the table holds them, texts in quotes and numbers without"
            raise _wrong(self.name, what, mend)

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

    @property
    def tags(self) -> tuple[str, ...]:
        """Kinds of missing values that are NaN where levels are numbers of type float64, such as ``.a``."""
        return tuple(code for code, _ in self.missing if as_tag(code) == code)


Column: TypeAlias = NumericColumn | CategoricalColumn
