"""How many rows of copies break the rules and universes of a release: none, unless somebody changed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray
from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.design.expression_cells import cells_of
from pysynthdp.design.expressions import parsed
from pysynthdp.design.parts import split
from pysynthdp.design.universes import asked_rows, condition_of, holds_outside, limited
from pysynthdp.schema import Column, NumericColumn, Schema
from pysynthdp.schema.universe import Universe

__all__ = ["RuleCheck", "RuleChecks", "checked_rules"]

Parts = Mapping[tuple[str, str], AnyArray]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What became of one rule or universe.

    Parameters
    ----------
    rule : str
        As it was written; a universe with its column before it.
    met : float or None
        Share of rows that met it when they were first drawn; the others were drawn again.
    broken : tuple of int
        Rows that break it, in each copy.
    """

    rule: str
    met: float | None
    broken: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class RuleChecks(Printable):
    """What became of every rule and universe of a release.

    Parameters
    ----------
    checks : tuple of RuleCheck
        Universes first.

    Notes
    -----
    Privacy: of drawn rows.
    """

    checks: tuple[RuleCheck, ...]

    @property
    def broken(self) -> int:
        """Rows that break anything, in all copies."""
        return sum(sum(check.broken) for check in self.checks)

    def to_frame(self) -> pd.DataFrame:
        """One row a rule: share that met it at once, and rows that break it in each copy."""
        copies = len(self.checks[0].broken) if self.checks else 0
        heads = ["rule", "met at once", *(f"copy {number}" for number in range(1, copies + 1))]
        return pd.DataFrame([(c.rule, c.met, *c.broken) for c in self.checks], columns=heads)

    def to_table(self) -> Table:
        """Build a card: one line a rule."""
        rows: list[tuple[Cell, ...]] = [
            (check.rule, "-" if check.met is None else f"{check.met:.3f}", sum(check.broken))
            for check in self.checks
        ]
        heads = ("rule", "met at once", "rows that break it")
        note = "Rows that did not meet a rule at once were drawn again." if self.checks else "There are none."
        return Table("Rules of a release", heads, tuple(rows), notes=(note,))


def checked_rules(
    copies: Iterable[pd.DataFrame], schema: Schema, rules: Sequence[Mapping[str, Any]]
) -> RuleChecks:
    """Count the rows of copies that break each rule and universe.

    Parameters
    ----------
    copies : iterable of DataFrame
        With the columns of the schema.
    schema : Schema
        Of the release; says its universes.
    rules : sequence of mappings
        Of the release's tags: ``rule``, ``columns`` and ``met``.

    Notes
    -----
    Privacy: post-processing of synthetic rows.
    """
    frames = list(copies)
    asked = [
        RuleCheck(_said(column), None, tuple(_unlike(frame, column, schema) for frame in frames))
        for column in limited(schema)
    ]
    told = [
        RuleCheck(rule["rule"], rule.get("met"), tuple(_broken(frame, rule, schema) for frame in frames))
        for rule in rules
    ]
    return RuleChecks((*asked, *told))


def _said(column: Column) -> str:
    """Write a universe."""
    own = Universe.of(column.name, column.universe or "")
    return f"{column.name} is asked if {own.where}"


def _parts(frame: pd.DataFrame, names: Iterable[str], schema: Schema) -> dict[tuple[str, str], AnyArray]:
    """Split some columns, whatever their bounds."""
    found: dict[tuple[str, str], AnyArray] = {}
    for name in names:
        column = schema[name]
        if isinstance(column, NumericColumn):
            column = replace(column, lower=None, upper=None, topped=False)
        found.update(split(frame[name], column))
    return found


def _broken(frame: pd.DataFrame, rule: Mapping[str, Any], schema: Schema) -> int:
    """Count the rows in which a rule is false."""
    names = tuple(rule["columns"])
    parts = _parts(frame, names, schema)
    found = parsed(rule["rule"], names, column="rules")
    values = found.of({name: cells_of(schema[name], parts) for name in names}).over(len(frame))
    return int((~values.truths() & ~values.missing).sum())


def _unlike(frame: pd.DataFrame, column: Column, schema: Schema) -> int:
    """Count the rows that are not as a universe says."""
    names = (column.name, *condition_of(column, schema).columns)
    parts = _parts(frame, names, schema)
    asked = asked_rows(column, parts, schema, len(frame))
    return 0 if asked is None else int(_odd(column, parts, asked).sum())


def _odd(column: Column, parts: Parts, asked: BoolArray) -> BoolArray:
    """Find rows outside with something else, and inside with what stands outside alone."""
    code = holds_outside(column, parts)
    alone = Universe.of(column.name, column.universe or "").alone
    odd: BoolArray = (~asked & ~code) | (asked & code & alone)
    return odd
