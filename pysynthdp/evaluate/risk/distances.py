"""Distance to the closest record: computed on request, with the file that shows that it proves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.evaluate.risk.coding import Files, numbers_of

__all__ = ["COUNTER_EXAMPLE", "distance_table"]

COUNTER_EXAMPLE: Final = (
    "Distances to the closest record prove nothing: a file with every real record, one added to each of its "
    "numbers, has the same share of rows nearer to the table than to people never used as a safe file has, "
    "and gives every record away."
)
_MOST: Final = 20_000  # rows of each file
_ALL: Final = 100.0


def distance_table(files: Files, names: Sequence[str], rng: np.random.Generator) -> pd.DataFrame:
    """Give the per cent of rows of each copy that are nearer to the table than to people never used.

    A file with every real record, one added to each of its numbers, passes this as a safe file does: its
    share is near one half, while it gives every record away. A share far above one half is a leak; a share
    of one half is nothing.

    Parameters
    ----------
    files : Files
        Table, copies and fresh people.
    names : sequence of str
        Columns.
    rng : Generator
        Takes as many of the table as there are fresh people, at most 20,000 of each.

    Returns
    -------
    DataFrame
        Per copy: ``nearer`` in per cent, and the median distances to both.
    """
    spaces = _spaces(files, names)
    people = min(len(spaces[0]), len(spaces[-1]), _MOST)
    trees = [KDTree(spaces[at][_some(len(spaces[at]), people, rng)]) for at in (0, -1)]
    rows = []
    for at, copy in enumerate(spaces[1:-1], start=1):
        chosen = copy[_some(len(copy), _MOST, rng)]
        near, far = (np.asarray(tree.query(chosen)[0]) for tree in trees)
        nearer = float(_ALL * ((near < far) + 0.5 * (near == far)).mean())
        rows.append((f"copy {at}", nearer, float(np.median(near)), float(np.median(far))))
    return pd.DataFrame(rows, columns=["of", "nearer", "to_table", "to_control"])


def _some(size: int, most: int, rng: np.random.Generator) -> IntArray:
    """Choose at most so many rows."""
    return np.sort(rng.permutation(size)[:most])


def _spaces(files: Files, names: Sequence[str]) -> list[FloatArray]:
    """Put all files into one space: numbers by standard deviations of the table, a level by its own axis."""
    parts: list[list[FloatArray]] = []
    for name in names:
        values = numbers_of(name, files.columns(name))
        if values is None:
            parts.append([_axes(each, files.coded(name).size) for each in files.coded(name).files])
            continue
        middle, scale = np.nanmean(values[0]), np.nanstd(values[0]) or 1.0
        parts.append([np.nan_to_num((each - middle) / scale)[:, None] for each in values])
    return [np.hstack(each) for each in zip(*parts, strict=True)]


def _axes(codes: IntArray, size: int) -> FloatArray:
    """Give each level an axis, two of them being one apart."""
    if size > 30:
        return (codes[:, None] / max(size - 1, 1)).astype(np.float64)
    out = np.zeros((codes.size, size))
    out[np.arange(codes.size), codes] = np.sqrt(0.5)
    return out
