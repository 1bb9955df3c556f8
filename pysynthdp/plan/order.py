"""The order in which columns are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.schema import Schema

__all__ = ["gathered", "visit_order"]

_LISTED = 3  # columns that a remedy lists again


def visit_order(schema: Schema, wish: Sequence[str] | None, apart: set[str]) -> tuple[str, ...]:
    """Order of the columns to draw: the wish, which must name each, or the table's order."""
    needed = [name for name in schema.names if name not in apart]
    if wish is None:
        return tuple(needed)
    if len(set(wish)) < len(wish):
        raise PlanError("visit_sequence names a column twice", kind="order", remedy="name each once")
    for name in wish:
        if name in apart:
            what = Words("visit_sequence names {name}, which is kept or serial", name=name)
            raise PlanError(what, column=name, kind="order", remedy="leave it out there")
    left = [name for name in needed if name not in wish]
    if left:
        drop = Setting("drop", left if len(left) <= _LISTED else [...])
        raise PlanError(
            Words("visit_sequence leaves out {left}", left=", ".join(left)),
            column=left[0],
            kind="order",
            remedy=Words("add them, or leave them out of the copies with {drop}", drop=drop),
        )
    return tuple(wish)


def gathered(order: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Move the columns of each joint step to where the first of them is visited."""
    place = {name: position for position, name in enumerate(order)}
    for columns in groups:
        absent = [name for name in columns if name not in place]
        if absent or len(set(columns)) < len(columns):
            text = "the joint step of {names} names a column twice or one that is not drawn"
            what = Words(text, names=", ".join(columns))
            raise PlanError(what, kind="joint", remedy="name each column once, of those that are drawn")
        first = min(place[name] for name in columns)
        place |= dict.fromkeys(columns, first)
    rank = {name: (place[name], *_position(name, groups)) for name in order}
    return tuple(sorted(order, key=rank.__getitem__))


def _position(name: str, groups: tuple[tuple[str, ...], ...]) -> tuple[int, int]:
    """Group of a column and its place there."""
    for number, columns in enumerate(groups):
        if name in columns:
            return number, columns.index(name)
    return -1, 0
