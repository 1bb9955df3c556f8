"""What a table holds, column by column, for the person who holds the data."""

from pysynthdp.overview.columns import ColumnLook, Look, look
from pysynthdp.overview.found import remarks_of
from pysynthdp.overview.size import slow_plan

__all__ = ["ColumnLook", "Look", "look", "remarks_of", "slow_plan"]
