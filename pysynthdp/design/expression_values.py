"""Values of expressions: numbers, texts or truth values with what is missing, and functions of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Self

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.schema.labels import as_tag, sentinel

__all__ = ["FUNCTIONS", "Function", "MisfitError", "Values", "arithmetic", "compare", "logic", "negated"]

_SIGNS: Final[Mapping[str, Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class MisfitError(Exception):
    """What kind of values an operation does not take; the expression that meets it says where."""


@dataclass(frozen=True, slots=True, repr=False)
class Values:
    """Values of one column or expression.

    Parameters
    ----------
    data : array (rows,) or ()
        Numbers (float64), truth values (bool) or texts (object). Where missing it may hold the code that says
        why, or NaN.
    missing : array (rows,) or () of bool
        Where there is no value.
    """

    data: AnyArray
    missing: BoolArray

    @property
    def kind(self) -> Literal["number", "truth", "text", "nothing"]:
        """What they are; "nothing" is a lone ``missing``, which goes with every kind."""
        if self.data.dtype == object:
            return "text"
        if self.data.dtype == np.bool_:
            return "truth"
        return "nothing" if not self.data.ndim and bool(self.missing) else "number"

    @classmethod
    def constant(cls, value: float | str) -> Self:
        """Make one value."""
        if isinstance(value, str):
            return cls(np.array(value, dtype=object), np.array(False))
        return cls(np.array(float(value)), np.array(False))

    @classmethod
    def nothing(cls) -> Self:
        """Make one missing value."""
        return cls(np.array(np.nan), np.array(True))

    def numbers(self) -> FloatArray:
        """Give them as numbers, truth values as 0 and 1, NaN where missing."""
        if self.kind == "text":
            raise MisfitError("holds texts where numbers are needed")
        return np.where(self.missing, np.nan, self.data.astype(np.float64))

    def truths(self) -> BoolArray:
        """Give them as truth values, false where missing."""
        if self.kind not in ("truth", "nothing"):
            raise MisfitError("must be true or false, such as age > 17")
        return np.asarray(np.where(self.missing, False, self.data), dtype=np.bool_)

    def over(self, rows: int) -> Self:
        """Repeat a single value over rows."""
        return type(self)(np.broadcast_to(self.data, (rows,)), np.broadcast_to(self.missing, (rows,)))


def _finite(data: FloatArray) -> Values:
    """Take numbers, missing where they are not finite."""
    lost = ~np.isfinite(data)
    return Values(np.where(lost, np.nan, data), lost)


def arithmetic(sign: str, left: Values, right: Values) -> Values:
    """Combine two numbers; what is not finite is missing."""
    return _finite(np.asarray(_SIGNS[sign](left.numbers(), right.numbers())))


def negated(given: Values, *, logical: bool) -> Values:
    """Negate numbers, or truth values."""
    if logical:
        return Values(~given.truths(), given.missing)
    return _finite(-given.numbers())


def compare(sign: str, left: Values, right: Values) -> Values:
    """Compare numbers, or texts for being the same."""
    lost = left.missing | right.missing
    kinds = {left.kind, right.kind} - {"nothing"}
    if "text" in kinds:
        if kinds != {"text"}:
            raise MisfitError("compares texts with numbers; write texts in quotes")
        if sign not in ("==", "!="):
            raise MisfitError("compares texts by size; only == and != are for texts")
        return Values(np.asarray(_SIGNS[sign](left.data, right.data), dtype=np.bool_) & ~lost, lost)
    return Values(np.asarray(_SIGNS[sign](left.numbers(), right.numbers())) & ~lost, lost)


def logic(given: Sequence[Values], *, every: bool) -> Values:
    """Combine truth values, all or any of them; missing where the others do not settle it."""
    truths = [each.truths() for each in given]
    settled = _any([~each.missing & (truth != every) for each, truth in zip(given, truths, strict=True)])
    lost = _any([np.asarray(each.missing) for each in given]) & ~settled
    return Values((~settled if every else settled) & ~lost, lost)


def _any(arrays: Sequence[BoolArray]) -> BoolArray:
    """Whether any of some arrays is true, row by row."""
    found = np.asarray(arrays[0])
    for array in arrays[1:]:
        found = found | array
    return np.asarray(found)


def _where(condition: Values, then: Values, otherwise: Values) -> Values:
    """Choose row by row; missing where the condition is."""
    kinds = {then.kind, otherwise.kind} - {"nothing"}
    if "text" in kinds and len(kinds) > 1:
        raise MisfitError("has a text on one side and a number on the other")
    chosen, lost = condition.truths(), condition.missing
    if "text" in kinds:
        data = np.where(chosen, then.data.astype(object), otherwise.data.astype(object))
    elif kinds == {"truth"}:
        data = np.where(chosen, then.data == 1, otherwise.data == 1)
    else:
        data = np.where(chosen, then.data.astype(np.float64), otherwise.data.astype(np.float64))
        data = np.where(lost, np.nan, data)
    return Values(data, lost | np.where(chosen, then.missing, otherwise.missing))


def _cut(given: Values, edges: Sequence[float], labels: Sequence[float | str]) -> Values:
    """Put numbers into groups; an edge belongs to the group above it."""
    numbers = given.numbers()
    place = np.searchsorted(np.array(edges, dtype=np.float64), numbers, side="right")
    lost = np.isnan(numbers)
    if len(labels) < len(edges):
        lost = lost | (place == 0) | (place == len(edges))
        place = place - 1
    return _labelled(labels, np.where(lost, 0, place), lost)


def _recode(
    given: Values, old: Sequence[float | str], new: Sequence[float | str], rest: Values | None = None
) -> Values:
    """Give each listed value another; what is not listed becomes the rest, or missing."""
    if given.kind == "text" and not all(isinstance(value, str) for value in old):
        raise MisfitError("has numbers in the list for texts")
    if given.kind != "text" and any(isinstance(value, str) for value in old):
        raise MisfitError("has texts in the list for numbers")
    data = given.data if given.kind == "text" else given.numbers()
    place = np.full(np.shape(data), -1, dtype=np.int64)
    for at, value in enumerate(old):
        place = np.where(data == value, at, place)
    lost = (place < 0) | given.missing
    found = _labelled(new, np.where(lost, 0, place), lost)
    if rest is None:
        return found
    listed = Values(place >= 0, np.asarray(given.missing))
    return _where(listed, found, rest)


def _labelled(labels: Sequence[float | str], place: AnyArray, lost: BoolArray) -> Values:
    """Take labels by their places."""
    text = any(isinstance(label, str) for label in labels)
    table = np.array(list(labels), dtype=object if text else np.float64)
    data = np.asarray(table[place], dtype=table.dtype)
    return Values(data if text else np.where(lost, np.nan, data), lost)


def _least(*given: Values) -> Values:
    """Take the smallest of several numbers, row by row."""
    return _finite(_folded(np.minimum, given))


def _greatest(*given: Values) -> Values:
    """Take the largest of several numbers, row by row."""
    return _finite(_folded(np.maximum, given))


def _folded(of: Callable[..., Any], given: Sequence[Values]) -> FloatArray:
    """Combine several numbers two by two."""
    found = given[0].numbers()
    for each in given[1:]:
        found = of(found, each.numbers())
    return np.asarray(found, dtype=np.float64)


def _round(given: Values, digits: Values | None = None) -> Values:
    """Round to digits after the point; a half goes to the even neighbour."""
    places = 0 if digits is None else digits.numbers()
    if np.ndim(places) or not float(places).is_integer():
        raise MisfitError("rounds to a number of digits that is no whole number")
    return _finite(np.round(given.numbers(), int(places)))


def _is_missing(given: Values, why: Values | None = None) -> Values:
    """Whether there is no value; or none for one reason, a code or a kind such as ".a"."""
    lost = np.asarray(given.missing)
    if why is not None:
        code = _reason(why)
        if given.kind != "text" and isinstance(code, str):
            raise MisfitError('asks numbers for a reason that is neither a code nor a kind such as ".a"')
        lost = lost & np.asarray(given.data == (str(code) if given.kind == "text" else code), dtype=np.bool_)
    return Values(lost, np.zeros_like(lost))


def _missing(why: Values) -> Values:
    """Make one value that is missing for a reason: a code, or a kind such as ".a"."""
    code = _reason(why)
    return Values(np.array(code, dtype=object if isinstance(code, str) else np.float64), np.array(True))


def _reason(why: Values) -> float | str:
    """Give a code as the cells of an expression hold it."""
    if why.data.ndim or why.missing:
        raise MisfitError('takes one reason, a code or a kind in quotes, such as ".a"')
    code = why.data.item()
    tag = as_tag(code)
    return code if tag is None else sentinel(tag)


def _of_number(of: Callable[[FloatArray], Any]) -> Callable[[Values], Values]:
    """Make a function of one number."""
    return lambda given: _finite(np.asarray(of(given.numbers())))


def _no_fault(*lists: Any) -> str:
    """Find no fault with the lists of a call."""
    del lists
    return ""


def _cut_fault(_: Any, edges: Sequence[Any], labels: Sequence[Any]) -> str:
    """Find what is wrong with edges and labels."""
    if any(isinstance(edge, str) for edge in edges) or any(low >= high for low, high in pairwise(edges)):
        return "needs edges that are rising numbers"
    if len(labels) not in (len(edges) - 1, len(edges) + 1):
        return "needs a label for each group: one more than edges, or one fewer where nothing lies outside"
    return _mixed_fault(labels)


def _recode_fault(_: Any, old: Sequence[Any], new: Sequence[Any], rest: Any = None) -> str:
    """Find what is wrong with two lists of values."""
    del rest
    if len(old) != len(new) or len(set(old)) < len(old):
        return "needs two lists of the same length, without a value twice in the first"
    return _mixed_fault(new)


def _mixed_fault(labels: Sequence[Any]) -> str:
    """Find labels of two kinds."""
    return "mixes texts and numbers" if len({isinstance(label, str) for label in labels}) > 1 else ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language.

    Parameters
    ----------
    of : function of Values, and of sequences of constants where it takes lists
        What it does.
    usage : str
        How it is written, for messages.
    fewest, most : int
        Arguments that it takes.
    lists : tuple of int
        Which of them are lists of constants.
    check : function of the lists, None for other arguments
        Says what is wrong with them; empty where nothing is.
    """

    of: Callable[..., Values]
    usage: str
    fewest: int = 1
    most: int = 1
    lists: tuple[int, ...] = ()
    check: Callable[..., str] = _no_fault


_CUT: Final = Function(_cut, 'write cut(age, [18, 65], ["young", "middle", "old"])', 3, 3, (1, 2), _cut_fault)
_SEVERAL: Final = 100
FUNCTIONS: Final[Mapping[str, Function]] = {
    "log": Function(_of_number(np.log), "write log(x)"),
    "exp": Function(_of_number(np.exp), "write exp(x)"),
    "sqrt": Function(_of_number(np.sqrt), "write sqrt(x)"),
    "abs": Function(_of_number(np.abs), "write abs(x)"),
    "floor": Function(_of_number(np.floor), "write floor(x)"),
    "ceil": Function(_of_number(np.ceil), "write ceil(x)"),
    "round": Function(_round, "write round(x) or round(x, 2)", 1, 2),
    "min": Function(_least, "write min(x, y)", 2, _SEVERAL),
    "max": Function(_greatest, "write max(x, y)", 2, _SEVERAL),
    "where": Function(_where, "write where(x > 0, x, 0)", 3, 3),
    "cut": _CUT,
    "group": _CUT,
    "recode": Function(
        _recode, 'write recode(region, ["N", "S"], ["North", "South"])', 3, 4, (1, 2), _recode_fault
    ),
    "is_missing": Function(_is_missing, 'write is_missing(x), or is_missing(x, ".a")', 1, 2),
    "missing": Function(_missing, 'write missing, or missing(".a")'),
}
"""Functions by name."""
