"""What a declared column must say so that no cell can be told from the way in which a guaranteed fit ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import CODEBOOK, Facts, Setting, Words
from pysynthdp.design.dtypes import with_public_types
from pysynthdp.design.level_keys import same_key
from pysynthdp.design.parts import grid_bounds
from pysynthdp.design.values import LARGEST
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.labels import tag_of

__all__ = [
    "UNDECLARED",
    "check_declared",
    "check_key",
    "lack_of_bounds",
    "lack_of_distinct_levels",
    "public_schema",
]

UNDECLARED: Final = Words(
    "a formal guarantee takes nothing from the data; declare the column in {schema}", schema=CODEBOOK
)


def lack_of_distinct_levels(column: CategoricalColumn) -> str:
    """Name two levels that a file may hold in one way; empty where all differ.

    Notes
    -----
    Privacy: declared facts only.
    """
    alike = same_key((*column.levels, *column.specials))
    if alike is None:
        return ""
    return Words(
        "a file may hold the levels {first} and {second} in one way, by the types of other cells; rename one",
        first=repr(alike[0]),
        second=repr(alike[1]),
    )


def lack_of_bounds(column: NumericColumn) -> str:
    """Say what is wrong with bounds or codes; empty where every number between them can be computed with.

    Notes
    -----
    Privacy: declared facts only. A number too large to square would end the fit of the table that has it.
    """
    lower, upper = column.lower, column.upper
    if lower is None or upper is None or not max(abs(lower), abs(upper)) <= LARGEST or lower == upper:
        facts = Facts(lower=..., upper=...)
        if lower is not None and lower == upper:
            return Words(
                "its bounds are equal, so there is nothing to draw; give others with {facts}", facts=facts
            )
        return Words("it has no finite declared bounds; give {facts} from public documents", facts=facts)
    if upper - lower < 1 / LARGEST:
        return "its bounds are too close together to compute with; give it in another unit"
    if any(not abs(code) <= LARGEST for code in column.specials if tag_of(code) is None):
        return f"a code or spike beyond {LARGEST:g} cannot be computed with; declare a smaller one"
    low, high = grid_bounds(column)
    if low is not None and high is not None and low > high:
        return "no number with its decimals lies within its bounds; widen them or give more decimals"
    return ""


def public_schema(schema: Schema) -> Schema:
    """Draw the missing values of a categorical column as levels: their number is then no fact of its own.

    Types that the user leaves open are public ones, so that none depends on a record or a carrier.
    """
    columns = (
        replace(column, absence="level")
        if isinstance(column, CategoricalColumn) and column.universe is None
        else column
        for column in schema
    )
    return with_public_types(Schema(tuple(columns)))


def check_declared(schema: Schema, names: Sequence[str]) -> None:
    """Refuse a column of which something would have to be learned from the data.

    Raises
    ------
    PrivacyError
        Names the column and what to declare.
    """
    for name in names:
        column = schema[name]
        lack = _lack(column)
        if lack:
            what = Words("{name}: {lack}", name=name, lack=lack)
            raise PrivacyError(what, column=name, kind="undeclared")


def _lack(column: Column) -> str:
    """Say what a column must still declare; empty when nothing."""
    if not column.declared:
        return UNDECLARED
    if isinstance(column, CategoricalColumn):
        return _categorical_lack(column)
    return _numeric_lack(column)


def _categorical_lack(column: CategoricalColumn) -> str:
    """Say what a categorical column must still declare."""
    if column.other is None:
        return Words("unlisted values need a level to go to; declare {other}", other=Facts(other=...))
    if len(column.levels) + len(column.specials) + int(column.may_be_missing) == 1:
        return "it has one declared level, so there is nothing to draw; drop it and add it to the copies"
    return lack_of_distinct_levels(column)


def _numeric_lack(column: NumericColumn) -> str:
    """Say what a numeric column must still declare."""
    lack = lack_of_bounds(column)
    if lack:
        return lack
    if column.may_be_missing or column.specials:
        return Words(
            "a numeric column that may be missing or has codes or spikes has no guarantee by sampling; "
            "make it categorical by public intervals, or declare {facts}",
            facts=Facts(may_be_missing=False, fallback=...),
        )
    if column.fallback is None:
        text = "say what a cell without a readable value becomes: declare {facts}"
        return Words(text, facts=Facts(fallback=...))
    return ""


def check_key(schema: Schema, unit: PrivacyUnit) -> None:
    """Refuse a plan that draws or keeps the column which says whose a row is.

    Raises
    ------
    PrivacyError
        Names the column and the remedy.

    Notes
    -----
    Privacy: settings and declared facts only.
    """
    key = unit.key
    if key is not None and key in schema:
        text = "{key} is the key that says whose a row is, so it is neither drawn nor kept"
        mend = Words("leave it out of the schema, or give {drop}", drop=Setting("drop", [key]))
        raise PrivacyError(Words(text, key=key), column=key, kind="key", remedy=mend)
