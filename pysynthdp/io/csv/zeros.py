"""Does a number in a file begin with a zero before another digit? A look at all bytes, two at a time."""

from __future__ import annotations

from typing import Final

import numpy as np

from pysynthdp.base.arrays import IntArray

__all__ = ["zero_before_digit"]

_STEP: Final = 1 << 19
_ZERO: Final = ord("0")


def zero_before_digit(content: bytes, sep: str) -> bool:
    r"""Whether a field begins with a zero and another digit, or ``x``, anywhere in a file.

    Parameters
    ----------
    content : bytes
        The file.
    sep : str
        Between fields.

    Examples
    --------
    >>> zero_before_digit(b"a,b\n1,02\n", ","), zero_before_digit(b"a,b\n10,0.2\n", ",")
    (True, False)
    """
    whole = np.frombuffer(content, np.uint8)
    starts = [ord(sign) for sign in (sep, "\n", "\r", '"') if sign.encode() in content]
    for start in range(0, len(content), _STEP):
        for offset in (start, start + 1):
            count = (min(_STEP + 1, len(content) - start) - (offset - start)) // 2
            pairs = np.frombuffer(content, "<u2", count=count, offset=offset) if count > 0 else whole[:0]
            for sign in starts:
                places = np.flatnonzero(pairs == sign + 256 * _ZERO)
                if len(places) and _before_digit(whole, offset + 2 * places + 2):
                    return True
    return False


def _before_digit(whole: np.ndarray[tuple[int], np.dtype[np.uint8]], places: IntArray) -> bool:
    """Whether one of some bytes is a digit or an x."""
    found = whole[places[places < len(whole)]]
    return bool(((found >= _ZERO) & (found <= ord("9")) | ((found | 32) == ord("x"))).any())
