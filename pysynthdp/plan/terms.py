"""Which earlier columns a column is drawn from: all, by a matrix, or by formulas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Said, Setting, Words, meant
from pysynthdp.plan.factors import Factor, Terms, columns_of
from pysynthdp.plan.formulas import Formulas, read_formulas
from pysynthdp.plan.step import Step
from pysynthdp.schema import Schema

__all__ = [
    "MOST",
    "PREDICTORS",
    "Chosen",
    "all_terms",
    "asked_terms",
    "check_known",
    "left_open",
    "to_screen",
]

_MATRIX: Final = Said(
    "predictor_matrix={'column': ['predictor', ...]}, or a DataFrame of 0 and 1",
    'predictors = { column = ["predictor", ...] } in the plan',
    'predictor_matrix = list(column = c("predictor", ...)), or a matrix of 0 and 1',
)
PREDICTORS: Final = Said("predictor_matrix", "predictors", "predictor_matrix")
Chosen = Literal["main", "screened"]
"""Terms of a column of which no formula speaks: its predictors alone, or what screening finds besides."""
MOST: Final = 20  # predictors of a column, where nobody names them or another number
_LONG = 15  # longer orders are not written out


def check_known(
    given: Iterable[str], names: set[str], what: str | Said, dropped: Collection[str] = ()
) -> None:
    """Refuse unknown column names, and those of columns that are dropped."""
    for name in given:
        if name in dropped:
            text = Words("{what} names '{name}', which is dropped", what=what, name=name)
            out = Words("leave it out of {what}, or of drop", what=what)
            raise PlanError(text, column=str(name), kind="columns", remedy=out)
        if name not in names:
            mend = meant(str(name), sorted(names), f"columns are {', '.join(sorted(names))}")
            text = Words("{what} names '{name}', which is no column", what=what, name=name)
            raise PlanError(text, column=str(name), kind="columns", remedy=mend)


def asked_terms(
    matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None, formulas: Iterable[str], schema: Schema
) -> Formulas:
    """Terms of the columns for which a formula, or else a predictor matrix, names them."""
    by_matrix, by_formula = _matrix_terms(matrix), read_formulas(formulas, schema)
    names = set(schema.names)
    for what, named in ((PREDICTORS, by_matrix), ("formulas", {**by_formula.kinds, **by_formula.columns})):
        check_known(named, names, what)
        check_known(columns_of(term for terms in named.values() for term in terms), names, what)
    listed = tuple(name for name in by_matrix if name not in by_formula.columns)
    return replace(by_formula, columns=by_matrix | dict(by_formula.columns), listed=listed)


def all_terms(
    order: tuple[str, ...],
    keep: tuple[str, ...],
    asked: Formulas,
    *,
    nearest: int | None = None,
    silent: Collection[str] = (),
) -> Formulas:
    """Terms of each column: those asked for, else every earlier column but silent ones, or the nearest."""
    terms = {}
    for position, name in enumerate(order):
        before = (*keep, *order[:position])
        telling = tuple(earlier for earlier in before if earlier not in silent)
        there = telling if nearest is None else telling[-nearest:]
        terms[name] = asked.columns.get(name, tuple((earlier,) for earlier in there))
        if name in asked.listed:  # a matrix says which, not in which order
            terms[name] = tuple(sorted(terms[name], key=lambda term: _position(before, term)))
        read = columns_of((*terms[name], *asked.kinds.get(name, ())))
        late = [column for column in read if column not in before]
        if late:
            raise _too_early(name, late, order, asked)
    return replace(asked, columns=terms)


def _position(before: tuple[str, ...], term: tuple[str | Factor, ...]) -> int:
    """When a predictor is drawn; last where it is not drawn before."""
    return before.index(term[0]) if term[0] in before else len(before)


def left_open(order: tuple[str, ...], asked: Formulas) -> tuple[str, ...]:
    """Columns that no predictor matrix and no formula speaks of."""
    return tuple(name for name in order if name not in asked.columns)


def to_screen(steps: Iterable[Step], asked: Formulas) -> tuple[str, ...]:
    """Labels of the steps whose terms may be screened: no formula speaks of them, no tree finds its own.

    Nor those of a nested column, whose models are many and are fitted to few rows each.
    """
    found = []
    for step in steps:
        part = step.targets[0]
        written = part.column in asked.columns and part.column not in asked.listed
        written |= part.role == "kind" and part.column in asked.kinds
        finds = step.nested or getattr(step.model, "finds_terms", False)
        if len(step.targets) == 1 and not written and not finds:
            found.append(step.label)
    return tuple(found)


def _too_early(name: str, late: Sequence[str], order: tuple[str, ...], asked: Formulas) -> PlanError:
    """Refuse predictors that are not there yet, with the order in which they would be."""
    if name in late:
        text = Words("{name} cannot use itself", name=name)
        return PlanError(text, column=name, kind="predictors", remedy="leave it out of its own predictors")
    text = Words("{name} cannot use {late}, which is not drawn before it", name=name, late=late[0])
    mutual = name in columns_of((*asked.columns.get(late[0], ()), *asked.kinds.get(late[0], ())))
    if mutual or not set(late) <= set(order):
        mend = Words("leave {late} out of its predictors", late=late[0])
    elif len(order) > _LONG:
        mend = Words("put {late} before {name} in visit_sequence", late=late[0], name=name)
    else:
        others = [column for column in order if column != name]
        last = 1 + max(map(others.index, late))
        shown = Setting("visit_sequence", [*others[:last], name, *others[last:]])
        how = "put {late} before {name} in visit_sequence: {shown}"
        mend = Words(how, late=late[0], name=name, shown=shown)
    return PlanError(text, column=name, kind="predictors", remedy=mend)


def _matrix_terms(matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None) -> dict[str, Terms]:
    """Read a predictor matrix (rows predicted from columns) or a mapping column -> predictors."""
    if matrix is None:
        return {}
    if isinstance(matrix, pd.DataFrame):
        if matrix.isna().to_numpy().any():
            mend = "write 1 for a predictor and 0 for none"
            raise PlanError("predictor_matrix has missing cells", kind="predictors", remedy=mend)
        return {
            str(name): tuple((str(column),) for column in matrix.columns[row.to_numpy() != 0])
            for name, row in matrix.iterrows()
        }
    if not isinstance(matrix, Mapping) or any(isinstance(names, str) for names in matrix.values()):
        raise PlanError(
            "predictor_matrix is neither a matrix nor a list of predictors by column",
            kind="setting",
            remedy=Words("write {matrix}", matrix=_MATRIX),
        )
    return {
        name: tuple(dict.fromkeys((predictor,) for predictor in predictors))
        for name, predictors in matrix.items()
    }
