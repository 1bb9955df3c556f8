"""Factors of a term besides whole columns: a curve, a level, a kind of absence; and their texts.

A factor names places, never numbers: the second of four quantiles, not what lies there. Formulas take what is
written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeGuard

from pysynthdp.design.curves import CURVES, DEGREE

__all__ = [
    "KIND",
    "LEVEL",
    "PLACES",
    "Factor",
    "Terms",
    "column_of",
    "columns_of",
    "factor_call",
    "formula_name",
    "formula_text",
    "shown_terms",
    "term_text",
]

KIND: Final = " (kind)"
"""Behind a column's name: whether and how its value is absent."""
LEVEL: Final = "level"
PLACES: Final = {"hinge": 4, "step": 19}
"""How many places there are where a text names none: fifths, and twentieths."""
_FEWEST: Final = {"bs": DEGREE, "cr": 2, "cut": 2}
_MOST = 50  # columns or places of a curve
_CALL = re.compile(r"^(\w+)\(\s*(`[^`]+`|[^,`]+?)\s*((?:,\s*(?:\w+\s*=\s*)?\d+\s*)*)\)$")


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor that is not a whole column.

    Parameters
    ----------
    column : str
        Its column.
    form : str
        A curve (:data:`pysynthdp.design.curves.CURVES`), or ``level``: the dummy of one level, or of one kind
        of absence.
    at : tuple of int or str
        Of a curve, how many columns or groups, or a place and how many places; of a level, its name.

    Examples
    --------
    >>> str(Factor("age", "cr", (4,))), str(Factor("age", "hinge", (2, 4)))
    ('cr(age, 4)', 'hinge(age, 2)')
    """

    column: str
    form: str
    at: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return self.text(self.column)

    def text(self, name: str) -> str:
        """Write it with a name for its column."""
        if self.form == LEVEL:
            return f"{name}[{self.at[0]}]"
        short = self.form in PLACES and self.at[1:] == (PLACES[self.form],)
        return f"{self.form}({', '.join([name, *map(str, self.at[:1] if short else self.at)])})"


Terms: TypeAlias = tuple[tuple[str | Factor, ...], ...]


def _of_level(factor: str | Factor) -> TypeGuard[Factor]:
    """Whether a factor is one level alone."""
    return isinstance(factor, Factor) and factor.form == LEVEL


def column_of(factor: str | Factor) -> str:
    """Name the column of a factor."""
    return factor.column if isinstance(factor, Factor) else factor


def columns_of(terms: Iterable[Iterable[str | Factor]]) -> tuple[str, ...]:
    """Columns of some terms, each once."""
    return tuple(dict.fromkeys(column_of(factor) for term in terms for factor in term))


def term_text(term: Iterable[str | Factor]) -> str:
    """Write a term for people: factors between colons.

    Examples
    --------
    >>> term_text(("age", Factor("sex", "level", ("M",))))
    'age:sex[M]'
    """
    return ":".join(map(str, term))


def shown_terms(terms: Iterable[Iterable[str | Factor]]) -> tuple[str, ...]:
    """Write terms for people without the names of levels, which are values of records; each once.

    Examples
    --------
    >>> shown_terms([("age",), ("age", Factor("sex", "level", ("M",)))])
    ('age', 'age:sex[...]')
    """
    hidden = (
        tuple(replace(each, at=("...",)) if _of_level(each) else each for each in term) for term in terms
    )
    return tuple(dict.fromkeys(map(term_text, hidden)))


def formula_text(term: Iterable[str | Factor]) -> str:
    """Write a term as a formula takes it: powers as such, odd names in backticks.

    Examples
    --------
    >>> formula_text(("age", "age")), formula_text(("my sex", Factor("b m i", "cr", (3,))))
    ('I(age ** 2)', '`my sex`:cr(`b m i`, 3)')
    """
    powers: dict[str | Factor, int] = {}
    for factor in term:
        powers[factor] = powers.get(factor, 0) + 1
    return ":".join(_power(factor, power) for factor, power in powers.items())


def _power(factor: str | Factor, power: int) -> str:
    """Write a factor to a power."""
    name = formula_name(column_of(factor))
    text = factor.text(name) if isinstance(factor, Factor) else name
    return text if power == 1 else f"I({text} ** {power})"


def formula_name(name: str) -> str:
    """Write a name that is none for a formula in backticks."""
    return name if name.isidentifier() else f"`{name}`"


def factor_call(expression: str) -> Factor | str | None:
    """Read a curve as a formula writes it.

    Returns
    -------
    Factor, str or None
        None for what calls no curve; a text says what is wrong with it.

    Examples
    --------
    >>> factor_call("cr(age, df=4)"), factor_call("exp(age)")
    (Factor(column='age', form='cr', at=(4,)), None)
    >>> factor_call("cut(age)")
    'cut takes a column and a number from 2 to 50, such as cut(age, 4)'
    """
    call = _CALL.match(expression)
    if call is None or call[1] not in CURVES:
        return None
    form, name = call[1], call[2].strip("`")
    numbers = tuple(int(number) for number in re.findall(r"\d+", re.sub(r"\w+\s*=", "", call[3])))
    if form in PLACES and len(numbers) == 1:
        numbers = (*numbers, PLACES[form])
    fault = _fault(form, numbers, call[2])
    return fault or Factor(name, form, numbers)


def _fault(form: str, numbers: tuple[int, ...], name: str) -> str:
    """Say what is wrong with the numbers of a curve; empty for nothing."""
    if form == "log":
        return "" if not numbers else "log takes a column and nothing else"
    if form in PLACES:
        right = len(numbers) == 2 and 1 <= numbers[0] <= numbers[1] <= _MOST
        return (
            ""
            if right
            else (
                f"{form} takes a column and which of {PLACES[form]} places it is, such as {form}({name}, 2)"
            )
        )
    least = _FEWEST[form]
    right = len(numbers) == 1 and least <= numbers[0] <= _MOST
    return (
        ""
        if right
        else (f"{form} takes a column and a number from {least} to {_MOST}, such as {form}({name}, 4)")
    )
