"""What a fit without a guarantee says of levels that fewer than five records have."""

from __future__ import annotations

from collections.abc import Mapping

from pysynthdp.design.groups import LevelGroups
from pysynthdp.plan.fit import Key
from pysynthdp.queries import FEWEST
from pysynthdp.remarks import Remark
from pysynthdp.words import Setting, Words

__all__ = ["rare_remarks"]

KIND = "rare levels"
NAMED = 5
_TOLD = "copies show that such records exist and about how many, not what they alone hold elsewhere"
_REMEDY = Words(
    "{merge} puts such levels together, {refuse} stops there",
    merge=Setting("rare", "merge"),
    refuse=Setting("rare", "refuse"),
)


def rare_remarks(groups: Mapping[Key, LevelGroups]) -> tuple[Remark, ...]:
    """Make one remark for the whole table, naming at most five columns.

    Parameters
    ----------
    groups : mapping (column, role) -> LevelGroups
        Of the parts that have such levels; kinds are not spoken of here.

    Notes
    -----
    Privacy: says how many levels are rare in which columns; names none.

    Examples
    --------
    >>> import numpy as np
    >>> town = LevelGroups(np.array([0, 0, 0]), np.array([40.0, 1.0, 2.0]))
    >>> rare_remarks({("town", "value"): town})[0].what[:48]
    '2 levels have fewer than 5 records: copies show '
    """
    counts = {column: own.n_rare for (column, role), own in groups.items() if role == "value"}
    if not counts:
        return ()
    if len(counts) == 1:
        ((column, count),) = counts.items()
        what = "1 level has" if count == 1 else f"{count:,} levels have"
        return (Remark(column, KIND, f"{what} fewer than {FEWEST} records: {_TOLD}", _REMEDY),)
    named = ", ".join(f"{column} ({count:,})" for column, count in list(counts.items())[:NAMED])
    more = f" and {len(counts) - NAMED} more columns" if len(counts) > NAMED else ""
    what = f"levels with fewer than {FEWEST} records, and how many, in {named}{more}: {_TOLD}"
    return (Remark("", KIND, what, _REMEDY),)
