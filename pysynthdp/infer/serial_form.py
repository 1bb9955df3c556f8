"""How identifiers are written, so that the running numbers in their place are written alike."""

from __future__ import annotations

import re
from typing import Any, Final

import pandas as pd

from pysynthdp.remarks import FEWEST

__all__ = ["form_of"]

_NUMBERED: Final = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)


def form_of(series: pd.Series[Any]) -> str | None:
    """Say how all texts of a column are written, with zeros for the digits that number them.

    Returns
    -------
    str or None
        A form such as ``"A-00000"``; with one zero the numbers differ in length. None where fewer than five
        records hold texts, or not all of them share what stands before and behind their last digits.

    Notes
    -----
    Privacy: reads real values; the form is what every record shares, and goes into the copies.

    Examples
    --------
    >>> form_of(pd.Series([f"A-{number:05d}" for number in range(70, 90)]))
    'A-00000'
    >>> form_of(pd.Series([f"{name}@site.org" for name in "abcdefgh"])) is None
    True
    """
    texts = series.dropna()
    if len(texts) < FEWEST or not texts.map(lambda cell: isinstance(cell, str)).all():
        return None
    found = [_NUMBERED.fullmatch(text) for text in texts]
    parts = {(match[1], match[3]) for match in found if match is not None}
    if None in found or len(parts) != 1:
        return None
    before, behind = parts.pop()
    widths = {len(match[2]) for match in found if match is not None}
    return f"{before}{'0' * (widths.pop() if len(widths) == 1 else 1)}{behind}"
