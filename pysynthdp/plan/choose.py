"""Which model draws a column: the user's, or the default for its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pysynthdp.base.errors import PlanError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import Facts, Setting, Words
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel, HoldsRows, Target
from pysynthdp.plan.methods import no_method
from pysynthdp.plan.step import Method, Step, target_of
from pysynthdp.plan.wishes import Wishes
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["all_steps", "drawn_by", "model_of"]

_MARGINAL = ("sample", "constant", "gaussian", "gaussian_floor", "dirichlet")  # drawn from no other column


def all_steps(schema: Schema, wishes: Wishes, *, learns: bool = False) -> list[Step]:
    """List the steps of all columns in visit order: a joint step where the first of its columns stands.

    Parameters
    ----------
    schema : Schema
        The columns.
    wishes : Wishes
        The user's.
    learns : bool
        Whether a default model may give way to another that the rows speak for.
    """
    number: Method = "cells" if learns and not wishes.emit_original else "normrank"
    if wishes.spreads and number == "cells":
        number = replace(model_of("cells"), rival="normspread")  # type: ignore[type-var]  # a dataclass
    together = {
        columns[0]: _joint_step(columns, model, schema, wishes) for columns, model in wishes.groups.items()
    }
    inside = {name for columns in wishes.groups for name in columns}
    steps: list[Step] = []
    for name in wishes.order:
        if name in together:
            steps.append(together[name])
        elif name not in inside:
            wish = wishes.methods.get(name, wishes.everywhere)
            own = _column_steps(schema[name], wish, wishes, number)
            steps += map(_by_evidence, own) if learns and wish is None else own
    return steps


def _by_evidence(step: Step) -> Step:
    """Let the fit choose in the place of a default model that has a rival."""
    if not hasattr(step.model, "by_evidence"):
        return step
    return replace(step, model=replace(step.model, by_evidence=True))  # type: ignore[type-var]  # a dataclass


def _column_steps(column: Column, wish: Method | None, wishes: Wishes, number: Method) -> list[Step]:
    """List the steps that fill one column: its kind, then its value."""
    steps = []
    for part in parts_of(column):
        terms = wishes.terms_of(part)
        model = _model_for(part, column, wish, has_terms=bool(terms), number=number)
        if wishes.emit_original and part.numeric and isinstance(model, HoldsRows):
            model = replace(model, emit_original=True)  # type: ignore[type-var]  # a dataclass
        steps.append(Step((part,), model, () if model.name in _MARGINAL else terms))
    return steps


def _model_for(
    part: Part, column: Column, wish: Method | None, *, has_terms: bool, number: Method
) -> ColumnModel:
    """Pick the wished model, or the default for the part's kind; check that it can draw the part."""
    if part.role == "kind":
        return COLUMN_MODELS[_of_kind(part, _name(wish), has_terms=has_terms)]()
    model = model_of(wish if wish is not None else _default(part, column, has_terms, number), column.name)
    if not has_terms and wish is None:
        model = model_of("constant" if part.levels and len(part.levels) == 1 else "sample")
    if not model.accepts(target_of(part, column)):
        raise _refusal(part, column, model)
    return model


def _of_kind(part: Part, wish: str | None, *, has_terms: bool) -> str:
    """Pick the method that draws whether and how a value is absent: the column's own, if that draws it."""
    if len(part.levels) < 2:
        return "constant"
    if not has_terms or wish == "sample":
        return "sample"
    return "cart" if wish == "cart" else _logistic(part)


def _refusal(part: Part, column: Column, model: ColumnModel) -> PlanError:
    """Say why a method cannot draw a column, and which can."""
    holds, other = _misfit(part, model)
    return PlanError(
        Words("{column}: method {method} {holds}", column=column.name, method=repr(model.name), holds=holds),
        column=column.name,
        kind="method",
        remedy=_instead(column.name, other),
    )


def _misfit(part: Part, model: ColumnModel) -> tuple[str, str]:
    """Say what a method draws and what the column holds, and name a method for that."""
    if not part.levels:
        return "draws levels, and the column holds numbers", "normrank"
    if drawn_by(model) == "number":
        return "draws numbers, and the column holds levels", "polyreg"
    if not model.accepts(Target("levels", "categorical", 3)):
        return f"draws two levels, and the column has {len(part.levels)}", "polyreg"
    return "cannot draw this column", "polyreg"


def _instead(name: str, other: str) -> Words:
    """Name the method that draws it."""
    return Words("name {method}, or leave it out for the default", method=Setting("method", {name: other}))


def _name(wish: Method | None) -> str | None:
    """Name of a wished method."""
    return wish if wish is None or isinstance(wish, str) else wish.name


def model_of(method: Method, column: str | None = None) -> ColumnModel:
    """Make a model from its name; ``column`` is named where there is no such model."""
    if isinstance(method, str):
        if method not in COLUMN_MODELS:
            raise no_method(method, column)
        return COLUMN_MODELS[method]()
    if isinstance(method, type) or not hasattr(method, "accepts"):
        what = "a method must be a name such as 'norm', or a column model"
        mend = Words("write {method}", method=Setting("method", {column or "column": "norm"}))
        raise PlanError(what, column=column, kind="method", remedy=mend)
    return method


def drawn_by(method: Method) -> Literal["number", "levels", "ordered"] | None:
    """Say what a method draws, if that is one kind only, so that its column must be of that kind.

    Examples
    --------
    >>> drawn_by("norm"), drawn_by("logreg"), drawn_by("polr"), drawn_by("sample")
    ('number', 'levels', 'ordered', None)
    """
    if method == SERIAL:
        return None
    model = model_of(method)
    levels = any(model.accepts(Target("levels", "categorical", n, ordered=True)) for n in (2, 3))
    if model.accepts(Target("number", "numeric")):
        return None if levels else "number"
    in_order = getattr(model, "linear_on", "") == "cumulative logit"
    return ("ordered" if in_order else "levels") if levels else None


def _logistic(part: Part) -> str:
    """Logistic model by the number of levels."""
    return "logreg" if len(part.levels) == 2 else "polyreg"


def _default(part: Part, column: Column, has_terms: bool, number: Method) -> Method:
    """Pick the default method of a value part."""
    if isinstance(column, NumericColumn):
        return number
    if len(part.levels) == 1:
        return "constant"
    if not has_terms:
        return "sample"
    return "polr" if column.ordered and len(part.levels) > 2 else _logistic(part)


def _joint_step(columns: tuple[str, ...], model: ColumnModel, schema: Schema, wishes: Wishes) -> Step:
    """Make one step of several columns; each has a value in every row, or the model takes absence."""
    parts = [part for name in columns for part in parts_of(schema[name])]
    whole = bool(getattr(model, "takes_absent", False))
    for part in parts:
        if part.role == "kind" and not whole:
            text = "{name} may be missing or has codes, which the joint method '{method}' cannot draw"
            raise PlanError(
                Words(text, name=part.column, method=model.name),
                column=part.column,
                kind="method",
                remedy=Words(
                    "declare {fact}, or give the missing value a level", fact=Facts(may_be_missing=False)
                ),
            )
        if not model.accepts(target_of(part, schema[part.column])):
            text = "{name}: the joint method '{method}' cannot draw this kind of column"
            what = Words(text, name=part.column, method=model.name)
            raise PlanError(what, column=part.column, kind="method", remedy="leave it out of the joint step")
    return Step(tuple(parts), model, wishes.terms[columns[0]] if whole else ())
