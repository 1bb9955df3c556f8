"""R values to and from Python, as bytes in R's own serialize format.

:mod:`~pysynthdp.bridge.codec` turns bytes into R values and back, :mod:`~pysynthdp.bridge.frames` R data
frames into pandas and back. Neither needs R.
"""

from __future__ import annotations

from pysynthdp.bridge.codec import dumps, load_rdata, load_rds, loads, save_rds
from pysynthdp.bridge.facts import ColumnFacts, FrameFacts, RFrame
from pysynthdp.bridge.frames import frame_from_r, frame_to_r, read_rds, write_rds

__all__ = [
    "ColumnFacts",
    "FrameFacts",
    "RFrame",
    "dumps",
    "frame_from_r",
    "frame_to_r",
    "load_rdata",
    "load_rds",
    "loads",
    "read_rds",
    "save_rds",
    "write_rds",
]
