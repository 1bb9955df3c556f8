"""Columns that are functions of others: whether declared ones hold, and which there are."""

from pysynthdp.curator.relations.declared import broken_remarks, rows_unlike
from pysynthdp.curator.relations.found import Relations, find_relations

__all__ = ["Relations", "broken_remarks", "find_relations", "rows_unlike"]
