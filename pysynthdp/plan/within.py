"""Models that are fitted apart in groups of rows: finer columns within coarser ones, and strata."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.plan.factors import LEVEL, Factor, Terms, columns_of
from pysynthdp.plan.step import Step
from pysynthdp.plan.synthesis_plan import SynthesisPlan
from pysynthdp.plan.terms import check_known
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = [
    "Undrawn",
    "check_order",
    "checked_apart",
    "fitted_apart",
    "told_within",
    "unread_parts",
]


@dataclass(frozen=True, slots=True)
class Undrawn:
    """Columns that are not drawn each by a model of its own.

    Parameters
    ----------
    dropped, kept, serials, made, together : collection of str
        Not released, released as they are, numbered anew, computed, and drawn by a joint step.
    """

    dropped: Collection[str]
    kept: Collection[str]
    serials: Collection[str]
    made: Collection[str]
    together: Collection[str]

    @property
    def ways(self) -> dict[str, Collection[str]]:
        """What becomes of them, but for those that are kept."""
        return {
            "numbered anew": self.serials,
            "computed from others": self.made,
            "drawn by a joint step": self.together,
        }


def checked_apart(
    nested: Mapping[str, str] | None, strata: str | Sequence[str], schema: Schema, others: Undrawn
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Refuse what cannot be fitted apart: numbers, what no model draws by itself, a circle.

    Parameters
    ----------
    nested : mapping column -> coarser column
        As a user wrote it.
    strata : str or sequence of str
        Columns that tell the stratum.
    schema : Schema
        Of the plan.
    others : Undrawn
        Columns of which another setting speaks.

    Raises
    ------
    PlanError
        Names the column and what to write.
    """
    nested = dict(nested or {})
    strata = (strata,) if isinstance(strata, str) else tuple(dict.fromkeys(strata))
    names = set(schema.names)
    check_known((*nested, *nested.values()), names, "nested", others.dropped)
    check_known(strata, names, "strata", others.dropped)
    for fine, coarse in nested.items():
        _check_levels(fine, schema, "nested")
        _check_levels(coarse, schema, "nested")
        _refuse_twice(fine, "nested", {"released as it is": others.kept, **others.ways})
        if fine in _above(coarse, nested):
            what = Words("{fine} is nested in itself, by way of {coarse}", fine=fine, coarse=coarse)
            mend = "name for each column the next coarser one"
            raise PlanError(what, column=fine, kind="nested", remedy=mend)
    for name in strata:
        _check_levels(name, schema, "strata")
        _refuse_twice(name, "strata", {**others.ways, "nested in another column": nested})
    return nested, strata


def _refuse_twice(name: str, setting: str, others: Mapping[str, Collection[str]]) -> None:
    """Refuse a column that another setting has drawn in another way."""
    for how, columns in others.items():
        if name in columns:
            what = Words("{setting} names {name}, which is {how}", setting=setting, name=name, how=how)
            raise PlanError(what, column=name, kind=setting, remedy="leave one of the two out")


def _check_levels(name: str, schema: Schema, setting: str) -> None:
    """Refuse a column without levels."""
    column = schema[name]
    if not (isinstance(column, CategoricalColumn) and column.levels):
        what = Words("{setting} names {name}, which has no levels", setting=setting, name=name)
        mend = Words(
            "cut() its numbers into groups, or declare them as levels: {levels}",
            levels=Setting("levels", {name: [...]}),
        )
        raise PlanError(what, column=name, kind=setting, remedy=mend)


def _above(name: str, nested: Mapping[str, str]) -> tuple[str, ...]:
    """List a column and those that it is nested in, up to the coarsest or the first that comes twice."""
    found = [name]
    while found[-1] in nested and nested[found[-1]] not in found:
        found.append(nested[found[-1]])
    return tuple(found)


def check_order(nested: Mapping[str, str], strata: Sequence[str], order: Sequence[str]) -> None:
    """Refuse an order in which a finer column precedes the coarser one, or anything the drawn strata.

    Raises
    ------
    PlanError
        Names the columns.
    """
    place = {name: at for at, name in enumerate(order)}
    for fine, coarse in nested.items():
        if place.get(coarse, -1) > place[fine]:
            what = Words("{fine} is drawn before {coarse}, in which it is nested", fine=fine, coarse=coarse)
            mend = Words("put {coarse} before it in visit_sequence", coarse=coarse)
            raise PlanError(what, column=fine, kind="order", remedy=mend)
    if set(order[: len(strata)]) != set(strata):
        listed = ", ".join(strata)
        what = Words("{listed}: what tells the stratum must be drawn before all other columns", listed=listed)
        mend = Words("begin visit_sequence with {listed}", listed=listed)
        raise PlanError(what, column=strata[0], kind="order", remedy=mend)


def fitted_apart(steps: Iterable[Step], nested: Mapping[str, str], strata: Sequence[str]) -> tuple[Step, ...]:
    """Say of each step in which groups of rows it is fitted.

    A finer column is drawn within the coarser one, where strata are ordinary predictors; every other one
    within its stratum.
    """
    return tuple(_apart(step, nested, strata) for step in steps)


def _apart(step: Step, nested: Mapping[str, str], strata: Sequence[str]) -> Step:
    """Say it of one step."""
    part = step.targets[0]
    if len(step.targets) == 1 and part.role == "value" and part.column in nested:
        return replace(step, within=(nested[part.column],), nested=True)
    if any(part.column in strata for part in step.targets):
        return step
    return replace(step, within=tuple(strata))


def unread_parts(plan: SynthesisPlan) -> frozenset[tuple[str, str]]:
    """Name the nested parts that no model is given, so that their many levels need not be features."""
    read = {name for step in plan.steps for name in step.predictors}
    nested = (step.targets[0] for step in plan.steps if step.nested)
    return frozenset(part.key for part in nested if part.column not in read)


def told_within(step: Step, terms: Terms, alone: Sequence[str] | None) -> Terms:
    """Terms that a step's models hold: each by itself, and as it differs between the groups.

    Parameters
    ----------
    step : Step
        With ``within``.
    terms : terms
        That each of its models was given.
    alone : sequence of str, optional
        The groups that have a model of their own, where not all have; None: all have.
    """
    if not step.within:
        return terms
    first = tuple((name,) for name in step.within)
    others = [term for term in terms if not {*step.within}.intersection(columns_of((term,)))]
    if alone is None:
        crossed = tuple((*step.within, *term) for term in others)
    elif len(step.within) == 1:
        levels = [Factor(step.within[0], LEVEL, (name,)) for name in alone]
        crossed = tuple((level, *term) for term in others for level in levels)
    else:
        crossed = ()
    return (*first, *(term for term in terms if term not in first), *crossed)
