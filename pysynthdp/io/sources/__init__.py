"""Tables outside memory, as data frames whose columns lie on disk: one file a kind of source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.sources.mapped import MappedRows
from pysynthdp.io.sources.parquet import read_mapped

__all__ = ["opened_source"]


def opened_source(given: Any, scratch: Scratch) -> Any:
    """Take what names a table as rows of it, their columns on disk; anything else stays as it is.

    Parameters
    ----------
    given : object
        A path, or anything that a table may be.
    scratch : Scratch
        Where columns lie.

    Notes
    -----
    Privacy: reads real rows.
    """
    if not isinstance(given, str | os.PathLike):
        return given
    return MappedRows(read_mapped(Path(given), scratch), scratch)
