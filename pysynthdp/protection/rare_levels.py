"""What a fit without a guarantee says of levels that fewer than five records have."""

from __future__ import annotations

from collections.abc import Mapping

from pysynthdp.base.remarks import Remark
from pysynthdp.curator.whole_table import rare_words
from pysynthdp.design.groups import LevelGroups
from pysynthdp.plan.fit import Key

__all__ = ["rare_remarks"]


def rare_remarks(groups: Mapping[Key, LevelGroups]) -> tuple[Remark, ...]:
    """Make one remark a column.

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
    return tuple(Remark(column, *rare_words(count)) for column, count in counts.items())
