"""Pictures of risk: each key set beside its baseline, and true against false positives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["by_keys", "trade_off"]

_LINE: Final = 0.34  # inches a row
_MARGIN: Final = 1.5
_SIDE: Final = 4.6
_HEAD: Final = 1.6  # rows of room for the legend


def by_keys(worst: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw each risk as a point and its baseline as a bar across; what has no baseline stands alone.

    Parameters
    ----------
    worst : DataFrame
        Columns ``measure``, ``keys``, ``target``, ``value`` and ``baseline``, in per cent.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Readable in grey; its title says INTERNAL.
    """
    ax = ax or _axes((6.4, _MARGIN + _LINE * (len(worst) + _HEAD)))
    place = np.arange(len(worst))[::-1]
    value = worst["value"].to_numpy(np.float64)
    base = worst["baseline"].to_numpy(np.float64)
    ax.hlines(place, np.fmin(base, value), np.fmax(base, value), color="0.75", linewidth=2, zorder=1)
    ax.plot(base, place, "|", color="0.35", markersize=13, markeredgewidth=2, label="baseline", zorder=2)
    ax.plot(value, place, "o", color="0.1", markersize=5, label="all copies together", zorder=3)
    ax.set_yticks(place, [_label(row) for _, row in worst.iterrows()])
    ax.set_ylim(-0.7, len(worst) - 1 + _HEAD)
    ax.set_xlim(left=0)
    ax.set_xlabel("per cent")
    ax.set_title("INTERNAL: disclosure risk", fontsize=10)
    ax.legend(loc="upper right", ncols=2, frameon=False, fontsize=8)
    return ax


def _label(row: pd.Series) -> str:
    """Name one risk."""
    what = f" of {row['target']}" if row["target"] else ""
    return f"{row['measure']}{what}, {row['keys']}"


def trade_off(bound: pd.DataFrame | None, measured: pd.DataFrame | None, ax: Axes | None = None) -> Axes:
    """Draw true against false positives.

    Parameters
    ----------
    bound : DataFrame or None
        ``false_positives`` and ``most_true_positives`` of a guarantee.
    measured : DataFrame or None
        ``false_positives`` and ``true_positives`` of a membership attack.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Readable in grey; its title says INTERNAL where something was measured.
    """
    ax = ax or _axes((_SIDE, _SIDE))
    ax.plot([0, 1], [0, 1], ":", color="0.5", linewidth=1, label="blind guess")
    if bound is not None:
        x, y = bound["false_positives"], bound["most_true_positives"]
        ax.fill_between(x, y, 1, color="0.9", linewidth=0)
        ax.plot(x, y, "--", color="0.25", label="no attack lies above (guarantee)")
    if measured is not None:
        x, y = measured["false_positives"], measured["true_positives"]
        ax.step(x, y, where="post", color="0.05", label="attack by shadow fits")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.01)
    ax.set_aspect("equal")
    ax.set_xlabel("false positives")
    ax.set_ylabel("true positives")
    ax.set_title("Guarantee" if measured is None else "INTERNAL: membership inference", fontsize=10)
    ax.legend(loc="lower right", frameon=False, fontsize=8)
    return ax


def _axes(size: tuple[float, float]) -> Axes:
    """Make axes; imports matplotlib."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
