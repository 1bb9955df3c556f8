"""R values to and from Python, as bytes in R's own serialize format.

:mod:`~pysynthdp.bridge.codec` turns bytes into R values and back, :mod:`~pysynthdp.bridge.frames` R data
frames into pandas and back, :mod:`~pysynthdp.bridge.releases` releases into R objects and back. None needs R.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pysynthdp.bridge.codec import dumps, load_rdata, load_rds, loads, save_rds
    from pysynthdp.bridge.facts import ColumnFacts, FrameFacts, RFrame
    from pysynthdp.bridge.frames import frame_from_r, frame_to_r, read_rds, write_rds
    from pysynthdp.bridge.from_synds import read_synds, release_from_synds
    from pysynthdp.bridge.releases import release_from_r, release_to_r
    from pysynthdp.bridge.synds import synds_from_release

_WHERE = {  # loaded when asked for: the process that answers R starts in half the time
    "codec": ("dumps", "load_rdata", "load_rds", "loads", "save_rds"),
    "facts": ("ColumnFacts", "FrameFacts", "RFrame"),
    "frames": ("frame_from_r", "frame_to_r", "read_rds", "write_rds"),
    "from_synds": ("read_synds", "release_from_synds"),
    "releases": ("release_from_r", "release_to_r"),
    "synds": ("synds_from_release",),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

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
    "read_synds",
    "release_from_r",
    "release_from_synds",
    "release_to_r",
    "save_rds",
    "synds_from_release",
    "write_rds",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'pysynthdp.bridge' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.bridge.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
