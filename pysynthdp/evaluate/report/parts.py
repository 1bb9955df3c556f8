"""What a section of a report is made of, whatever it is written as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import pandas as pd

from pysynthdp.base.display import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Blank", "Block", "Grid", "Mark", "Picture", "Section", "shown_rows", "written"]

_SHOWN: Final = 25  # rows of a frame that a page shows; the CSV file beside it has all
Mark = Literal["INTERNAL", "public"]


@dataclass(frozen=True, slots=True)
class Blank:
    """A field that only a person can fill.

    Parameters
    ----------
    label : str
        What belongs there.
    hint : str
        What to think of.
    given : str, optional
        What was filled in already.
    """

    label: str
    hint: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A frame: its first rows on the page, all of them in a CSV file.

    Parameters
    ----------
    name : str
        Of the file.
    title : str
        Above it.
    frame : DataFrame
        Worst first, where there is such an order.
    note : str
        Below it.
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, drawn when the report is written.

    Parameters
    ----------
    name : str
        Of the picture.
    title : str
        What it shows, for whoever cannot see it too.
    draw : callable
        Draws on the figure that it is given.
    size : tuple of float
        Inches.
    """

    name: str
    title: str
    draw: Callable[[Figure], Any]
    size: tuple[float, float] = (7.0, 4.0)


Block: TypeAlias = str | Table | Grid | Picture | Blank


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it.

    Parameters
    ----------
    head : str
        The heading.
    blocks : tuple of text, Table, Grid, Picture or Blank
        In order.
    """

    head: str
    blocks: tuple[Block, ...]


def shown_rows(grid: Grid) -> tuple[Table, int]:
    """Give the rows of a frame that a page shows, and how many it has."""
    frame = written(grid.frame)
    first = frame.head(_SHOWN)
    rows = tuple(tuple(_cell(cell) for cell in row) for row in first.itertuples(index=False, name=None))
    notes = (grid.note,) if grid.note else ()
    return Table(grid.title, tuple(map(str, frame.columns)), rows, notes=notes), len(frame)


def written(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a frame as it is written: an index that says something is a column."""
    index = frame.index
    named = any(name is not None for name in index.names) or index.dtype.kind not in "iu"
    return frame.reset_index() if named else frame


def _cell(value: Any) -> Any:
    """Give a cell as tables take it."""
    if value is None or (not isinstance(value, str | list | tuple) and pd.isna(value)):
        return None
    if isinstance(value, bool | int | float | str):
        return value
    return value.item() if hasattr(value, "item") else str(value)
