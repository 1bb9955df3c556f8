"""Columns that are functions of others: whether declared ones hold, and which there are."""

from pysynthdp.curator.relations.declared import broken_remarks, rows_unlike

__all__ = ["broken_remarks", "rows_unlike"]
