"""Make a plan from a schema and a user's wishes, before a record is read; order its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.choose import model_of
from pysynthdp.plan.declared import check_key
from pysynthdp.plan.derived import Derived, derived_columns, with_derived
from pysynthdp.plan.step import Method, predicting
from pysynthdp.plan.synthesis_plan import Protection, SynthesisPlan
from pysynthdp.plan.terms import all_terms, check_known
from pysynthdp.plan.wishes import Wishes
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["make_plan"]

_LISTED = 3  # columns that a remedy lists again
_JOINT: Final = Said(
    "joint=[(['a', 'b'], 'multivariate_normal')]",
    'joint = [[["a", "b"], "multivariate_normal"]] in the plan',
    'joint = list(list(c("a", "b"), "multivariate_normal"))',
)


def _counts(dtype: Any) -> bool:
    """Whether running numbers, or texts of them, can be written in a type."""
    return not isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype) and (
        dtype is None or dtype.kind not in "bmMc"
    )


def _without_levels(schema: Schema, serials: Iterable[str]) -> Schema:
    """Forget the levels of columns that are numbered anew: nothing of an identifier goes into a plan."""
    for name in serials:
        column = schema[name]
        if isinstance(column, CategoricalColumn):
            dtype = "category" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
            schema = schema.amend(name, levels=(), other=None, missing=(), categories=None, dtype=dtype)
        if not _counts(column.dtype):
            what = Words(
                "{name}: running numbers cannot be written as {dtype}", name=name, dtype=column.dtype
            )
            mend = Words("leave it out with {drop}", drop=Setting("drop", [name]))
            raise PlanError(what, column=name, kind="method", remedy=mend)
    return schema


def _pair(step: object) -> tuple[Sequence[str], Method]:
    """Take one joint step: the names of its columns, and a method."""
    columns, method = step if isinstance(step, tuple | list) and len(step) == 2 else (None, None)
    if not isinstance(columns, tuple | list) or method is None:
        mend = Words("write {joint}", joint=_JOINT)
        what = "joint must be a list of steps, each the names of its columns and a method"
        raise PlanError(what, kind="setting", remedy=mend)
    return columns, method


def _visit_order(schema: Schema, wish: Sequence[str] | None, apart: set[str]) -> tuple[str, ...]:
    """Order of the columns to draw: the wish, which must name each, or the table's order."""
    needed = [name for name in schema.names if name not in apart]
    if wish is None:
        return tuple(needed)
    if len(set(wish)) < len(wish):
        raise PlanError("visit_sequence names a column twice", kind="order", remedy="name each once")
    for name in wish:
        if name in apart:
            what = Words("visit_sequence names {name}, which is kept or serial", name=name)
            raise PlanError(what, column=name, kind="order", remedy="leave it out there")
    left = [name for name in needed if name not in wish]
    if left:
        drop = Setting("drop", left if len(left) <= _LISTED else [...])
        raise PlanError(
            Words("visit_sequence leaves out {left}", left=", ".join(left)),
            column=left[0],
            kind="order",
            remedy=Words("add them, or leave them out of the copies with {drop}", drop=drop),
        )
    return tuple(wish)


def _gathered(order: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Move the columns of each joint step to where the first of them is visited."""
    place = {name: position for position, name in enumerate(order)}
    for columns in groups:
        absent = [name for name in columns if name not in place]
        if absent or len(set(columns)) < len(columns):
            text = "the joint step of {names} names a column twice or one that is not drawn"
            what = Words(text, names=", ".join(columns))
            raise PlanError(what, kind="joint", remedy="name each column once, of those that are drawn")
        first = min(place[name] for name in columns)
        place |= dict.fromkeys(columns, first)
    rank = {name: (place[name], *_position(name, groups)) for name in order}
    return tuple(sorted(order, key=rank.__getitem__))


def _position(name: str, groups: tuple[tuple[str, ...], ...]) -> tuple[int, int]:
    """Group of a column and its place there."""
    for number, columns in enumerate(groups):
        if name in columns:
            return number, columns.index(name)
    return -1, 0


def make_plan(
    schema: Schema,
    protection: Protection,
    *,
    method: Method | Mapping[str, Method] | None = None,
    visit_sequence: Sequence[str] | None = None,
    predictor_matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None = None,
    formulas: Iterable[str] = (),
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    proper: bool = False,
    emit_original: bool = False,
    joint: Iterable[tuple[Sequence[str], Method]] = (),
    derive: Mapping[str, str] | None = None,
    found: Mapping[str, str] | None = None,
) -> SynthesisPlan:
    """Make a plan from a schema and a user's wishes; reads no record.

    Raises
    ------
    PlanError
        If a wish names an unknown column, a predictor that is not yet there, or a method that cannot draw the
        column; the message says which and what to do.
    PrivacyError
        If the protection cannot be had; the message names the column and what to declare or change.
    """
    schema = protection.public_schema(schema)
    check_key(schema, protection.unit)
    if not (names := set(schema.names)):
        raise PlanError("no column is left to draw", kind="columns", remedy="drop fewer")
    kept, dropped = tuple(keep), tuple(drop)
    methods: dict[str, Method] = dict(method) if isinstance(method, Mapping) else {}
    for what, given in (("keep", kept), ("method", methods), ("visit_sequence", visit_sequence or ())):
        check_known(given, names, what, dropped)
    serials = tuple(name for name in schema.names if methods.get(name) == SERIAL)
    schema = _without_levels(schema, serials)
    groups = _groups(joint, names)
    derived = derived_columns(
        schema,
        {**(found or {}), **(derive or {})},
        found=found or {},
        apart={*kept, *serials},
        dropped=dropped,
        predicting=_named(predictor_matrix, formulas) if protection.learns else None,
    )
    made = {own.column for own in derived if not own.corrects}
    _refuse_made(made, methods, groups)
    wish = visit_sequence if visit_sequence is None else [name for name in visit_sequence if name not in made]
    drawn = _gathered(_visit_order(schema, wish, {*kept, *serials, *made}), tuple(groups))
    order = with_derived(drawn, derived)
    telling = tuple(name for name in order if name not in made or name in _predicting(derived))
    drawn = tuple(name for name in order if name not in made)
    wishes = Wishes(
        order=drawn,
        methods={name: wish for name, wish in methods.items() if name in drawn},
        everywhere=None if isinstance(method, Mapping) else method,
        terms=all_terms(telling, predicting(schema, kept), predictor_matrix, formulas, names, made=made),
        groups=groups,
        keep=kept,
        proper=proper,
        emit_original=emit_original,
    )
    protection.check_wishes(schema, wishes)
    steps = tuple(protection.steps(schema, wishes))
    plan = SynthesisPlan(schema, order, steps, protection, kept, serials, dropped, proper, derived)
    protection.check(plan)
    return plan


def _predicting(derived: Iterable[Derived]) -> set[str]:
    """Name the derived columns that later ones are drawn from."""
    return {own.column for own in derived if own.predicts}


def _named(
    matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None, formulas: Iterable[str]
) -> frozenset[str]:
    """Name what a user's predictors or formulas ask for; of formulas every word in them."""
    listed: Iterable[str] = matrix.columns if isinstance(matrix, pd.DataFrame) else ()
    if isinstance(matrix, Mapping):
        listed = [name for own in matrix.values() if not isinstance(own, str) for name in own]
    words = (re.split(r"[^\w.]+", text.partition("~")[2]) for text in formulas if isinstance(text, str))
    return frozenset(map(str, listed)).union(*words)


def _refuse_made(
    made: set[str], methods: Mapping[str, Method], groups: Mapping[tuple[str, ...], ColumnModel]
) -> None:
    """Refuse a method for a column that is derived."""
    both = [name for name in (*methods, *(name for columns in groups for name in columns)) if name in made]
    if both:
        raise PlanError(
            Words("{name} is derived, so no method draws it", name=both[0]),
            column=both[0],
            kind="expression",
            remedy="leave it out of the methods, or have it drawn and leave it out of what is derived",
        )


def _groups(
    joint: Iterable[tuple[Sequence[str], Method]], names: set[str]
) -> dict[tuple[str, ...], ColumnModel]:
    """Columns that are drawn together, and by what."""
    groups = {tuple(columns): model_of(model) for columns, model in map(_pair, joint)}
    for columns in groups:
        check_known(columns, names, "joint")
    return groups
