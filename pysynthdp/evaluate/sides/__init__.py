"""The two sides of an evaluation, the confidential table and the copies, on one scale: column by column."""

from pysynthdp.evaluate.sides.alignment import agreement_within, places_in_units
from pysynthdp.evaluate.sides.cells import Cells, cells_of, coded
from pysynthdp.evaluate.sides.columns import Facts, facts_of, levels_of, numbers_of, text_of, with_dates
from pysynthdp.evaluate.sides.taking import (
    Sides,
    as_table,
    frame_of,
    fresh_names,
    in_levels_of,
    real_columns,
    taken_sides,
    unread,
)

__all__ = [
    "Cells",
    "Facts",
    "Sides",
    "agreement_within",
    "as_table",
    "cells_of",
    "coded",
    "facts_of",
    "frame_of",
    "fresh_names",
    "in_levels_of",
    "levels_of",
    "numbers_of",
    "places_in_units",
    "real_columns",
    "taken_sides",
    "text_of",
    "unread",
    "with_dates",
]
