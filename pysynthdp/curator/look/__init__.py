"""What a table holds, column by column, for the person who holds the data."""

from pysynthdp.curator.look.columns import ColumnLook, Look, look
from pysynthdp.curator.look.found import remarks_of
from pysynthdp.curator.look.size import slow_plan
from pysynthdp.curator.look.weights import replicate_groups, replicate_remark, weight_remarks

__all__ = [
    "ColumnLook",
    "Look",
    "look",
    "remarks_of",
    "replicate_groups",
    "replicate_remark",
    "slow_plan",
    "weight_remarks",
]
