"""Who is drawn from whom, and by what model: pure data, made from a schema before a record is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd
from formulaic import Formula

from pysynthdp.design.parts import Part, parts_of
from pysynthdp.display import Printable, Table
from pysynthdp.errors import PlanError
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel, Target
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["SERIAL", "Step", "SynthesisPlan", "Terms", "make_plan"]

SERIAL = "serial"  # fresh running numbers in place of an identifier; not a model of the data
Terms: TypeAlias = tuple[tuple[str, ...], ...]
Method: TypeAlias = str | ColumnModel
_POWER = re.compile(r"^I\(\s*(.+?)\s*\*\*\s*(\d)\s*\)$|^\{\s*(.+?)\s*\*\*\s*(\d)\s*\}$")
_FACTOR = re.compile(r"^C\(\s*(.+?)\s*\)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One model and what it fills.

    Parameters
    ----------
    targets : tuple of Part
        One part; several for a joint model.
    model : ColumnModel
        Settings of the model.
    terms : tuple of tuple of str
        Column names, one tuple a term; several names are an interaction, a repeated name is a power.
    """

    targets: tuple[Part, ...]
    model: ColumnModel
    terms: Terms

    @property
    def predictors(self) -> tuple[str, ...]:
        """Columns that the step reads, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))

    @property
    def label(self) -> str:
        """Name for messages and progress."""
        return ", ".join(part.label for part in self.targets)


@dataclass(frozen=True, repr=False)
class SynthesisPlan(Printable):
    """The whole synthesis as data.

    Parameters
    ----------
    schema : Schema
        All columns of the table that are not dropped, in its order.
    visit_sequence : tuple of str
        Columns in the order in which they are drawn.
    steps : tuple of Step
        In the order in which they run.
    keep : tuple of str
        Columns released as they really are.
    serials : tuple of str
        Columns replaced by running numbers.
    drop : tuple of str
        Columns of the table that are not released.
    proper : bool
        Whether each copy draws its own parameters.
    """

    schema: Schema
    visit_sequence: tuple[str, ...]
    steps: tuple[Step, ...]
    keep: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    proper: bool = False

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every modelled part: kept columns that can predict first, then in visit order."""
        names = (*_predicting(self.schema, self.keep), *self.visit_sequence)
        return tuple(part for name in names for part in parts_of(self.schema[name]))

    @property
    def methods(self) -> dict[str, str]:
        """Method of each column, as a user names it."""
        drawn = {part.column: step.model.name for step in self.steps for part in step.targets}
        return {**dict.fromkeys(self.keep, "kept real"), **drawn, **dict.fromkeys(self.serials, SERIAL)}

    @property
    def predictor_matrix(self) -> pd.DataFrame:
        """1 where the row's column is drawn from the column's."""
        names = list(self.schema.names)
        matrix = pd.DataFrame(0, index=names, columns=names)
        for step in self.steps:
            for part in step.targets:
                matrix.loc[part.column, list(step.predictors)] = 1
        return matrix

    def to_table(self) -> Table:
        """One row a step."""
        rows = tuple(_row(number, step) for number, step in enumerate(self.steps, start=1))
        facts: list[tuple[str, str | int]] = [("columns", len(self.schema))]
        facts.append(("parameters", "drawn for each copy (proper)" if self.proper else "fitted, one set"))
        named = (("released REAL", self.keep), ("running numbers", self.serials), ("dropped", self.drop))
        facts += [(label, ", ".join(names)) for label, names in named if names]
        return Table("Synthesis plan", ("step", "draws", "method", "given"), rows, tuple(facts))


def _predicting(schema: Schema, names: Iterable[str]) -> tuple[str, ...]:
    """Columns that have values to model: not identifiers, not columns that are missing throughout."""
    return tuple(name for name in names if any(part.role == "value" for part in parts_of(schema[name])))


def _row(number: int, step: Step) -> tuple[int, str, str, str]:
    """Write one step."""
    terms = [":".join(term) for term in step.terms]
    shown = ", ".join(terms[:6]) + (f" and {len(terms) - 6} more" if len(terms) > 6 else "")
    return number, step.label, step.model.name, shown or "-"


def make_plan(
    schema: Schema,
    *,
    method: Method | Mapping[str, Method] | None = None,
    visit_sequence: Sequence[str] | None = None,
    predictor_matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None = None,
    formulas: Iterable[str] = (),
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    proper: bool = False,
    emit_original: bool = False,
) -> SynthesisPlan:
    """Make a plan from a schema and a user's wishes; reads no record.

    Raises
    ------
    PlanError
        If a wish names an unknown column, a predictor that is not yet there, or a method that cannot draw the
        column; the message says which and what to do.
    """
    names = set(schema.names)
    kept, dropped = tuple(keep), tuple(drop)
    wishes: dict[str, Method] = dict(method) if isinstance(method, Mapping) else {}
    for what, given in (("keep", kept), ("method", wishes), ("visit_sequence", visit_sequence or ())):
        _known(given, names, what)
    serials = tuple(name for name in schema.names if wishes.get(name) == SERIAL)
    order = _visit_order(schema, visit_sequence, {*kept, *serials})
    everywhere = None if isinstance(method, Mapping) else method
    terms = _all_terms(order, _predicting(schema, kept), predictor_matrix, formulas, names)
    steps = [
        step
        for name in order
        for step in _column_steps(schema[name], wishes.get(name, everywhere), terms[name], emit_original)
    ]
    return SynthesisPlan(schema, order, tuple(steps), kept, serials, dropped, proper)


def _known(given: Iterable[str], names: set[str], what: str) -> None:
    """Refuse unknown column names."""
    for name in given:
        if name not in names:
            raise PlanError(
                f"{what} names {name!r}, which is no column; columns are {', '.join(sorted(names))}"
            )


def _visit_order(schema: Schema, wish: Sequence[str] | None, apart: set[str]) -> tuple[str, ...]:
    """Order of the columns to draw: the wish, which must name each, or the table's order."""
    needed = [name for name in schema.names if name not in apart]
    if wish is None:
        return tuple(needed)
    if len(set(wish)) < len(wish):
        raise PlanError("visit_sequence names a column twice; name each once")
    for name in wish:
        if name in apart:
            raise PlanError(f"visit_sequence names {name}, which is kept or serial; leave it out there")
    left = [name for name in needed if name not in wish]
    if left:
        raise PlanError(
            f"visit_sequence leaves out {', '.join(left)}; add them, or name them in keep= (released real) "
            "or drop="
        )
    return tuple(wish)


def _all_terms(
    order: tuple[str, ...],
    keep: tuple[str, ...],
    matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None,
    formulas: Iterable[str],
    names: set[str],
) -> dict[str, Terms]:
    """Terms of each column: by formula, by predictor matrix, else every earlier column."""
    asked = _matrix_terms(matrix) | _formula_terms(formulas, names)
    _known(asked, names, "predictors")
    terms = {}
    for position, name in enumerate(order):
        before = (*keep, *order[:position])
        terms[name] = asked.get(name, tuple((earlier,) for earlier in before))
        late = [p for term in terms[name] for p in term if p not in before]
        if late:
            raise PlanError(
                f"{name} cannot use {late[0]}, which is not drawn before it; change visit_sequence"
            )
    return terms


def _matrix_terms(matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None) -> dict[str, Terms]:
    """Read a predictor matrix (rows predicted from columns) or a mapping column -> predictors."""
    if matrix is None:
        return {}
    if isinstance(matrix, pd.DataFrame):
        return {
            str(name): tuple((str(column),) for column in matrix.columns[row.to_numpy() != 0])
            for name, row in matrix.iterrows()
        }
    return {name: tuple((predictor,) for predictor in predictors) for name, predictors in matrix.items()}


def _formula_terms(formulas: Iterable[str], names: set[str]) -> dict[str, Terms]:
    """Read formulas such as ``income ~ age * sex + I(age ** 2)``."""
    result: dict[str, Terms] = {}
    for text in formulas:
        if "~" not in text:
            raise PlanError(f"the formula {text!r} has no '~'; write 'column ~ predictors'")
        left, right = text.split("~", 1)
        target = left.strip().strip("`")
        terms = [term for term in Formula(right) if str(term) != "1"]
        result[target] = tuple(
            tuple(name for factor in term.factors for name in _factor(factor.expr, names, text))
            for term in terms
        )
    return result


def _factor(expression: str, names: set[str], formula: str) -> tuple[str, ...]:
    """Read one factor of a term: a column, C(column) or I(column ** k)."""
    if expression in names:
        return (expression,)
    inner = _FACTOR.match(expression)
    if inner and inner[1].strip("`") in names:
        return (inner[1].strip("`"),)
    power = _POWER.match(expression)
    if power:
        name = (power[1] or power[3]).strip("`")
        if name in names:
            return (name,) * int(power[2] or power[4])
    raise PlanError(
        f"the formula {formula!r} has {expression!r}; predictors may be columns, products a:b or a*b, C(a) "
        "and I(a ** 2)"
    )


def _column_steps(column: Column, wish: Method | None, terms: Terms, emit_original: bool) -> list[Step]:
    """List the steps that fill one column: its kind, then its value."""
    steps = []
    for part in parts_of(column):
        model = _model_for(part, column, wish, has_terms=bool(terms))
        if emit_original and hasattr(model, "emit_original"):
            model = replace(model, emit_original=True)  # type: ignore[type-var]
        steps.append(Step((part,), model, () if model.name in ("sample", "constant") else terms))
    return steps


def _model_for(part: Part, column: Column, wish: Method | None, *, has_terms: bool) -> ColumnModel:
    """Pick the wished model, or the default for the part's kind; check that it can draw the part."""
    if part.role == "kind":
        lone = len(part.levels) < 2
        name = (
            "constant" if lone else "sample" if not has_terms or _name(wish) == "sample" else _logistic(part)
        )
        return COLUMN_MODELS[name]()
    model = _instance(wish if wish is not None else _default(part, column, has_terms))
    if not has_terms and wish is None:
        model = _instance("constant" if part.levels and len(part.levels) == 1 else "sample")
    if not model.accepts(target_of(part, column)):
        kind = "a categorical" if part.levels else "a numeric"
        raise PlanError(
            f"{column.name}: method {model.name!r} cannot draw {kind} column; leave it out for the default"
        )
    return model


def _name(wish: Method | None) -> str | None:
    """Name of a wished method."""
    return wish if wish is None or isinstance(wish, str) else wish.name


def _instance(method: Method) -> ColumnModel:
    """Make a model from its name."""
    return COLUMN_MODELS[method]() if isinstance(method, str) else method


def _logistic(part: Part) -> str:
    """Logistic model by the number of levels."""
    return "logreg" if len(part.levels) == 2 else "polyreg"


def _default(part: Part, column: Column, has_terms: bool) -> str:
    """Pick the default method of a value part."""
    if isinstance(column, NumericColumn):
        return "normrank"
    if len(part.levels) == 1:
        return "constant"
    if not has_terms:
        return "sample"
    return "polr" if column.ordered and len(part.levels) > 2 else _logistic(part)


def target_of(part: Part, column: Column) -> Target:
    """Tell a model the public facts about a part."""
    decimals = column.decimals if isinstance(column, NumericColumn) and part.role == "value" else None
    kind = "categorical" if part.levels else "numeric"
    ordered = part.ordered and isinstance(column, CategoricalColumn)
    return Target(part.label, kind, len(part.levels), ordered, decimals)  # type: ignore[arg-type]
