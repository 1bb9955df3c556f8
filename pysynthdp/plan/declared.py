"""What a declared column must say so that no cell can be told from the way in which a guaranteed fit ends."""

from __future__ import annotations

from pysynthdp.design.level_keys import same_key
from pysynthdp.design.parts import grid_bounds
from pysynthdp.design.values import LARGEST
from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["check_key", "lack_of_bounds", "lack_of_distinct_levels"]


def lack_of_distinct_levels(column: CategoricalColumn) -> str:
    """Name two levels that a file may hold in one way; empty where all differ.

    Notes
    -----
    Privacy: declared facts only.
    """
    alike = same_key((*column.levels, *column.specials))
    if alike is None:
        return ""
    return (
        f"a file may hold the levels {alike[0]!r} and {alike[1]!r} in one way, by the types of other "
        "cells; rename one"
    )


def lack_of_bounds(column: NumericColumn) -> str:
    """Say what is wrong with bounds or codes; empty where every number between them can be computed with.

    Notes
    -----
    Privacy: declared facts only. A number too large to square would end the fit of the table that has it.
    """
    lower, upper = column.lower, column.upper
    if lower is None or upper is None or not max(abs(lower), abs(upper)) <= LARGEST or lower == upper:
        return "it has no finite declared bounds; give lower= and upper= from public documents"
    if upper - lower < 1 / LARGEST:
        return "its bounds are too close together to compute with; give it in another unit"
    if any(not abs(code) <= LARGEST for code in column.specials):
        return f"a code or spike beyond {LARGEST:g} cannot be computed with; declare a smaller one"
    low, high = grid_bounds(column)
    if low is not None and high is not None and low > high:
        return "no number with its decimals lies within its bounds; widen them or give more decimals"
    return ""


def check_key(schema: Schema, *asked: BySampling | NoiseInAnswers | None) -> None:
    """Refuse a plan that draws or keeps the column which says whose a row is.

    Raises
    ------
    PrivacyError
        Names the column and the remedy.

    Notes
    -----
    Privacy: settings and declared facts only.
    """
    for key in (each.unit.key for each in asked if each is not None):
        if key is not None and key in schema:
            raise PrivacyError(
                f"{key} is the key that says whose a row is, so it is neither drawn nor kept; leave it out "
                f"of the schema, or give drop=[{key!r}]"
            )
