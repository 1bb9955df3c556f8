"""Of whom a question was asked: a condition on other columns, and what a column holds of all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Facts, Words

__all__ = ["AskedOf", "Universe", "UniverseLike"]


@dataclass(frozen=True, slots=True)
class Universe:
    """The rows in which a column is asked.

    Parameters
    ----------
    where : str
        An expression of other columns that is true in these rows. Where it is missing the column is not
        asked.
    outside : code, optional
        What stands in all other rows: a declared missing code, a spike or a level; missing without it.
    alone : bool
        Whether it stands in those rows only. Of a code that is so; of missing values where the column
        otherwise has none.

    Examples
    --------
    >>> Universe.of("nociga", ("smoke == 'YES'", -8))
    Universe(where="smoke == 'YES'", outside=-8, alone=False)
    """

    where: str
    outside: Any = None
    alone: bool = False

    @classmethod
    def of(cls, name: str, given: UniverseLike) -> Self:
        """Take a condition, or a condition and a code.

        Raises
        ------
        SchemaError
            For anything else; names the column.
        """
        if isinstance(given, cls):
            return given
        pair = (given, None) if isinstance(given, str) else given
        if not isinstance(pair, Sequence) or len(pair) != 2 or not isinstance(pair[0], str):
            what = "{name}: a universe is a condition, or a condition and the code that stands outside it"
            mend = Words("write {fact}", fact=Facts(universe=("smoke == 'YES'", -8)))
            raise SchemaError(Words(what, name=name), column=name, kind="declaration", remedy=mend)
        return cls(pair[0], pair[1])


UniverseLike: TypeAlias = str | tuple[str, Any] | Universe
AskedOf: TypeAlias = UniverseLike | None
"""How a universe may be written."""
