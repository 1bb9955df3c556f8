"""Columns that are asked in some rows only: the declarations of a user, and whether a plan can have them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, together
from pysynthdp.base.words import Facts, Setting, Words
from pysynthdp.design.expressions import parsed
from pysynthdp.design.universes import condition_of, limited
from pysynthdp.plan.step import Step
from pysynthdp.plan.terms import check_known
from pysynthdp.schema import Column, Schema
from pysynthdp.schema.universe import Universe, UniverseLike

__all__ = [
    "alone",
    "asking",
    "check_asked",
    "check_conditions",
    "check_late",
    "codes_outside",
    "conditions_of",
    "with_asked",
]


def with_asked(schema: Schema, universe: Mapping[str, UniverseLike], dropped: Collection[str]) -> Schema:
    """Declare in which rows columns are asked.

    Raises
    ------
    PlanError, SchemaError
        For an unknown column, or a code that is not declared.
    """
    check_known(universe, set(schema.names), "universe", dropped)
    faults: list[PysynthdpError] = []
    for name, given in universe.items():
        try:
            own, old = Universe.of(name, given), schema[name].universe
            if isinstance(old, Universe) and (old.where, old.outside) == (own.where, own.outside):
                continue  # stated before, and perhaps settled
            schema = schema.amend(name, universe=own)
        except PysynthdpError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    return schema


def conditions_of(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Name for each column that is not asked in every row the columns of its condition.

    Raises
    ------
    PlanError
        For a condition that cannot be read, or that names the column itself.
    """
    found: dict[str, tuple[str, ...]] = {}
    faults: list[PysynthdpError] = []
    for column in limited(schema):
        try:
            found[column.name] = _condition(column, schema)
        except PysynthdpError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    return found


def _condition(column: Column, schema: Schema) -> tuple[str, ...]:
    """Name the columns of one condition."""
    names = condition_of(column, schema).columns
    if column.name in names or not names:
        what = "{name}: its universe names itself" if names else "{name}: its universe names no column"
        raise PlanError(
            Words(what, name=column.name),
            column=column.name,
            kind="universe",
            remedy="name columns that are drawn before it",
        )
    return names


def check_conditions(
    conditions: Mapping[str, Sequence[str]], *, apart: Mapping[str, str], made: Collection[str], learns: bool
) -> None:
    """Refuse universes of columns that no step draws, circles, and conditions on what no fit knows.

    Parameters
    ----------
    conditions : mapping column -> columns
        As :func:`conditions_of` names them.
    apart : mapping column -> str
        Columns that have no step of their own, and what is done with them.
    made : collection of str
        Derived columns.
    learns : bool
        Whether derived columns may be predictors.

    Raises
    ------
    PlanError
        Names the column and the mend.
    """
    for name, given in conditions.items():
        if name in apart:
            what = Words("{name} has a universe, and is {what}", name=name, what=apart[name])
            raise PlanError(what, column=name, kind="universe", remedy="leave one of the two out")
        computed = [each for each in given if each in made]
        if computed and not learns:
            what = Words("{name}: its universe names {other}, which is derived", name=name, other=computed[0])
            mend = "write what it is derived from into the universe"
            raise PlanError(what, column=name, kind="universe", remedy=mend)
    left = dict(conditions)
    while left:
        ready = [name for name, given in left.items() if not any(each in left for each in given)]
        if not ready:
            circle = ", ".join(left)
            what = Words("the universes of {circle} name one another", circle=circle)
            mend = "leave one of them out"
            raise PlanError(what, column=next(iter(left)), kind="universe", remedy=mend)
        left = {name: given for name, given in left.items() if name not in ready}


def check_asked(conditions: Mapping[str, Sequence[str]], order: Sequence[str]) -> None:
    """Refuse a universe whose condition names a column that is drawn later.

    Raises
    ------
    PlanError
        Names both columns, and how to put them in order.
    """
    place = {name: at for at, name in enumerate(order)}
    for name, given in conditions.items():
        later = [each for each in given if place.get(each, -1) > place.get(name, -1)]
        if later:
            what = "{name}: its universe names {other}, which is drawn after it"
            mend = Words(
                "put {other} before {name} in {order}, or leave that out",
                other=later[0],
                name=name,
                order=Setting("visit_sequence", [later[0], name]),
            )
            text = Words(what, name=name, other=later[0])
            raise PlanError(text, column=name, kind="universe", remedy=mend)


def check_late(steps: Sequence[Step], conditions: Mapping[str, Sequence[str]], schema: Schema) -> None:
    """Refuse missing values that occur on both sides of a universe whose condition is drawn after the kind.

    Under noise in the answers kinds and levels are drawn before numbers.

    Raises
    ------
    PrivacyError
        Names the column and what to declare.
    """
    first = _first_steps(steps)
    last = {part.column: at for at, step in enumerate(steps) for part in step.targets}
    for name, given in conditions.items():
        own = schema[name].universe
        late = [each for each in given if last.get(each, -1) > first.get(name, len(steps))]
        if late and isinstance(own, Universe) and not own.alone:
            what = (
                "{name}: levels and missing values are drawn before the number {other} of its universe, so "
                "that missing values inside it could not be told from those outside"
            )
            raise PrivacyError(
                Words(what, name=name, other=late[0]),
                column=name,
                kind="universe",
                remedy=Words(
                    "declare {facts} if none is missing inside it, or a code for what stands outside it",
                    facts=Facts(may_be_missing=False),
                ),
            )


def _first_steps(steps: Iterable[Step]) -> dict[str, int]:
    """Place of the first step of each column."""
    found: dict[str, int] = {}
    for at, step in enumerate(steps):
        for part in step.targets:
            found.setdefault(part.column, at)
    return found


def asking(universe: Mapping[str, Any], known: Sequence[str]) -> frozenset[str]:
    """Name the columns that say who is asked: they are drawn before those that they ask."""
    found = ((name, Universe.of(name, given).where) for name, given in universe.items())
    return frozenset(
        each for name, where in found for each in parsed(where, tuple(known), column=name).columns
    )


def codes_outside(universe: Mapping[str, Any]) -> dict[str, Any]:
    """Give the code that stands outside each universe, of those that have one."""
    found = {name: Universe.of(name, given) for name, given in universe.items()}
    return {name: own.outside for name, own in found.items() if own.outside is not None}


def alone(schema: Schema, name: str) -> Schema:
    """Say that what stands outside a column's universe stands nowhere else."""
    own = Universe.of(name, schema[name].universe or "")
    return schema.amend(name, universe=replace(own, alone=True))
