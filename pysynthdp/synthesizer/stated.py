"""Settings of what is exact in every copy: their forms, and what they declare of single columns."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from pysynthdp.base.errors import PlanError, PysynthdpError
from pysynthdp.base.words import Setting, Words
from pysynthdp.plan.asked import codes_outside, with_asked
from pysynthdp.plan.recoded import recoded, with_sums
from pysynthdp.schema import Schema
from pysynthdp.schema.declarations import Codes, Declarations
from pysynthdp.schema.universe import Universe

__all__ = ["Stated", "stated_schema", "with_codes", "wrong_stated"]

_NOT_ASKED: Final = "not asked"  # label of a code outside a universe that nobody labelled


class Stated(Protocol):
    """Settings of what is exact in every copy."""

    @property
    def universe(self) -> Mapping[str, Any]:
        """In which rows columns are asked."""
        ...

    @property
    def must_sum(self) -> Mapping[str, Sequence[str]]:
        """Totals and their parts."""
        ...

    @property
    def top_code(self) -> Mapping[str, float]:
        """Numbers above which values are written as these."""
        ...

    @property
    def round(self) -> Mapping[str, float]:
        """Numbers of which values are multiples."""
        ...

    @property
    def bounds(self) -> Mapping[str, Any]:
        """Declared bounds."""
        ...

    @property
    def drop(self) -> Sequence[str]:
        """Columns that are not released."""
        ...


def stated_schema(settings: Stated, schema: Schema, *, learns: bool) -> Schema:
    """Put universes, top codes, roundings and sums into a schema; nothing else of it changes.

    Parameters
    ----------
    settings, schema : Stated, Schema
        A user's, or a schema inferred.
    learns : bool
        Whether more may be modelled than what is declared: a spike at a top code.
    """
    schema = with_asked(schema, settings.universe, settings.drop)
    tops, steps = settings.top_code, settings.round
    schema = recoded(schema, rounding=steps, top_code=tops, learns=learns, dropped=settings.drop)
    return with_sums(schema, settings.must_sum, bounds=settings.bounds, rounding=(*tops, *steps))


def wrong_stated(
    universe: object,
    must_sum: object,
    numbers: Mapping[str, object],
    derived: Collection[str],
) -> Iterator[PysynthdpError]:
    """Find universes, sums, top codes and roundings in a form that cannot be.

    Parameters
    ----------
    universe, must_sum : object
        As they were given; what names no columns is found elsewhere.
    numbers : mapping setting -> object
        Top codes and roundings.
    derived : collection of str
        Columns with an expression.

    Yields
    ------
    PysynthdpError
        Names the column.
    """
    for name, given in universe.items() if isinstance(universe, Mapping) else ():
        try:
            Universe.of(str(name), given)
        except PysynthdpError as fault:
            yield fault
    for name, parts in must_sum.items() if isinstance(must_sum, Mapping) else ():
        yield from _wrong_sum(str(name), parts, derived)
    for what, own in numbers.items():
        for name, value in own.items() if isinstance(own, Mapping) else ():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                mend = Words("write {setting}", setting=Setting(what, {str(name): 50}))
                text = Words("{what} of {name} must be a number", what=what, name=str(name))
                yield PlanError(text, column=str(name), kind="setting", remedy=mend)


def _wrong_sum(name: str, parts: object, derived: Collection[str]) -> Iterator[PlanError]:
    """Find a total that is no list of columns, or derived as well."""
    if isinstance(parts, str | bytes) or not isinstance(parts, Collection):
        mend = Words("write {setting}", setting=Setting("must_sum", {name: ["wage", "pension"]}))
        text = Words("must_sum of {name} must be a list of columns", name=name)
        yield PlanError(text, column=name, kind="setting", remedy=mend)
    if name in derived:
        text = Words("{name} is both derived and a sum", name=name)
        yield PlanError(text, column=name, kind="setting", remedy="name it once")


def with_codes(given: Declarations, universe: Mapping[str, Any]) -> Declarations:
    """Declare the numbers that stand outside universes: as missing codes, but 0, a value, as a spike.

    A text is one of the column's levels, unless it is declared as a code.
    """
    missing: dict[str, Any] = dict(given.missing or {})
    spikes: dict[str, Any] = dict(given.spikes or {})
    for name, code in codes_outside(universe).items():
        labels = _labelled(missing.get(name, ()))
        if isinstance(code, str) or code in labels or code in tuple(spikes.get(name, ())):
            continue
        if code == 0:
            spikes[name] = (*spikes.get(name, ()), 0)
        else:
            missing[name] = {**labels, code: _NOT_ASKED}
    return replace(given, missing=missing, spikes=spikes)


def _labelled(given: Codes) -> dict[Any, str]:
    """Give codes with their labels, where they have some."""
    if isinstance(given, Mapping):
        return dict(given)
    return {code: str(code) for code in given}
