"""Formulas: which terms a column is drawn from, as a user writes them or as a plan prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words, meant
from pysynthdp.design.parts import kinds_of, parts_of
from pysynthdp.plan.factors import KIND, LEVEL, Factor, Terms, columns_of, factor_call
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["Formulas", "read_formulas"]

_POWER = re.compile(r"^I\(\s*(.+?)\s*\*\*\s*([1-9])\s*\)$|^(.+?)\s*\*\*\s*([1-9])$")
_QUOTED = re.compile(r"^Q\(\s*(['\"])(.+)\1\s*\)$")
_WHOLE = re.compile(r"^C\(\s*(.+?)\s*\)$")
_STANDS_FOR = re.compile(r"^_level_(\d+)_$")
_FORMS = (
    "predictors may be columns, products a:b or a*b, C(a), I(a ** 2), curves log(a), bs(a, 5), cr(a, 4), "
    "cut(a, 4), hinge(a, 2) or step(a, 2), and one level, a[level]"
)


@dataclass(frozen=True, slots=True)
class Formulas:
    """What formulas say.

    Parameters
    ----------
    columns : mapping column -> terms
        Of whole columns: ``pay ~ age``.
    kinds : mapping column -> terms
        Of whether and how a value is absent alone: ``pay (kind) ~ age``.
    listed : tuple of str
        Columns of which a predictor matrix says which columns they are drawn from, and no formula says more.
    """

    columns: Mapping[str, Terms] = field(default_factory=dict)
    kinds: Mapping[str, Terms] = field(default_factory=dict)
    listed: tuple[str, ...] = ()

    @property
    def predictors(self) -> dict[str, tuple[str, ...]]:
        """Columns that each column is drawn from, its kind too."""
        names = dict.fromkeys((*self.columns, *self.kinds))
        return {n: columns_of((*self.columns.get(n, ()), *self.kinds.get(n, ()))) for n in names}


def read_formulas(formulas: Iterable[str], schema: Schema) -> Formulas:
    """Read formulas such as ``income ~ age * sex + cr(age, 4)``.

    Raises
    ------
    PlanError
        For what cannot be read; quotes the formula, which is the user's.
    """
    found = Formulas({}, {})
    for text in formulas:
        left, right = _sides(text)
        name, own = _target(left, schema, found)
        if name in own:
            what = Words("two formulas draw {target}", target=left)
            raise PlanError(what, column=name, kind="formula", remedy="write one")
        own[name] = _Reader(text, schema).terms(right)
    return found


def _sides(text: object) -> tuple[str, str]:
    """Split a formula at its tilde."""
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
    return left.strip().replace("`", ""), right


def _target(left: str, schema: Schema, found: Formulas) -> tuple[str, dict[str, Terms]]:
    """Find what a formula draws: a column, or its kind alone where it is written so."""
    name = left.removesuffix(KIND)
    if left in schema or name == left or name not in schema:
        return left, found.columns  # type: ignore[return-value]  # a dict, as made above
    if all(part.role == "value" for part in parts_of(schema[name])):
        what = Words("a formula draws '{left}', but no value of {name} is absent", left=left, name=name)
        raise PlanError(what, column=name, kind="formula", remedy="leave it out")
    return name, found.kinds  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the right side of one formula."""

    formula: str
    schema: Schema
    levels: list[Factor] = field(default_factory=list)

    def terms(self, right: str) -> Terms:
        """Read terms; each once."""
        parsed = [term for term in self._parsed(self._with_levels(right)) if str(term) != "1"]
        made = (tuple(each for part in term.factors for each in self._factor(part.expr)) for term in parsed)
        return tuple(dict.fromkeys(made))

    def _parsed(self, right: str) -> tuple[Any, ...]:
        """Parse into terms."""
        from formulaic import Formula, SimpleFormula  # slow to import, and seldom needed
        from formulaic.errors import FormulaicError

        try:
            formula = Formula(right)
        except (FormulaicError, SyntaxError):
            formula = None
        if not isinstance(formula, SimpleFormula):
            mend = "write 'column ~ a + b + a:b + I(a ** 2)'"
            what = Words("the formula '{text}' cannot be read", text=self.formula)
            raise PlanError(what, kind="formula", remedy=mend)
        return tuple(formula)

    def _with_levels(self, right: str) -> str:
        """Put a name in place of each ``column[level]``, whose level may hold any sign."""
        for name in sorted(self.schema.names, key=len, reverse=True):
            plain = rf"(?<![\w.`]){re.escape(name)}\["
            for match in reversed(list(re.finditer(rf"`{re.escape(name)}`\[|{plain}", right))):
                label = self._label(self.schema[name], right[match.end() :])
                self.levels.append(Factor(name, LEVEL, (label,)))
                end = match.end() + len(label) + 1
                right = f"{right[: match.start()]}_level_{len(self.levels) - 1}_{right[end:]}"
        return right

    def _label(self, column: Column, rest: str) -> str:
        """Find the level with which a text begins, the longest; not the first, which has no dummy."""
        known = [level for part in parts_of(column) for level in part.levels[1:]]
        found = [label for label in known if rest.startswith(f"{label}]")]
        if found:
            return max(found, key=len)
        text = "the formula '{formula}' names a level of {name} that has no dummy"
        raise PlanError(
            Words(text, formula=self.formula, name=column.name),
            column=column.name,
            kind="formula",
            remedy="name one but the first, for which the intercept stands, or the whole column",
        )

    def _factor(self, expression: str) -> tuple[str | Factor, ...]:
        """Read one factor of a term."""
        names = self.schema.names
        if expression in names:
            return (expression,)
        stands = _STANDS_FOR.match(expression)
        if stands:
            return (self.levels[int(stands[1])],)
        inner = _WHOLE.match(expression)
        if inner and inner[1].strip("`") in names:
            return (inner[1].strip("`"),)
        power = _POWER.match(expression)
        if power and (name := (power[1] or power[3]).strip("`")) in names:
            return (name,) * int(power[2] or power[4])
        return (self._curve(expression),)

    def _curve(self, expression: str) -> Factor:
        """Read a curve, or say what a factor may be."""
        curve = factor_call(expression)
        if isinstance(curve, Factor) and curve.column in self.schema:
            self._check_number(curve)
            return curve
        quoted = _QUOTED.match(expression)
        remedy: str = meant(expression, sorted(self.schema.names), _FORMS)
        if quoted and quoted[2] in self.schema:
            remedy = Words("write such a name in backticks: `{name}`", name=quoted[2])
        elif isinstance(curve, Factor):
            known = sorted(self.schema.names)
            remedy = meant(curve.column, known, f"columns are {', '.join(known)}")
        elif curve is not None:
            remedy = curve
        text = Words("the formula '{formula}' has '{part}'", formula=self.formula, part=expression)
        raise PlanError(text, kind="formula", remedy=remedy)

    def _check_number(self, curve: Factor) -> None:
        """Refuse a curve of what is no number."""
        column = self.schema[curve.column]
        if not isinstance(column, NumericColumn) or "value" not in kinds_of(column):
            text = "the formula '{formula}' bends {name}, which is no number here but levels"
            raise PlanError(
                Words(text, formula=self.formula, name=curve.column),
                column=curve.column,
                kind="formula",
                remedy="give the column itself: its levels hold every curve",
            )
        if curve.form == "log" and column.upper is not None and column.upper <= 0:
            text = Words("{name} is never above zero, so it has no logarithm", name=curve.column)
            raise PlanError(text, column=curve.column, kind="formula", remedy="leave the logarithm out")
