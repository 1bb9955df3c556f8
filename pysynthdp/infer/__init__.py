"""What a table says of itself: a schema learned from its rows, marked so."""

from pysynthdp.infer.columns import by_column, infer_column, infer_schema
from pysynthdp.infer.merging import kinds_apart, united
from pysynthdp.infer.numbers import Codes

__all__ = ["Codes", "by_column", "infer_column", "infer_schema", "kinds_apart", "united"]
