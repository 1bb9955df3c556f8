"""Room for pictures of intervals: one line a term, near one another however few there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pysynthdp.analysis.term_names import readable
from pysynthdp.base.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_for", "set_terms"]

_WIDTH, _LINE, _MARGIN = 6.4, 0.42, 1.3  # inches: of a picture, of a term, of title and scale
_ROOM = 0.7  # above the first term and below the last, in lines


def axes_for(terms: int, *, legend: float = 0.0) -> Axes:
    """Make axes as high as the terms need; imports matplotlib."""
    import matplotlib.pyplot as plt

    height = _MARGIN + _LINE * (terms + 2 * _ROOM + legend)
    return plt.subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def set_terms(ax: Axes, place: IntArray | FloatArray, terms: Sequence[str], *, legend: float = 0.0) -> None:
    """Write the terms beside their lines, with the same room above (and for a legend) and below."""
    ax.set_yticks(place, [readable(term) for term in terms])
    ax.set_ylim(-_ROOM, max(len(terms) - 1, 0) + _ROOM + legend)
