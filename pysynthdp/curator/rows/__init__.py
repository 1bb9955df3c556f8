"""Real rows: one file a backend, and one door, which takes a table or whatever has rows of its own."""

from pysynthdp.curator.rows.frame import check_table, rows_of
from pysynthdp.curator.rows.imputed import ImputedTables, listed
from pysynthdp.curator.rows.owned import OwnedRows
from pysynthdp.curator.rows.replaced import ReplacedRows

__all__ = ["ImputedTables", "OwnedRows", "ReplacedRows", "check_table", "listed", "rows_of"]
