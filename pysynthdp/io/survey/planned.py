"""What a format makes of the columns of copies: names, codes and labels of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.words import Words
from pysynthdp.io.survey.coding import Cells, Coding, cells_of
from pysynthdp.io.survey.seen import Seen

__all__ = ["Fallback", "FileColumn", "FilePlan", "cut", "refusal", "text_width", "widened"]


@dataclass(frozen=True, slots=True)
class Fallback:
    """Something that a format holds otherwise than the copies do.

    Parameters
    ----------
    column : str
        The column.
    what : str
        What it does there, such as "has codes 1, 2, ...".
    lossy : bool
        Whether something of it is lost.
    """

    column: str
    what: str
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class FileColumn:
    """One column of a file.

    Parameters
    ----------
    name : str
        In the file.
    coding : Coding
        How its cells become numbers or texts.
    label : str
        Of the variable.
    labels : tuple of (code, label)
        Of values and missing kinds.
    absent : tuple
        What stands for each reason of ``coding.absent``: a code, or a letter.
    missing : tuple
        Codes, and ranges ``(low, high)``, that the file declares missing.
    format, measure, width
        As the format has them.
    text_width : int, optional
        Bytes of a text in every copy.
    origin : float
        Seconds between the beginning of the format's time and 1970, in its own unit after ``scale``.
    scale : float
        Units of the format in a second.
    """

    name: str
    coding: Coding
    label: str = ""
    labels: tuple[tuple[Any, str], ...] = ()
    absent: tuple[Any, ...] = ()
    missing: tuple[Any, ...] = ()
    format: str | None = None
    measure: str | None = None
    width: int | None = None
    text_width: int | None = None
    origin: float = 0.0
    scale: float = 1.0

    def cells(self, copy: pd.DataFrame) -> Cells:
        """Give the cells of a copy in the units of the format."""
        found = cells_of(self.coding, copy[self.coding.name])
        if self.coding.form not in ("day", "time"):
            return found
        return Cells((np.asarray(found.held) + self.origin) * self.scale, found.kinds)


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a format makes of copies.

    Parameters
    ----------
    columns : tuple of FileColumn
        In order.
    fallbacks : tuple of Fallback
        What it holds otherwise.
    plain : bool
        Whether all names, labels and texts are plain ASCII.
    """

    columns: tuple[FileColumn, ...]
    fallbacks: tuple[Fallback, ...]
    plain: bool = False


def refusal(column: str, what: str, ending: str, remedy: str) -> ReleaseError:
    """Say that a format cannot hold a column."""
    text = Words("{column}: a .{ending} file cannot hold it: {what}", column=column, ending=ending, what=what)
    return ReleaseError(text, column=column, kind="format", remedy=remedy)


def cut(text: str, most: int, *, characters: bool = False) -> str:
    """Shorten a label to so many bytes of UTF-8, or characters, at the end of a character.

    Examples
    --------
    >>> cut("Grösse", 3), cut("Grösse", 3, characters=True)
    ('Gr', 'Grö')
    """
    return text[:most] if characters else text.encode()[:most].decode(errors="ignore")


def text_width(coding: Coding, seen: Seen) -> int | None:
    """Say how wide a text is in every copy: as the file of the table declares, or as the longest one.

    Examples
    --------
    >>> from pysynthdp.schema.labels import Labels
    >>> text_width(Coding("town", "text", Labels(format="A20", source="spss")), Seen(longest=7))
    20
    """
    if not coding.texts:
        return None
    codes = [code for code, _ in coding.value_labels()] if coding.codes else []
    named = [len(str(code).encode()) for code in (*codes, *(each.value for each in coding.absent))]
    said = re.fullmatch(r"A(\d+)", coding.labels.format or "")
    return max(seen.longest, *named, int(said[1]) if said else 0, 1)


def widened(values: AnyArray, width: int | None) -> AnyArray:
    """Give the first text blanks up to a width: files are as wide as the longest, filled with blanks."""
    if not len(values) or width is None:
        return values
    values[0] += " " * (width - len(values[0].encode()))
    return values
