"""The two sides of an evaluation, the confidential table and the copies, on one scale: column by column."""

from pysynthdp.evaluate.sides.cells import Cells, cells_of, coded
from pysynthdp.evaluate.sides.columns import Facts, facts_of, levels_of, numbers_of, with_dates
from pysynthdp.evaluate.sides.taking import Sides, frame_of, taken_sides

__all__ = [
    "Cells",
    "Facts",
    "Sides",
    "cells_of",
    "coded",
    "facts_of",
    "frame_of",
    "levels_of",
    "numbers_of",
    "taken_sides",
    "with_dates",
]
