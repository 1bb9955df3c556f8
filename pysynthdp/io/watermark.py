"""The last column of a file of copies, by which whoever opens it sees that its rows are synthetic."""

from __future__ import annotations

import pandas as pd

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.marks import WATERMARK
from pysynthdp.base.words import Setting, Words

__all__ = ["refuse_marked", "unmarked"]


def unmarked(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the column off by which a file says that its rows are synthetic; it is no part of the table.

    Examples
    --------
    >>> list(unmarked(pd.DataFrame({"age": [31], "_synthetic": [1]})))
    ['age']
    """
    marked = len(frame.columns) > 1 and frame.columns[-1] == WATERMARK
    return frame.iloc[:, :-1] if marked else frame


def refuse_marked(names: pd.Index) -> None:
    """Refuse to mark copies that have a column of that name.

    Raises
    ------
    ReleaseError
        Naming the column.
    """
    if WATERMARK in names:
        what = Words("the copies have a column {name}, which in files says: synthetic", name=WATERMARK)
        mend = Words("rename it before the fit, or write {off}", off=Setting("watermark", False))
        raise ReleaseError(what, column=WATERMARK, kind="names", remedy=mend)
