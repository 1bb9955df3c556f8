"""What a table holds, column by column, for the person who holds the data."""

from pysynthdp.overview.columns import ColumnLook, Look, look

__all__ = ["ColumnLook", "Look", "look"]
