"""Make a plan from a schema and a user's wishes, before a record is read; order its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.even import Evenness
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.asked import check_asked, check_conditions, check_late, conditions_of
from pysynthdp.plan.choose import model_of
from pysynthdp.plan.counted import counted_columns
from pysynthdp.plan.declared import check_key
from pysynthdp.plan.derived import Derived, derived_columns, with_derived, without_silent
from pysynthdp.plan.designed import (
    check_weight,
    design_terms,
    last_of_all,
    silent,
    stays_real,
    with_design_terms,
)
from pysynthdp.plan.factors import columns_of
from pysynthdp.plan.formulas import Formulas
from pysynthdp.plan.order import Behind, VisitOrder, visit_order
from pysynthdp.plan.rules import Rule, check_redraws, rules_of
from pysynthdp.plan.step import Method, predicting
from pysynthdp.plan.synthesis_plan import Protection, SynthesisPlan
from pysynthdp.plan.terms import MOST, Chosen, all_terms, asked_terms, check_known, left_open, to_screen
from pysynthdp.plan.wishes import Wishes
from pysynthdp.plan.within import Undrawn, check_order, checked_apart, fitted_apart
from pysynthdp.schema import CategoricalColumn, Design, Schema

__all__ = ["make_plan"]

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
    formulas: Sequence[str] = (),
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    proper: bool = False,
    draws: Evenness | None = None,
    emit_original: bool = False,
    joint: Iterable[tuple[Sequence[str], Method]] = (),
    max_predictors: int | None = None,
    behind: Behind | None = None,
    terms: Chosen | None = None,
    derive: Mapping[str, str] | None = None,
    found: Mapping[str, str] | None = None,
    rules: Sequence[str] = (),
    recoded: Iterable[str] = (),
    nested: Mapping[str, str] | None = None,
    strata: Sequence[str] = (),
    design: Design | None = None,
) -> SynthesisPlan:
    """Make a plan from a schema and a user's wishes; reads no record.

    Without ``visit_sequence`` columns are drawn by kind where anything may be learned, else as they stand in
    the table; ``behind`` says what is known beside that to be drawn before what.

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
    kept, dropped = tuple(keep), tuple(drop)
    methods: dict[str, Method] = dict(method) if isinstance(method, Mapping) else {}
    names = _known(schema, dropped, keep=kept, method=methods, visit_sequence=visit_sequence or ())
    serials = tuple(name for name in schema.names if methods.get(name) == SERIAL)
    schema = _without_levels(schema, serials)
    groups = _groups(joint, names)
    asked = asked_terms(predictor_matrix, formulas, schema)
    _check_together(groups, asked)
    by_kind, apart = protection.learns, {*kept, *serials}
    conditions = conditions_of(schema)
    used = _used(asked).union(*conditions.values()) if by_kind else None
    derived = derived_columns(schema, derive or {}, found or {}, apart=apart, dropped=dropped, used=used)
    made = _made(derived, asked, methods, groups)
    own_steps = _without_steps(kept, serials, derived, groups)
    check_conditions(conditions, apart=own_steps, made=made, learns=by_kind)
    sets = Undrawn(dropped, kept, serials, made, [name for columns in groups for name in columns])
    nested, strata = checked_apart(nested, strata, schema, sets)
    groups |= _of_strata(parting := [name for name in strata if name not in kept])
    ahead, behind = _ahead(asked, conditions), _behind(behind or Behind(), nested, parting, (design, schema))
    visited = _visited(schema, visit_sequence, apart, derived, groups, ahead, behind, by_kind=by_kind)
    _check_visited(visited.columns, conditions, nested, parting, (design, schema))
    order = tuple(name for name in visited.columns if name not in made)
    nearest = None if by_kind else max_predictors  # what tells most, only the rows say
    telling = without_silent(visited.columns, derived)
    own = _terms(telling, predicting(schema, kept), asked, nearest, (design, schema))
    everywhere = None if isinstance(method, Mapping) else method
    wishes = replace(_wishes(order, methods, everywhere, own, groups, design), nested=nested, strata=strata)
    wishes = replace(wishes, keep=kept, proper=proper, draws=draws, emit_original=emit_original)
    kept_rules = _rules(rules, schema, apart, conditions, protection)
    protection.check_wishes(schema, wishes)
    steps = fitted_apart(protection.steps(schema, wishes), nested, strata)
    check_late(() if by_kind else steps, conditions, schema)
    plan = SynthesisPlan(schema, visited.columns, steps, protection, kept, serials, dropped, proper)
    plan = replace(plan, order=visited.why, derived=derived, rules=kept_rules, recoded=tuple(recoded))
    plan = replace(plan, draws=_draws(draws, protection), design=design)
    if by_kind and not (everywhere or emit_original or strata):
        plan = _counting(plan, {*wishes.methods, *own_steps, *nested})
    return _left_open(plan, order, asked, max_predictors, screens=terms != "main")


def _terms(
    telling: tuple[str, ...],
    first: tuple[str, ...],
    asked: Formulas,
    nearest: int | None,
    drawn: tuple[Design | None, Schema],
) -> Formulas:
    """Say what each column is drawn from: what was asked or stands before it, and what the design says."""
    own = all_terms(telling, first, asked, nearest=nearest, silent=silent(*drawn))
    return with_design_terms(own, design_terms(*drawn))


def _rules(
    rules: Sequence[str],
    schema: Schema,
    apart: Collection[str],
    conditions: Mapping[str, Sequence[str]],
    protection: Protection,
) -> tuple[Rule, ...]:
    """Read rules; refuse them, and universes, where the protection allows neither."""
    found = rules_of(rules, schema, apart)
    check_redraws(found, conditions, redraws=protection.redraws, protection=protection.name)
    return found


def _check_visited(
    order: Sequence[str],
    conditions: Mapping[str, Sequence[str]],
    nested: Mapping[str, str],
    strata: Sequence[str],
    drawn: tuple[Design | None, Schema],
) -> None:
    """Refuse an order in which universes, strata, what is nested or a weight come before what they need."""
    check_weight(*drawn, order)
    check_asked(conditions, order)
    check_order(nested, strata, order)


def _wishes(
    order: tuple[str, ...],
    methods: Mapping[str, Method],
    everywhere: Method | None,
    terms: Formulas,
    groups: Mapping[tuple[str, ...], ColumnModel],
    design: Design | None,
) -> Wishes:
    """Put together who is drawn by what, and from whom."""
    return Wishes(
        order=order,
        methods={name: wish for name, wish in methods.items() if name in order},
        everywhere=everywhere,
        terms=terms.columns,
        kind_terms=terms.kinds,
        groups=groups,
        spreads=stays_real(design),
    )


def _check_together(groups: Mapping[tuple[str, ...], ColumnModel], asked: Formulas) -> None:
    """Refuse formulas of columns that are drawn with another one, whose predictors are those of all."""
    written = {*asked.columns, *asked.kinds} - {*asked.listed}
    for first, *others in groups:
        for name in (each for each in others if each in written):
            what = Words("{name} is drawn together with {first}", name=name, first=first)
            mend = Words("name the predictors of {first}, which are those of all", first=first)
            raise PlanError(what, column=name, kind="joint", remedy=mend)


def _of_strata(names: Sequence[str]) -> dict[tuple[str, ...], ColumnModel]:
    """Draw several columns that tell strata together, so that no stratum is drawn that nobody is in."""
    return {tuple(names): model_of("catall")} if len(names) > 1 else {}


def _behind(
    behind: Behind, nested: Mapping[str, str], strata: Sequence[str], drawn: tuple[Design | None, Schema]
) -> Behind:
    """Add that strata are drawn first, what is nested after the coarser column, and a weight last of all."""
    behind = last_of_all(behind, drawn[0], drawn[1].names)
    within = {fine: (*behind.somewhere.get(fine, ()), coarse) for fine, coarse in nested.items()}
    return replace(
        behind,
        somewhere={**behind.somewhere, **within},
        first={*behind.first, *strata},
        last={*behind.last, *nested},
    )


def _counting(plan: SynthesisPlan, apart: Collection[str]) -> SynthesisPlan:
    """Say which columns are drawn as distances from others."""
    order = without_silent(plan.visit_sequence, plan.derived)
    first = predicting(plan.schema, plan.keep)
    other = set(apart) - {own.column for own in plan.derived if own.corrects}
    found = counted_columns(plan.rules, plan.schema, order, first=first, apart=other)
    return replace(plan, counted=found)


def _left_open(
    plan: SynthesisPlan, order: tuple[str, ...], asked: Formulas, most: int | None, *, screens: bool
) -> SynthesisPlan:
    """Say in a plan what the fit may choose, where it may learn; the protection checks it then."""
    learns = plan.protection.learns
    plan = replace(
        plan,
        left_open=left_open(order, asked),
        to_screen=to_screen(plan.steps, asked) if learns and screens else (),
        max_predictors=(most or MOST) if learns else None,
    )
    plan.protection.check(plan)
    return plan


def _visited(
    schema: Schema,
    wish: Sequence[str] | None,
    apart: set[str],
    derived: Sequence[Derived],
    groups: Mapping[tuple[str, ...], ColumnModel],
    asked: Mapping[str, Sequence[str]],
    behind: Behind | None,
    *,
    by_kind: bool,
) -> VisitOrder:
    """Order the columns that are drawn, and put each that is derived behind the last one that it needs."""
    made = {own.column for own in derived if not own.corrects}
    drawn = None if wish is None else [name for name in wish if name not in made]
    first = {name: _told_by(given, derived) for name, given in asked.items()}
    found = visit_order(schema, drawn, apart | made, asked=first, behind=behind, by_kind=by_kind)
    return replace(found, columns=with_derived(_gathered(found.columns, tuple(groups)), derived))


def _without_steps(
    kept: Iterable[str],
    serials: Iterable[str],
    derived: Iterable[Derived],
    groups: Iterable[tuple[str, ...]],
) -> dict[str, str]:
    """Say of columns that have no step of their own what is done with them."""
    return {
        **dict.fromkeys(kept, "kept as it really is"),
        **dict.fromkeys(serials, "replaced by running numbers"),
        **{own.column: "derived" for own in derived},
        **{name: "drawn together with others" for columns in groups for name in columns},
    }


def _told_by(given: Iterable[str], derived: Sequence[Derived]) -> tuple[str, ...]:
    """Name predictors, and what those that are derived are computed from, which is drawn before them."""
    needed = set(given)
    for own in reversed(derived):
        needed |= set(own.given) if own.column in needed else set()
    return tuple(sorted(needed))


def _used(asked: Formulas) -> frozenset[str]:
    """Name the predictors that a user asks for."""
    terms = (term for own in (asked.columns, asked.kinds) for each in own.values() for term in each)
    return frozenset(columns_of(terms))


def _made(
    derived: Iterable[Derived],
    asked: Formulas,
    methods: Mapping[str, Method],
    groups: Mapping[tuple[str, ...], ColumnModel],
) -> set[str]:
    """Name the columns that no model draws; refuse a method or a formula for one."""
    made = {own.column for own in derived if not own.corrects}
    for what, given in (
        ("method", (*methods, *(name for columns in groups for name in columns))),
        ("formula", (*asked.kinds, *asked.columns)),
    ):
        both = [name for name in given if name in made]
        if both:
            raise PlanError(
                Words("{name} is derived, so no {what} draws it", name=both[0], what=what),
                column=both[0],
                kind="expression",
                remedy="leave one of the two out",
            )
    return made


def _known(schema: Schema, dropped: Sequence[str], **settings: Iterable[str]) -> set[str]:
    """Give the names of the columns; refuse settings that name what is none, and a table without any."""
    names = set(schema.names)
    if not names:
        raise PlanError("no column is left to draw", kind="columns", remedy="drop fewer")
    for what, given in settings.items():
        check_known(given, names, what, dropped)
    return names


def _ahead(asked: Formulas, conditions: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Name what is drawn before a column because it was asked for: predictors, and what says who is asked."""
    names = {*asked.predictors, *conditions}
    return {name: (*asked.predictors.get(name, ()), *conditions.get(name, ())) for name in names}


def _draws(asked: Evenness | None, protection: Protection) -> Evenness | None:
    """Say how rows are drawn; refuse even draws where another price was paid."""
    if asked == "even" and not protection.draws_evenly:
        raise PrivacyError(
            Words(
                "{even} does not apply under protection '{name}', whose price is that of independent draws",
                even=Setting("draws", "even"),
                name=protection.name,
            ),
            kind="setting",
            remedy="leave it out, or ask for noise in the answers, where draws cost nothing",
        )
    return asked or protection.draws


def _groups(
    joint: Iterable[tuple[Sequence[str], Method]], names: set[str]
) -> dict[tuple[str, ...], ColumnModel]:
    """Columns that are drawn together, and by what."""
    groups = {tuple(columns): model_of(model) for columns, model in map(_pair, joint)}
    for columns in groups:
        check_known(columns, names, "joint")
    return groups
