"""Whether real rows keep universes and rules: counted, never quoted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.remarks import FEWEST, Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.spread.pieces import SpreadRows
from pysynthdp.curator.spread.table import split_spread
from pysynthdp.curator.table import Key, PartTable, split_rows
from pysynthdp.design.rows import Rows
from pysynthdp.design.universes import asked_rows, condition_of, holds_outside, limited
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.asked import alone
from pysynthdp.plan.checked import BrokenRules
from pysynthdp.plan.counted import Counted
from pysynthdp.plan.rules import Rule, strange_levels
from pysynthdp.schema import Column, Schema
from pysynthdp.schema.universe import Universe

__all__ = [
    "Broken",
    "broken_counts",
    "broken_rules",
    "kept_remarks",
    "settled_distances",
    "settled_universes",
]

_MASS = 0.01  # of the records, by which a value may be commoner than a distance
_HEAP = 0.05  # by which a distance is commoner
_SHORT = 0.5  # of the spread of the values
_VAGUE = 10  # records, below which a count is not told


@dataclass(frozen=True, slots=True)
class Broken:
    """A universe or a rule, and how many real rows break it.

    Parameters
    ----------
    column : str
        Whose universe it is; empty for a rule.
    text : str
        The condition.
    count : int
        Rows that break it.

    Notes
    -----
    Privacy: an exact count of records; :func:`~pysynthdp.base.remarks.few` before it is shown.
    """

    column: str
    text: str
    count: int


def settled_universes(schema: Schema, tables: Sequence[Rows]) -> Schema:
    """Say of each universe whether what stands outside of it stands outside alone, in all but few real rows.

    What fewer than five records inside hold is learned of no model, so that no copy has it there.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee.
    """
    open_ones = [column for column in limited(schema) if not _alone(column)]
    if not open_ones:
        return schema
    counts = [_counted(rows, _needed(schema, open_ones), open_ones, ())[1] for rows in tables]
    for column, inside in zip(open_ones, zip(*counts, strict=True), strict=True):
        if max(inside) < FEWEST:
            schema = alone(schema, column.name)
    return schema


def settled_distances(plan: SynthesisPlan, tables: Sequence[Rows]) -> SynthesisPlan:
    """Keep those distances that tell more than the columns: short ones, or ones that pile up.

    A date of the last visit that most records share is drawn as it is: as a distance it would be smeared. So
    is the age at which people fall ill: counted from birth, the years of a survey would lose their ends.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. Shares of fewer than five records count as none.
    """
    if not plan.counted or isinstance(tables[0], SpreadRows):
        return plan
    names = {name for own in plan.counted for name in (own.column, own.origin)}
    schema = Schema(tuple(_plain(column) for column in plan.schema if column.name in names))
    parts = [split_rows(rows, schema).parts for rows in tables]
    kept = (own for own in plan.counted if all(_far_enough(own, each) for each in parts))
    return replace(plan, counted=tuple(kept))


def _far_enough(own: Counted, parts: Mapping[Key, AnyArray]) -> bool:
    """Whether distances pile up no less than the values, and are short beside them or pile up more."""
    kind = parts.get((own.column, "kind"))
    there = slice(None) if kind is None else kind == 0
    far, values = (each[there] for each in (own.distances(parts), parts[own.column, "value"]))
    if len(values) < FEWEST:
        return False
    more = _mass(far) - _mass(values)
    return more >= -_MASS and (more >= _HEAP or float(np.std(far)) < _SHORT * float(np.std(values)))


def _mass(values: AnyArray) -> float:
    """Share of the commonest number; none of fewer than five records."""
    if not len(values):
        return 0.0
    most = int(np.unique(values, return_counts=True)[1].max())
    return most / len(values) if most >= FEWEST else 0.0


def broken_counts(plan: SynthesisPlan, rows: Rows) -> tuple[Broken, ...]:
    """Count the real rows that break each universe and each rule of a plan.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee.
    """
    columns = limited(plan.schema)
    if not columns and not plan.rules:
        return ()
    needed = _needed(plan.schema, columns, plan.rules)
    outside, inside, rules = _counted(rows, needed, columns, plan.rules)
    found = [
        Broken(column.name, _where(column), out + (odd if _alone(column) else 0))
        for column, out, odd in zip(columns, outside, inside, strict=True)
    ]
    return (*found, *(Broken("", rule.text, n) for rule, n in zip(plan.rules, rules, strict=True)))


def broken_rules(plan: SynthesisPlan, rows: Rows) -> BrokenRules:
    """Count the real rows that break each universe and each rule, for whoever holds them.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. Counts below ten stay vague.
    """
    found = broken_counts(plan, rows)
    said = ((f"{each.column} is asked if {each.text}" if each.column else each.text) for each in found)
    counts = ("<10" if 0 < each.count < _VAGUE else f"{each.count:,}" for each in found)
    strange = {rule.text: rule.strange(plan.schema) for rule in plan.rules}
    lacking = (", ".join(strange.get(each.text, ())) for each in found)
    notes = (f" ({names}: no such level)" if names else "" for names in lacking)
    return BrokenRules(tuple((text, n + note) for text, n, note in zip(said, counts, notes, strict=True)))


def kept_remarks(plan: SynthesisPlan, rows: Rows) -> tuple[Remark, ...]:
    """Say which universes and rules real rows break, and that no copy does.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. Counts below ten stay vague.
    """
    broken = (_remark(each) for each in broken_counts(plan, rows) if each.count)
    return (*broken, *strange_levels(plan.rules, plan.schema))


def _remark(broken: Broken) -> Remark:
    """Say how many rows break one."""
    if broken.column:
        setting, what = Setting("universe", {broken.column: "..."}), "rows are not as its universe says"
        template = "{many} {what} ({text}); all rows of a copy are"
    else:
        setting, what = Setting("rules", ["..."]), "rows of the table break the rule"
        template = "{many} {what} {text}; no row of a copy does"
    return Remark(
        broken.column,
        "broken universe" if broken.column else "broken rule",
        Words(template, many=few(broken.count), what=what, text=broken.text),
        Words("correct it or the rows, or leave it out of {setting}", setting=setting),
    )


def _where(column: Column) -> str:
    """Give the condition of a universe."""
    return Universe.of(column.name, column.universe or "").where


def _alone(column: Column) -> bool:
    """Whether what stands outside stands nowhere else."""
    return Universe.of(column.name, column.universe or "").alone


def _needed(schema: Schema, columns: Iterable[Column], rules: Iterable[Rule] = ()) -> Schema:
    """Take the columns that universes and rules name, as they are written in the table."""
    names = {name for column in columns for name in (column.name, *condition_of(column, schema).columns)}
    names |= {name for rule in rules for name in rule.columns}
    return Schema(tuple(column for column in schema if column.name in names))


def _counted(
    rows: Rows, schema: Schema, columns: Sequence[Column], rules: Sequence[Rule]
) -> tuple[list[int], list[int], list[int]]:
    """Count rows outside with something else, rows inside with what stands outside, and broken rules."""
    plain = Schema(tuple(_plain(column) for column in schema))
    table = split_spread(rows, plain) if isinstance(rows, SpreadRows) else split_rows(rows, plain)

    def of_piece(piece: PartTable) -> tuple[AnyArray, ...]:
        sides = [_sides(column, piece, schema) for column in columns]
        broken = [int(rule.broken(schema, piece.parts, piece.n).sum()) for rule in rules]
        return (np.array([a for a, _ in sides]), np.array([b for _, b in sides]), np.array(broken))

    outside, inside, broken = (array.astype(np.int64).tolist() for array in table.total(of_piece))
    return outside, inside, broken


def _plain(column: Column) -> Column:
    """Give a column as it is written in the table: with its kinds, and no universe."""
    return Schema((column,)).amend(column.name, universe=None)[column.name]


def _sides(column: Column, table: PartTable, schema: Schema) -> tuple[int, int]:
    """Count rows outside with something else, and rows inside with what stands outside."""
    asked = asked_rows(column, table.parts, schema, table.n)
    code = holds_outside(column, table.parts)
    if asked is None:
        return 0, 0
    return int(np.count_nonzero(~asked & ~code)), int(np.count_nonzero(asked & code))
