"""Names of coefficients as people read them: a level that is a whole number has no decimals."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["as_named", "readable"]

_WHOLE = re.compile(r"\[((?:T\.)?-?\d+)\.0\]")


def readable(term: str) -> str:
    """Write a coefficient's name for people; tables of numbers keep the library's own.

    Examples
    --------
    >>> readable("C(vote)[T.1.0]:age"), readable("C(dose)[T.0.5]")
    ('C(vote)[T.1]:age', 'C(dose)[T.0.5]')
    """
    return _WHOLE.sub(r"[\1]", term)


def as_named(text: str, terms: Sequence[str]) -> str:
    """Put the library's own names where a text has the names that a table shows.

    Examples
    --------
    >>> as_named("C(vote)[T.1] = 0", ["Intercept", "C(vote)[T.1.0]"])
    'C(vote)[T.1.0] = 0'
    """
    shown = {readable(term): term for term in terms if term not in text}
    odd = [name for name, term in sorted(shown.items(), key=lambda pair: -len(pair[0])) if name != term]
    if not odd:
        return text
    return re.sub("|".join(map(re.escape, odd)), lambda found: shown[found.group()], text)
