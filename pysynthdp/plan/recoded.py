"""Roundings, top codes and totals that were asked for: what the schema says of such columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError, PysynthdpError, together
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.expressions import quoted
from pysynthdp.design.parts import digits_of
from pysynthdp.plan.terms import check_known
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["recoded", "sums_of", "with_sums"]

_NEAR = 1e-9  # of a step
_MONTHS: Final = Said(
    "12 * date.dt.year + date.dt.month",
    "12 * year + month",
    "as.POSIXlt(date)$year * 12 + as.POSIXlt(date)$mon",
)
_LATEST: Final = Said(
    'date.clip(upper="2020-12-31")', "2020-12-31 for all later ones", 'pmin(date, as.Date("2020-12-31"))'
)
_MOST_DIGITS = 12


def recoded(
    schema: Schema,
    *,
    rounding: Mapping[str, float],
    top_code: Mapping[str, float],
    learns: bool,
    dropped: Collection[str] = (),
) -> Schema:
    """Declare steps and top codes.

    Parameters
    ----------
    schema : Schema
        Inferred or declared.
    rounding, top_code : mapping column -> number
        Of which values are multiples, and above which they are written as it.
    learns : bool
        Whether a spike at the top code may be modelled apart, which a budget would pay for.
    dropped : collection of str
        Columns that are not released.

    Raises
    ------
    PlanError
        For a column that is unknown, no number, or a date; names it.
    """
    check_known(rounding, set(schema.names), "round", dropped)
    check_known(top_code, set(schema.names), "top_code", dropped)
    schema = _each(schema, "top_code", top_code, lambda column, top: _topped(column, top, learns=learns))
    return _each(schema, "round", rounding, _stepped)


def _each(
    schema: Schema,
    what: str,
    given: Mapping[str, float],
    change: Callable[[NumericColumn, float], dict[str, Any]],
) -> Schema:
    """Change some columns; several faults are raised together."""
    faults: list[PysynthdpError] = []
    for name, value in given.items():
        column = schema[name]
        try:
            if not isinstance(column, NumericColumn):
                raise _no_number(name, what, value)
            if column.unit != "number":
                raise _no_date(name, what)
            schema = schema.amend(name, **change(column, float(value)))
        except PysynthdpError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    return schema


def _no_number(name: str, what: str, value: float) -> PlanError:
    """Say that a column is no number."""
    text = Words("{what} names {name}, which is drawn as levels", what=what, name=name)
    mend = Words(
        "leave it out of {what}, or recode the column before the fit", what=Setting(what, {name: value})
    )
    return PlanError(text, column=name, kind=what, remedy=mend)


def _no_date(name: str, what: str) -> PlanError:
    """Say that a column is a date, and how to have coarser ones."""
    text = Words("{what} names {name}, which is a date, and takes numbers alone", what=what, name=name)
    if what == "top_code":
        mend = Words("recode later dates before the fit, as in {how}", how=_LATEST)
    else:
        mend = Words("give the fit a number, as in {how}, and turn copies back; or round copies", how=_MONTHS)
    return PlanError(text, column=name, kind=what, remedy=mend)


def _topped(column: NumericColumn, top: float, *, learns: bool) -> dict[str, Any]:
    """Put the upper bound at a top code, and its mass apart."""
    if column.lower is not None and top <= column.lower:
        what = Words("{name}: its top code is not above its lower bound", name=column.name)
        raise PlanError(what, column=column.name, kind="top_code", remedy="give a larger one")
    if pd.api.types.is_integer_dtype(column.dtype) and not top.is_integer():
        what = Words("{name}: it holds whole numbers, and its top code is none", name=column.name)
        raise PlanError(what, column=column.name, kind="top_code", remedy="give a whole number")
    upper = top if column.upper is None else min(top, column.upper)
    spikes = [spike for spike in column.spikes if spike < upper]
    apart = learns and upper == top
    return {"upper": upper, "topped": True, "spikes": (*spikes, top) if apart else tuple(spikes)}


def _stepped(column: NumericColumn, step: float) -> dict[str, Any]:
    """Give a column steps; spikes between them become ordinary numbers."""
    if not step > 0:
        what = Words("{name}: it cannot be rounded to multiples of nothing", name=column.name)
        mend = Words("write {how}", how=Setting("round", {column.name: 50}))
        raise PlanError(what, column=column.name, kind="round", remedy=mend)
    if pd.api.types.is_integer_dtype(column.dtype) and not step.is_integer():
        what = Words("{name}: it holds whole numbers, and is rounded to parts of one", name=column.name)
        raise PlanError(what, column=column.name, kind="round", remedy="give a whole number")
    odd = [end for end in (column.upper,) if column.topped and end is not None and not _multiple(end, step)]
    if odd:
        what = Words("{name}: its top code is no multiple of what it is rounded to", name=column.name)
        raise PlanError(what, column=column.name, kind="round", remedy="choose one that is")
    spikes = tuple(spike for spike in column.spikes if _multiple(spike, step))
    digits = next((at for at in range(_MOST_DIGITS) if _multiple(step, 10.0**-at)), None)
    return {"step": step, "offset": 0.0, "decimals": digits, "spikes": spikes}


def _multiple(value: float, step: float) -> bool:
    """Whether a value is a multiple of a step, but for rounding."""
    times = value / step
    return abs(times - round(times)) < _NEAR * max(1.0, abs(times))


def sums_of(must_sum: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Write totals as expressions of their parts.

    Examples
    --------
    >>> sums_of({"income": ["wage", "net pension"]})
    {'income': 'wage + `net pension`'}
    """
    return {total: " + ".join(map(quoted, parts)) for total, parts in must_sum.items()}


def with_sums(
    schema: Schema, must_sum: Mapping[str, Sequence[str]], *, bounds: Iterable[str], rounding: Iterable[str]
) -> Schema:
    """Give totals what their parts have: digits and missing values, and no bounds of their own.

    Parameters
    ----------
    schema : Schema
        Inferred or declared, with the steps that were asked for.
    must_sum : mapping column -> columns
        Totals and their parts.
    bounds, rounding : iterable of str
        Columns of which the user says these himself; a total cannot be among them.

    Raises
    ------
    PlanError
        Names the total and the part.
    """
    check_known(must_sum, set(schema.names), "must_sum")
    limits = (*bounds, *rounding)
    faults: list[PysynthdpError] = []
    for total, parts in must_sum.items():
        check_known(parts, set(schema.names), "must_sum")
        try:
            schema = schema.amend(total, **_facts_of_sum(schema, total, parts, limits))
        except PysynthdpError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    return schema


def _facts_of_sum(schema: Schema, total: str, parts: Sequence[str], limits: Sequence[str]) -> dict[str, Any]:
    """Find the facts of a total."""
    if len(parts) < 2 or total in parts or len(set(parts)) < len(parts):
        what = Words("must_sum: {total} must be the sum of two or more other columns", total=total)
        mend = Words("write {how}", how=Setting("must_sum", {"income": ["wage", "pension"]}))
        raise PlanError(what, column=total, kind="must_sum", remedy=mend)
    columns = [schema[name] for name in (total, *parts)]
    odd = [column for column in columns if not isinstance(column, NumericColumn) or column.unit != "number"]
    if odd:
        what = Words("must_sum: {name} is drawn as levels or is a date", name=odd[0].name)
        raise PlanError(what, column=odd[0].name, kind="must_sum", remedy="sum numbers")
    if total in limits:
        what = Words("{total} is a sum of others, so that its bounds and steps are theirs", total=total)
        instead = "bound, top-code and round its parts, or write a rule"
        raise PlanError(what, column=total, kind="must_sum", remedy=instead)
    numbers = [column for column in columns[1:] if isinstance(column, NumericColumn)]
    digits = [digits_of(column) for column in numbers]
    fine = None if None in digits else max(each for each in digits if each is not None)
    own = columns[0]
    whole = pd.api.types.is_integer_dtype(own.dtype)
    if whole and (fine is None or fine > 0):
        what = Words("must_sum: {total} holds whole numbers, and its parts do not", total=total)
        raise PlanError(what, column=total, kind="must_sum", remedy="make it a float column before the fit")
    missing = any(column.may_be_missing or column.missing for column in numbers)
    return {
        "lower": None,
        "upper": None,
        "topped": False,
        "decimals": fine,
        "step": None,
        "offset": 0.0,
        "may_be_missing": own.may_be_missing or missing,
    }
