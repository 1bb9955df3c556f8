"""What a table says of itself: a schema learned from its rows, marked so."""

from pysynthdp.infer.columns import infer_column, infer_schema
from pysynthdp.infer.numbers import Codes

__all__ = ["Codes", "infer_column", "infer_schema"]
