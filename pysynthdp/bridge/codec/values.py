"""R values as frozen Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Self, TypeAlias

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.bridge.codec.wire import SINGLETON, Kind

__all__ = [
    "NA_INTEGER",
    "NA_REAL",
    "RS4",
    "RCell",
    "ROpaque",
    "RPairs",
    "RSymbol",
    "RValue",
    "RVector",
    "UndecodedText",
    "character",
    "is_na_real",
    "named_list",
    "texts_of",
]

NA_INTEGER: Final = -(2**31)
_NA_REAL_BITS: Final = 0x7FF00000000007A2  # a NaN whose low word is 1954
NA_REAL: Final[np.float64] = np.array([_NA_REAL_BITS], dtype=np.uint64).view(np.float64)[0]
_NO_ATTRIBUTES: Final[Mapping[str, RValue]] = MappingProxyType({})


class UndecodedText(str):
    """A text that R holds as bytes in no known encoding.

    Undecodable bytes are lone surrogates (``errors="surrogateescape"``); ``mark`` is R's own, so that the
    same bytes with the same ``Encoding()`` go back.
    """

    __slots__ = ("mark",)
    mark: int

    def __new__(cls, text: str, mark: int) -> Self:
        """Keep the mark beside the text."""
        made = super().__new__(cls, text)
        made.mark = mark
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[str, int]]:
        """Let copies and pickles keep the mark."""
        return type(self), (str(self), self.mark)


@dataclass(frozen=True, slots=True, eq=False)
class RVector:
    """An R vector with its attributes.

    Parameters
    ----------
    kind : str
        R's ``typeof()``: logical, integer, double, complex, character, list, expression or raw.
    values : array or tuple
        int32 for logical and integer (NA is :data:`NA_INTEGER`), float64, complex128, uint8, an object array
        of ``str`` or None (NA) for character; a tuple of R values for list and expression.
    attributes : mapping, optional
        R's attributes in order.
    s4 : bool
        Whether it is the data part of an S4 object.
    """

    kind: Kind
    values: AnyArray | tuple[RValue, ...] = field(repr=False)
    attributes: Mapping[str, RValue] = field(default_factory=dict, repr=False)
    s4: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it can change

    @property
    def array(self) -> AnyArray:
        """The elements of an atomic vector."""
        if isinstance(self.values, tuple):
            raise TypeError(f"an R {self.kind} has items, not an array; use .items")
        return self.values

    @property
    def items(self) -> tuple[RValue, ...]:
        """The elements of a list or expression."""
        if not isinstance(self.values, tuple):
            raise TypeError(f"an R {self.kind} has an array, not items; use .array")
        return self.values

    @property
    def texts(self) -> tuple[str | None, ...]:
        """The elements of a character vector; empty for any other kind."""
        return tuple(self.array) if self.kind == "character" else ()

    @property
    def classes(self) -> tuple[str | None, ...]:
        """R's class attribute; empty without one."""
        return texts_of(self.attributes.get("class"))

    @property
    def names(self) -> tuple[str | None, ...]:
        """R's names; empty without them."""
        return texts_of(self.attributes.get("names"))


@dataclass(frozen=True, slots=True)
class RSymbol:
    """An R name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class RCell:
    """One element of a pairlist or a call, with its tag."""

    value: RValue
    tag: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RPairs:
    """A pairlist, or a call: the first cell of a call is its function."""

    cells: tuple[RCell, ...]
    language: bool = False
    attributes: Mapping[str, RValue] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class RS4:
    """An S4 object without a data part: its slots are its attributes."""

    attributes: Mapping[str, RValue] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ROpaque:
    """Something of an R session that has no value elsewhere: a closure, an environment, a pointer.

    It is read over, so that the rest of an object can be used, and never written, except for the single
    environments that every session has (``"global environment"``).
    """

    what: str

    @property
    def is_single(self) -> bool:
        """Whether every R session has just this one, so that its name is enough."""
        return self.what in SINGLETON.values()


RValue: TypeAlias = RVector | RPairs | RSymbol | RS4 | ROpaque | None
"""None is R's NULL."""


def texts_of(value: RValue) -> tuple[str | None, ...]:
    """Give the texts of a character vector; nothing for any other value."""
    return value.texts if isinstance(value, RVector) else ()


def is_na_real(values: FloatArray) -> BoolArray:
    """Tell R's NA from NaN: the low word of the NaN is 1954.

    Examples
    --------
    >>> is_na_real(np.array([NA_REAL, np.nan, 1954.0])).tolist()
    [True, False, False]
    """
    low = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) & np.uint64(0xFFFFFFFF)
    return np.asarray(np.isnan(values) & (low == np.uint64(1954)))


def character(texts: Iterable[str | None], attributes: Mapping[str, RValue] = _NO_ATTRIBUTES) -> RVector:
    """Make a character vector.

    Examples
    --------
    >>> character(["a", None]).texts
    ('a', None)
    """
    listed = list(texts)
    values = np.empty(len(listed), dtype=object)
    values[:] = listed
    return RVector("character", values, attributes)


def named_list(items: Mapping[str, RValue], attributes: Mapping[str, RValue] = _NO_ATTRIBUTES) -> RVector:
    """Make a named list.

    Examples
    --------
    >>> named_list({"a": None}).names
    ('a',)
    """
    return RVector("list", tuple(items.values()), {"names": character(items), **attributes})
