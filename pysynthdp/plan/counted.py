"""Numbers and dates that a rule puts on one side of another: drawn as that one and the distance from it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.design.expressions import parsed
from pysynthdp.design.parts import parts_of, settle
from pysynthdp.plan.rules import Rule
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["Counted", "as_distances", "counted_columns", "counted_schema"]

Key = tuple[str, str]
_SIDES: Final[Mapping[type, int]] = {ast.LtE: 1, ast.Lt: 1, ast.GtE: -1, ast.Gt: -1}


@dataclass(frozen=True, slots=True)
class Counted:
    """A column that is drawn as another one and the distance from it, which is never negative.

    Parameters
    ----------
    column, origin : str
        What is drawn, and what was drawn before it.
    side : {1, -1}
        Whether it lies above the other or below.
    """

    column: str
    origin: str
    side: int

    def distances(self, parts: Mapping[Key, AnyArray]) -> FloatArray:
        """Distances from the other column; of rows without a value whatever they come to."""
        own: FloatArray = parts[self.column, "value"] - parts[self.origin, "value"]
        return own * self.side

    def values(
        self, distances: FloatArray, parts: Mapping[Key, AnyArray], column: NumericColumn
    ) -> FloatArray:
        """Values that lie so far from the other column, on the column's own grid."""
        far = settle(np.ascontiguousarray(distances), _distance(column))
        return settle(parts[self.origin, "value"] + self.side * far, column)


def _distance(column: NumericColumn) -> NumericColumn:
    """Facts of a distance: not negative, of the same grain."""
    return replace(column, lower=0.0, upper=None, offset=0.0, topped=False)


def counted_columns(
    rules: Iterable[Rule],
    schema: Schema,
    order: Sequence[str],
    *,
    first: Collection[str] = (),
    apart: Collection[str] = (),
) -> tuple[Counted, ...]:
    """Find the columns that a rule such as ``start <= end`` puts behind another one.

    Parameters
    ----------
    rules : iterable of Rule
        Of the plan.
    schema : Schema
        Its columns.
    order : sequence of str
        Columns in the order in which they are drawn.
    first : collection of str
        Columns that are there before any is drawn.
    apart : collection of str
        Columns whose model the user chose, or that no step of their own draws.

    Returns
    -------
    tuple of Counted
        Each column once, from the last that it can be counted from.

    Notes
    -----
    Privacy: settings and declared facts only.
    """
    place = {**dict.fromkeys(first, -1), **{name: at for at, name in enumerate(order)}}
    found: dict[str, Counted] = {}
    for low, high in filter(None, map(_sides, rules)):
        if low not in place or high not in place:
            continue
        later, earlier = (high, low) if place[high] > place[low] else (low, high)
        old = found.get(later)
        nearer = old is None or place[old.origin] < place[earlier]
        if later not in apart and nearer and _countable(schema, later, earlier):
            found[later] = Counted(later, earlier, 1 if later == high else -1)
    return tuple(found[name] for name in order if name in found)


def _sides(rule: Rule) -> tuple[str, str] | None:
    """Name the lower and the upper column of a rule that compares two and says nothing else."""
    expression = parsed(rule.text, rule.columns, column="rules")
    tree = expression.tree
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _SIDES:
        return None
    names = [expression.names.get(ast.unparse(node)) for node in (tree.left, tree.comparators[0])]
    if None in names or names[0] == names[1]:
        return None
    low, high = names if _SIDES[type(tree.ops[0])] > 0 else reversed(names)
    return str(low), str(high)


def _countable(schema: Schema, later: str, earlier: str) -> bool:
    """Whether both are numbers of one unit, the earlier one always there and the later one without spikes."""
    own, other = schema[later], schema[earlier]
    if not isinstance(own, NumericColumn) or not isinstance(other, NumericColumn):
        return False
    return (
        own.unit == other.unit
        and not own.spikes
        and not own.topped
        and len(parts_of(other)) == 1
        and parts_of(own)[-1].numeric
    )


def counted_schema(schema: Schema, counted: Iterable[Counted]) -> Schema:
    """Give counted columns the facts of their distances."""
    for own in counted:
        column = schema[own.column]
        if isinstance(column, NumericColumn):
            facts = {"lower": 0.0, "upper": None, "offset": 0.0}
            schema = schema.amend(own.column, **facts)
    return schema


def as_distances(parts: Mapping[Key, AnyArray], counted: Iterable[Counted]) -> dict[Key, AnyArray]:
    """Give distances in the place of counted columns; zero where a value is absent.

    Notes
    -----
    Privacy: arithmetic on each row by itself.
    """
    found: dict[Key, AnyArray] = {}
    for own in counted:
        kind = parts.get((own.column, "kind"))
        far = own.distances(parts)
        found[own.column, "value"] = far if kind is None else np.where(kind == 0, far, 0.0)
    return found
