"""The last column of a file of copies, by which whoever opens it sees that its rows are synthetic."""

from __future__ import annotations

import pandas as pd

from pysynthdp.base.marks import WATERMARK

__all__ = ["unmarked"]


def unmarked(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the column off by which a file says that its rows are synthetic; it is no part of the table.

    Examples
    --------
    >>> list(unmarked(pd.DataFrame({"age": [31], "_synthetic": [1]})))
    ['age']
    """
    marked = len(frame.columns) > 1 and frame.columns[-1] == WATERMARK
    return frame.iloc[:, :-1] if marked else frame
