"""What a table holds, column by column, for the person who holds the data."""

from pysynthdp.overview.look import ColumnLook, Look, look

__all__ = ["ColumnLook", "Look", "look"]
