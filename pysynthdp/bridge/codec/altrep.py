"""Expansion of the vectors that R stores by a recipe (ALTREP): sequences, texts of numbers, wrappers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec.source import DAMAGED
from pysynthdp.bridge.codec.values import (
    NA_INTEGER,
    RPairs,
    RSymbol,
    RValue,
    RVector,
    character,
    is_na_real,
)

__all__ = ["expand"]  # for the codec alone

_DIGITS = 15  # as.character() of a double
_TEXT_BYTES = 80


def expand(recipe: RValue, state: RValue, charge: Callable[[int], None]) -> RVector:
    """Make the vector of a recipe; ``charge`` takes its memory from the budget before it is made."""
    name = _recipe_name(recipe)
    if name == "compact_intseq":
        return RVector("integer", _sequence(state, charge, np.dtype(np.int32)))
    if name == "compact_realseq":
        return RVector("double", _sequence(state, charge, np.dtype(np.float64)))
    if name == "deferred_string":
        return character(_texts_of_numbers(_first(state), charge))
    if name.startswith("wrap_"):
        return _first(state)
    raise BridgeError(
        "a vector is stored by a recipe that is not known; in R, copy it: x <- x[seq_along(x)]", kind="R data"
    )


def _recipe_name(recipe: RValue) -> str:
    """Give the name of the recipe's class, the first of its pairlist."""
    first = recipe.cells[0].value if isinstance(recipe, RPairs) and recipe.cells else None
    if not isinstance(first, RSymbol):
        raise BridgeError(DAMAGED.format("a stored recipe has no name"), kind="R data")
    return first.name


def _first(state: RValue) -> RVector:
    """Give the vector that a wrapper or a deferred text is about."""
    first: RValue = None
    if isinstance(state, RPairs) and state.cells:
        first = state.cells[0].value
    elif isinstance(state, RVector) and state.kind == "list" and len(state):
        first = state.items[0]
    if not isinstance(first, RVector):
        raise BridgeError(DAMAGED.format("a stored recipe has no vector"), kind="R data")
    return first


def _sequence(state: RValue, charge: Callable[[int], None], element: np.dtype[np.generic]) -> AnyArray:
    """Make ``start + step * (0 .. length - 1)`` from (length, start, step)."""
    numeric = isinstance(state, RVector) and state.kind in ("double", "integer") and len(state) == 3
    parts = state.array.astype(np.float64) if numeric and isinstance(state, RVector) else np.full(3, np.nan)
    length, start, step = parts.tolist()
    last = start + step * (length - 1)
    if not (0 <= length < 2**52 and abs(start) < 2**52 and abs(step) <= 1 and abs(last) < 2**52):
        raise BridgeError(DAMAGED.format("a stored sequence has no length or start"), kind="R data")
    if element.kind == "i" and max(abs(start), abs(last)) >= 2**31:
        raise BridgeError(DAMAGED.format("a stored sequence leaves the integers"), kind="R data")
    charge(3 * 8 * int(length))
    made: AnyArray = (start + step * np.arange(int(length))).astype(element)
    return made


def _texts_of_numbers(numbers: RVector, charge: Callable[[int], None]) -> list[str | None]:
    """Give ``as.character()`` of a vector of numbers."""
    charge(_TEXT_BYTES * len(numbers))
    if numbers.kind == "integer":
        values = numbers.array
        listed: list[str | None] = values.astype("U11").astype(object).tolist()
        missing = values == NA_INTEGER
    elif numbers.kind == "double":
        values = numbers.array
        listed = [_text_of_double(value) for value in values.tolist()]
        missing = is_na_real(values)
    else:
        raise BridgeError(DAMAGED.format("stored texts are not of numbers"), kind="R data")
    for index in np.flatnonzero(missing).tolist():
        listed[index] = None
    return listed


def _text_of_double(number: float) -> str:
    """Write a double as R does: at most 15 digits, and fixed unless the exponent form is shorter."""
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else ("Inf" if number > 0 else "-Inf")
    if number == 0:
        return "0"
    mantissa, _, power = f"{number:.{_DIGITS - 1}e}".partition("e")
    mantissa, exponent = mantissa.rstrip("0").rstrip("."), int(power)
    digits = sum(letter.isdigit() for letter in mantissa)
    short = f"{mantissa}e{exponent:+03d}"
    fixed = f"{number:.{max(0, digits - 1 - exponent)}f}"
    return fixed if len(fixed) <= len(short) else short
