"""How a plan is shown: one line a step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import pandas as pd

from pysynthdp.base.display import Cell, Table
from pysynthdp.base.marks import DERIVED
from pysynthdp.plan.counted import Counted
from pysynthdp.plan.derived import Derived
from pysynthdp.plan.factors import Terms, columns_of
from pysynthdp.plan.rules import Rule
from pysynthdp.plan.step import Step
from pysynthdp.schema import NumericColumn, Schema
from pysynthdp.schema.universe import Universe

__all__ = ["exact_facts", "plan_frame", "plan_table", "predictor_matrix"]

_FEW = 6  # terms that a line of the plan lists
_MORE = " more, see below"


def plan_table(
    steps: Sequence[Step],
    given: Sequence[Sequence[str]],
    *,
    first: Iterable[str],
    facts: Sequence[tuple[str, Cell]],
    derived: Sequence[tuple[Derived, frozenset[str]]] = (),
) -> Table:
    """Build the card of a plan; what is too long for a line stands below.

    Parameters
    ----------
    steps : sequence of Step
        In drawing order.
    given : sequence of sequences of str
        Terms of each step.
    first : iterable of str
        Columns that are there before any step draws.
    facts : sequence of (label, value)
        Of the whole plan.
    derived : sequence of (Derived, set of str)
        Columns that are computed, each with those before it.
    """
    shown = [_shown(terms, before) for terms, before in zip(given, _before(steps, first), strict=True)]
    lines: list[tuple[str, tuple[Cell, ...]]] = [
        (step.targets[-1].column, (number, step.label, step.model.name, text))
        for number, (step, text) in enumerate(zip(steps, shown, strict=True), start=1)
    ]
    for own, before in derived:
        place = 1 + max((at for at, (name, _) in enumerate(lines) if name in before), default=-1)
        lines.insert(place, (own.column, ("", own.column, DERIVED, own.expression)))
    rows = tuple(row for _, row in lines)
    cut = [place for place, text in enumerate(shown) if text.endswith(_MORE)]
    notes = tuple(f"Step {place + 1} is given {', '.join(given[place])}." for place in cut)
    return Table("Synthesis plan", ("step", "draws", "method", "given"), rows, tuple(facts), notes)


def exact_facts(
    schema: Schema, recoded: Collection[str], counted: Sequence[Counted], rules: Sequence[Rule]
) -> list[tuple[str, Cell]]:
    """Say what is exact in every copy: universes, rules, roundings and top codes."""
    facts: list[tuple[str, Cell]] = []
    for column in schema:
        own = column.universe
        if isinstance(own, Universe):
            code = "missing" if own.outside is None else own.outside
            facts.append((f"{column.name} is asked if", f"{own.where}; else {code}"))
        if column.name in recoded and isinstance(column, NumericColumn):
            steps = f"steps of {column.step:g}" if column.step is not None else ""
            top = f"at most {column.upper:g}" if column.topped else ""
            facts.append((f"{column.name} is written in", ", ".join(filter(None, (steps, top)))))
    for each in counted:
        sign = "plus" if each.side > 0 else "less"
        facts.append((f"{each.column} is drawn as", f"{each.origin} {sign} a distance"))
    return [*facts, *(("rule", rule.text) for rule in rules)]


def plan_frame(
    steps: Sequence[Step], given: Sequence[Sequence[str]], derived: Sequence[Derived] = ()
) -> pd.DataFrame:
    """Build one row a step, with all its terms, indexed by its number; what is derived stands last."""
    pairs = zip(steps, given, strict=True)
    rows = [(step.label, step.model.name, ", ".join(terms)) for step, terms in pairs]
    rows += [(own.column, DERIVED, own.expression) for own in derived]
    places = pd.RangeIndex(1, len(rows) + 1, name="step")
    return pd.DataFrame(rows, index=places, columns=["draws", "method", "given"])


def predictor_matrix(
    names: Sequence[str], steps: Sequence[Step], given: Sequence[Terms], derived: Sequence[Derived] = ()
) -> pd.DataFrame:
    """Build a square matrix: 1 where the row's column is drawn, or derived, from the column's."""
    matrix = pd.DataFrame(0, index=list(names), columns=list(names))
    for step, terms in zip(steps, given, strict=True):
        predictors = list(columns_of(terms))
        for part in step.targets:
            matrix.loc[part.column, predictors] = 1
    for own in derived:
        matrix.loc[own.column, [name for name in own.given if name != own.column]] = 1
    return matrix


def _before(steps: Sequence[Step], first: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Columns that are there when a step draws: those kept real, and those of the steps before it."""
    there = dict.fromkeys(first)
    for step in steps:
        own = [part.column for part in step.targets]
        yield tuple(name for name in there if name not in own)
        there |= dict.fromkeys(own)


def _shown(terms: Sequence[str], before: Sequence[str]) -> str:
    """Write what a step is given: all of it, or how it differs from all columns before the step."""
    if len(terms) <= _FEW:
        return ", ".join(terms) or "-"
    lacking = [name for name in before if name not in terms]
    besides = [term for term in terms if term not in before]
    if len(lacking) + len(besides) > _FEW // 2:
        of = f"{len(terms)} of {len(before)} columns: " if not besides else ""
        return f"{of}{', '.join(terms[:_FEW])} and {len(terms) - _FEW}{_MORE}"
    if not lacking:
        return ", ".join([f"all {len(before)} columns before it", *besides])
    also = f", with {', '.join(besides)}" if besides else ""
    return f"all {len(before)} columns before it but {', '.join(lacking)}{also}"
