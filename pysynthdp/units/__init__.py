"""Units of several rows: who belongs together, what units share, and the tables that models are fitted to.

A unit (a household, a person in a panel, a diary) is one row of a wide table of units, which is never built.
It comes apart into ordinary tables, each of which the rest of the house plans, fits and draws as any table:

1. *the table of units*, one row a unit: its size (of a panel: in which waves it is there), the columns that
   its rows share, and the columns of its first row, the head. Drawn in this order.
2. *tables of places*, one row for each further row of a unit: the columns of the unit and of its head, those
   of the row before, the number of the place; these are given, and the row's own columns are drawn from them
   and from one another. A place has a table of its own from ``own_models`` units on; places of fewer share
   one, in which the place is a number among the predictors: one model a column over places.

So models, plans, blocks and streams of random numbers stay what they are. What is given is planned as
``keep`` plans a column; after the fit its real values are thrown away, and in a draw the drawn rows before
stand in their place. A number by which rows are ordered (``age desc``) is held behind the row before by a
rule, so that it is drawn as a distance from it: differences of ages come from their own distribution.

Sizes are exact because rows are made of them, shared columns because a unit has them once, and derived
columns of units because they are computed at the end from the rows of the copy
(:mod:`pysynthdp.design.unit_expressions`). Draws go in blocks of units, place by place inside a block.

Under a formal guarantee sizes, order and shared columns are declared, and nothing is said of a row:
``declared.py`` sorts them by declared facts alone.

Files: ``places.py`` sorts rows into units and places, ``faults.py`` says what is wrong with them,
``shared.py`` finds what units share, ``numbering.py`` how ids are written, ``tables.py`` makes the tables.
The plan of all of them is :class:`pysynthdp.plan.unit_plan.UnitPlan`, draws are in
``pysynthdp/draw/unit_machine.py``.
"""

from pysynthdp.units.declared import count_units, declared_frames, declared_rows
from pysynthdp.units.numbering import numbering_of
from pysynthdp.units.places import Placed, placed_rows
from pysynthdp.units.shared import shared_columns
from pysynthdp.units.tables import place_frame, place_groups, unit_frame

__all__ = [
    "Placed",
    "count_units",
    "declared_frames",
    "declared_rows",
    "numbering_of",
    "place_frame",
    "place_groups",
    "placed_rows",
    "shared_columns",
    "unit_frame",
]
