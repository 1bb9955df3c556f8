"""What a table says of itself: a schema learned from its rows, marked so."""

from pysynthdp.curator.infer.columns import by_column, infer_column, infer_schema
from pysynthdp.curator.infer.keys import key_remarks
from pysynthdp.curator.infer.merging import kinds_apart, united
from pysynthdp.curator.infer.numbers import Codes, Drawn
from pysynthdp.curator.infer.rare import Rare, Settled, settle_rare

__all__ = [
    "Codes",
    "Drawn",
    "Rare",
    "Settled",
    "by_column",
    "infer_column",
    "infer_schema",
    "key_remarks",
    "kinds_apart",
    "settle_rare",
    "united",
]
