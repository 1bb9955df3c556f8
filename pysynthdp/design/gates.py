"""Pairs of levels that never occur together: kept apart in what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Gates"]

_TRIES = 25


@dataclass(frozen=True, slots=True, repr=False)
class Gates:
    """Which levels of a part a level of an earlier one shuts out.

    Parameters
    ----------
    earlier : tuple of (column, role)
        The earlier parts.
    shut : tuple of array (levels of the earlier, levels)
        Of each, which pairs never occur.
    usual : array (levels,)
        Levels of the part, the commonest first.
    """

    earlier: tuple[tuple[str, str], ...]
    shut: tuple[BoolArray, ...]
    usual: IntArray

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """Earlier parts, and the kinds that say where they are there."""
        return frozenset((column, role) for column, own in self.earlier for role in (own, "kind"))

    def broken(self, values: FloatArray, drawn: Mapping[tuple[str, str], AnyArray]) -> BoolArray:
        """Find the rows with a pair of levels that never occurs; where one is absent there is none."""
        found = np.zeros(len(values), dtype=np.bool_)
        codes = values.astype(np.int64)
        for key, shut in self._tables():
            found |= shut[drawn[key], codes] & _there(key, drawn)
        return found

    def mended(
        self,
        values: FloatArray,
        drawn: Mapping[tuple[str, str], AnyArray],
        again: Callable[[IntArray], FloatArray],
    ) -> FloatArray:
        """Draw such rows again, which leaves the model's law given that the pair may occur.

        Parameters
        ----------
        values : array (rows,)
            Drawn level codes; changed in place.
        drawn : mapping (column, role) -> array (rows,)
            The earlier parts.
        again : function of places of rows
            Draws some rows anew.

        Notes
        -----
        Where a model leaves the levels that may occur next to nothing, the commonest of them is taken.
        """
        odd = np.flatnonzero(self.broken(values, drawn))
        for _ in range(_TRIES):
            if not odd.size:
                return values
            values[odd] = again(odd)
            odd = odd[self.broken(values[odd], self._of_rows(odd, drawn))]
        for row in odd:
            may = np.ones(len(self.usual), dtype=np.bool_)
            for key, shut in self._tables():
                may &= ~(shut[drawn[key][row]] & _there(key, drawn)[row])
            open_levels = self.usual[may[self.usual]]
            values[row] = open_levels[0] if len(open_levels) else values[row]
        return values

    def _of_rows(
        self, rows: IntArray, drawn: Mapping[tuple[str, str], AnyArray]
    ) -> dict[tuple[str, str], AnyArray]:
        """Take some rows of the earlier parts, and of their kinds."""
        return {key: drawn[key][rows] for key in self.keys if key in drawn}

    def _tables(self) -> zip[tuple[tuple[str, str], BoolArray]]:
        """Pair each earlier part with its table."""
        return zip(self.earlier, self.shut, strict=True)


def _there(key: tuple[str, str], drawn: Mapping[tuple[str, str], AnyArray]) -> BoolArray:
    """Rows in which an earlier part is there."""
    kind = drawn.get((key[0], "kind")) if key[1] == "value" else None
    return np.ones(len(drawn[key]), dtype=np.bool_) if kind is None else kind == 0
