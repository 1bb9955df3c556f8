"""Copies that stay in their files, as data frames of the columns that an analysis needs, on disk."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
import pandas as pd

from pysynthdp.base.scratch import Scratch
from pysynthdp.tags import AnalysableRelease, ReleaseTags

__all__ = ["InFrames", "in_frames"]

_ROWS: Final = 2**17  # read at a time


@dataclass(frozen=True, slots=True)
class InFrames:
    """A release of which some columns are at hand.

    Parameters
    ----------
    copies : tuple of DataFrame
        The columns that were asked for, mapped read-only.
    tags : ReleaseTags
        Of the release.
    schema : object
        Of the release.
    typed : DataFrame
        A row of the first copy, with all its columns.
    """

    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags
    schema: Any
    typed: pd.DataFrame


def in_frames(release: AnalysableRelease, columns: Collection[str] | None) -> AnalysableRelease:
    """Give a release whose copies are data frames; one that has such stays as it is.

    Parameters
    ----------
    release : release
        Copies in memory, or in files, as :meth:`SyntheticRelease.open` gives.
    columns : collection of str or None
        Those that are read; None for all.

    Returns
    -------
    release
        Numbers, times without a zone and levels lie in nameless files, read where they are looked at; other
        columns lie in memory.

    Raises
    ------
    ReleaseError
        When a file was changed since the folder was opened.

    Notes
    -----
    Privacy: post-processing of a release.
    """
    stored: Any = release.copies
    if not len(stored) or not hasattr(stored[0], "blocks"):
        return release
    wanted = [str(name) for name in stored[0].columns if columns is None or str(name) in set(columns)]
    wanted = wanted or [str(stored[0].columns[0])]  # of a formula without columns: the rows are still counted
    typed = next(iter(stored[0].blocks(rows=1)), pd.DataFrame(columns=stored[0].columns))
    frames = tuple(_frame(copy, wanted) for copy in stored)
    return InFrames(frames, release.tags, getattr(release, "schema", None), typed)


def _frame(copy: Any, names: list[str]) -> pd.DataFrame:
    """Read some columns of one copy into files, one after another: a row group of all would be in memory."""
    found = {name: _column(copy, name) for name in names}
    return pd.DataFrame(found, index=pd.RangeIndex(len(copy)), copy=False)


def _column(copy: Any, name: str) -> pd.Series[Any]:
    """Read one column, block by block, into a file; as a whole where its type is no plain array."""
    file, dtype = Scratch().file(), None
    for block in copy.blocks([name], rows=_ROWS):
        piece = block[name]
        dtype = piece.dtype if dtype is None else dtype
        leveled = isinstance(dtype, pd.CategoricalDtype)
        plain = isinstance(dtype, np.dtype) and dtype.kind in "biufmM"
        if piece.dtype != dtype or not (leveled or plain):
            return cast("pd.Series[Any]", copy.read([name])[name])
        file.write(piece.cat.codes.to_numpy() if leveled else piece.to_numpy())
    cells = file.array()
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical.from_codes(cells, dtype=dtype, validate=False), copy=False)
    return pd.Series(cells, copy=False)
