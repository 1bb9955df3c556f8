"""Rules that every row of a copy keeps: conditions on columns, met by drawing again what breaks them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, together
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.expression_cells import cells_of, lacks
from pysynthdp.design.expressions import parsed, quoted
from pysynthdp.design.parts import parts_of
from pysynthdp.design.universes import condition_of, limited
from pysynthdp.schema import Schema

__all__ = ["LEAST_MET", "Rule", "check_redraws", "rules_of", "strange_levels"]

LEAST_MET = 0.9  # share of rows that meet a rule at once, below which margins move for everybody to see
_RULES = Said("rules", "rules", "rules")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition that must not be false in any row; where it is missing it is kept.

    Parameters
    ----------
    text : str
        As somebody wrote it.
    columns : tuple of str
        That it names.
    """

    text: str
    columns: tuple[str, ...]

    def broken(self, schema: Schema, parts: Mapping[Key, AnyArray], rows: int) -> BoolArray:
        """Rows in which the condition is false.

        Notes
        -----
        Privacy: arithmetic on the rows that it is given: drawn ones, or real ones where they are counted.
        """
        expression = parsed(self.text, self.columns, column=self.text)
        found = expression.of({name: cells_of(schema[name], parts) for name in self.columns}).over(rows)
        return np.asarray(~found.truths() & ~found.missing)

    def strange(self, schema: Schema) -> tuple[str, ...]:
        """Columns that it holds against a level that they do not have."""
        pairs = parsed(self.text, self.columns, column=self.text).equated()
        return tuple(dict.fromkeys(name for name, value in pairs if lacks(schema[name], value)))


def rules_of(texts: Iterable[str], schema: Schema, apart: Collection[str] = ()) -> tuple[Rule, ...]:
    """Read rules, and try each on no row.

    Parameters
    ----------
    texts : iterable of str
        As a user wrote them.
    schema : Schema
        Of the plan.
    apart : collection of str
        Columns that are released as they really are: no rule may name these alone.

    Raises
    ------
    PlanError
        Quotes the rule and says at which letter something is wrong.

    Notes
    -----
    Privacy: settings and declared facts only.
    """
    found: dict[str, Rule] = {}
    faults: list[PysynthdpError] = []
    for text in texts:
        try:
            found[text] = _rule(text, schema, apart)
        except PysynthdpError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    return tuple(found.values())


def _rule(text: str, schema: Schema, apart: Collection[str]) -> Rule:
    """Read one rule."""
    usable = tuple(column.name for column in schema if parts_of(column)[-1].role == "value")
    expression = parsed(text, usable, column="rules")
    rule = Rule(text, expression.columns)
    if not set(rule.columns) - set(apart):
        what = Words("rules: '{text}' names no column that is drawn", text=text)
        mend = "leave it out: what is released as it is stays as it is"
        raise PlanError(what, kind="rules", remedy=mend)
    none: dict[Key, AnyArray] = {
        part.key: np.zeros(0, np.float64 if part.numeric else np.int16)
        for name in rule.columns
        for part in parts_of(schema[name])
    }
    kind = expression.of({name: cells_of(schema[name], none) for name in rule.columns}).kind
    if kind != "truth":
        what = Words("rules: '{text}' is neither true nor false", text=text)
        raise PlanError(what, kind="rules", remedy="write a comparison, such as age >= 18")
    return rule


def strange_levels(rules: Iterable[Rule], schema: Schema) -> tuple[Remark, ...]:
    """Say which rules and universes hold a column against a level that it does not have.

    Parameters
    ----------
    rules : iterable of Rule
        Of the plan.
    schema : Schema
        Of the plan, with the universes.

    Notes
    -----
    Privacy: settings, and levels as the schema has them: declared ones under a guarantee.
    """
    found = [_strange(name, "rule", rule.text) for rule in rules for name in rule.strange(schema)]
    for column in limited(schema):
        condition = condition_of(column, schema)
        pairs = dict.fromkeys(name for name, value in condition.equated() if lacks(schema[name], value))
        found += [_strange(name, f"universe of {column.name}", condition.text) for name in pairs]
    return tuple(found)


def _strange(name: str, whose: str, text: str) -> Remark:
    """Say that a part of a condition can never hold."""
    what = Words(
        "the {whose}, {text}, names a level that it does not have, so that no row has it",
        whose=whose,
        text=text,
    )
    call = f"is_missing({quoted(name)}, ...)"
    mend = Words("write levels as the table has them; {call} is for those that mean missing", call=call)
    return Remark(name, "unknown level", what, mend)


def check_redraws(rules: Sequence[Rule], limited: Iterable[str], *, redraws: bool, protection: str) -> None:
    """Refuse rules and universes where rows must neither be drawn again nor be left out of a column's model.

    Parameters
    ----------
    rules : sequence of Rule
        Of the plan.
    limited : iterable of str
        Columns that are asked in some rows only.
    redraws : bool
        Whether the protection allows it.
    protection : str
        Its name.

    Raises
    ------
    PrivacyError
        Under a protection whose price is that of single draws from models of all rows.
    """
    names = list(limited)
    if names and not redraws:
        what = (
            "{name} has a universe, which cannot be had under protection '{own}': draws from a model of some "
            "rows only have no price there"
        )
        derive = Setting("derive", {names[0]: f"where(..., {names[0]}, missing)"})
        raise PrivacyError(
            Words(what, name=names[0], own=protection),
            column=names[0],
            kind="universe",
            remedy=Words(
                "correct what is drawn with {derive}, or ask for noise in the answers", derive=derive
            ),
        )
    if rules and not redraws:
        raise PrivacyError(
            Words(
                "{rules} cannot be had under protection '{name}': drawing rows again until they keep a rule "
                "is another mechanism than the one that has a price",
                rules=_RULES,
                name=protection,
            ),
            kind="rules",
            remedy=Words(
                "leave {rules} out and use a universe or an expression in {derive}, or ask for noise in the "
                "answers",
                rules=_RULES,
                derive=Setting("derive", {"column": "..."}),
            ),
        )
