"""Which earlier columns a column is drawn from: all, by a matrix, or by formulas."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Said, Setting, Words, meant
from pysynthdp.plan.step import Terms

__all__ = ["MOST", "all_terms", "check_known", "left_open"]

_MATRIX: Final = Said(
    "predictor_matrix={'column': ['predictor', ...]}, or a DataFrame of 0 and 1",
    'predictors = { column = ["predictor", ...] } in the plan',
    'predictor_matrix = list(column = c("predictor", ...)), or a matrix of 0 and 1',
)
_PREDICTORS: Final = Said("predictor_matrix", "predictors", "predictor_matrix")
MOST: Final = 20  # predictors of a column, where nobody names them or another number
_LONG = 15  # longer orders are not written out
_POWER = re.compile(r"^I\(\s*(.+?)\s*\*\*\s*([1-9])\s*\)$|^(.+?)\s*\*\*\s*([1-9])$")
_QUOTED = re.compile(r"^Q\(\s*(['\"])(.+)\1\s*\)$")
_FACTOR = re.compile(r"^C\(\s*(.+?)\s*\)$")


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


def all_terms(
    order: tuple[str, ...],
    keep: tuple[str, ...],
    matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None,
    formulas: Iterable[str],
    names: set[str],
    nearest: int | None = None,
) -> dict[str, Terms]:
    """Terms of each column: by formula, by predictor matrix, else every earlier column, or the nearest."""
    by_matrix, by_formula = _matrix_terms(matrix), _formula_terms(formulas, names)
    for what, named in ((_PREDICTORS, by_matrix), ("formulas", by_formula)):
        check_known(named, names, what)
        check_known((p for terms in named.values() for term in terms for p in term), names, what)
    asked = by_matrix | by_formula
    terms = {}
    for position, name in enumerate(order):
        before = (*keep, *order[:position])
        there = before if nearest is None else before[-nearest:]
        terms[name] = asked.get(name, tuple((earlier,) for earlier in there))
        late = [p for term in terms[name] for p in term if p not in before]
        if late:
            raise _too_early(name, late, order)
    return terms


def left_open(
    order: tuple[str, ...],
    matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None,
    formulas: Sequence[str],
) -> tuple[str, ...]:
    """Columns that no predictor matrix and no formula speaks of."""
    rows = matrix.index if isinstance(matrix, pd.DataFrame) else matrix or ()
    named = set(map(str, rows))
    named.update(text.split("~", 1)[0].strip().strip("`") for text in formulas)
    return tuple(name for name in order if name not in named)


def _too_early(name: str, late: Sequence[str], order: tuple[str, ...]) -> PlanError:
    """Refuse predictors that are not there yet, with the order in which they would be."""
    if name in late:
        text = Words("{name} cannot use itself", name=name)
        return PlanError(text, column=name, kind="predictors", remedy="leave it out of its own predictors")
    text = Words("{name} cannot use {late}, which is not drawn before it", name=name, late=late[0])
    if not set(late) <= set(order):
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


def _formula_terms(formulas: Iterable[str], names: set[str]) -> dict[str, Terms]:
    """Read formulas such as ``income ~ age * sex + I(age ** 2)``."""
    result: dict[str, Terms] = {}
    for text in formulas:
        if not isinstance(text, str):
            raise PlanError(
                "formulas must be texts",
                kind="setting",
                remedy=Words("write {setting}", setting=Setting("formulas", ["column ~ predictors"])),
            )
        if "~" not in text:
            mend = "write 'column ~ predictors'"
            raise PlanError(Words("the formula '{text}' has no '~'", text=text), kind="formula", remedy=mend)
        left, right = text.split("~", 1)
        target = left.strip().strip("`")
        if target in result:
            what = Words("two formulas draw {target}", target=target)
            raise PlanError(what, column=target, kind="formula", remedy="write one")
        terms = [term for term in _parsed(right, text) if str(term) != "1"]
        result[target] = tuple(
            tuple(name for factor in term.factors for name in _factor(factor.expr, names, text))
            for term in terms
        )
    return result


def _parsed(right: str, text: str) -> tuple[Any, ...]:
    """Parse the right side of a formula into terms."""
    from formulaic import Formula, SimpleFormula  # slow to import, and seldom needed
    from formulaic.errors import FormulaicError

    try:
        formula = Formula(right)
    except (FormulaicError, SyntaxError):
        formula = None
    if not isinstance(formula, SimpleFormula):
        mend = "write 'column ~ a + b + a:b + I(a ** 2)'"
        raise PlanError(Words("the formula '{text}' cannot be read", text=text), kind="formula", remedy=mend)
    return tuple(formula)


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
    quoted = _QUOTED.match(expression)
    forms: str = "predictors may be columns, products a:b or a*b, C(a) and I(a ** 2)"
    if quoted and quoted[2] in names:
        forms = Words("write such a name in backticks: `{name}`", name=quoted[2])
    raise PlanError(
        Words("the formula '{formula}' has '{part}'", formula=formula, part=expression),
        kind="formula",
        remedy=forms if quoted else meant(expression, sorted(names), forms),
    )
