"""What a table says of itself: a schema learned from its rows, marked so."""

from pysynthdp.curator.infer.columns import infer_column, infer_schema
from pysynthdp.curator.infer.keys import key_remarks
from pysynthdp.curator.infer.merging import kinds_apart, united
from pysynthdp.curator.infer.numbers import Drawn
from pysynthdp.curator.infer.rare import Rare, Settled, is_scale, scale_remark, settle_rare

__all__ = [
    "Drawn",
    "Rare",
    "Settled",
    "infer_column",
    "infer_schema",
    "is_scale",
    "key_remarks",
    "kinds_apart",
    "scale_remark",
    "settle_rare",
    "united",
]
