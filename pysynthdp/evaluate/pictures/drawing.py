"""Draw what a comparison found, on axes that are handed back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import SettingError
from pysynthdp.base.words import meant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_column", "draw_propensity", "draw_residuals", "drawn", "drawn_frames", "report_picture"]

_REAL: Final[dict[str, Any]] = {"color": "0.72"}
_COPY: Final[dict[str, Any]] = {"facecolor": "none", "edgecolor": "0.1", "linewidth": 1.1}
_WIDE: Final = 3  # panels beside each other
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TITLE: Final[dict[str, Any]] = {"fontsize": 9, "loc": "left"}


Panel = Callable[["Axes"], Any]


def drawn(found: Any, kind: str, most: int, ax: Axes | None = None) -> Figure | Axes:
    """Draw one of the pictures of a comparison.

    Parameters
    ----------
    found : UtilityComparison
        What is drawn.
    kind : {"columns", "tables", "regressions", "propensity"}
        Which picture.
    most : int
        Panels.
    ax : Axes, optional
        Where to draw the first panel alone, the worst.

    Returns
    -------
    Figure or Axes

    Raises
    ------
    SettingError
        If there is no such picture, or nothing to draw.

    Notes
    -----
    Privacy: shows real numbers.
    """
    panels = _panels(found, kind, most)
    if not panels:
        raise SettingError(
            f"there is nothing to draw for {kind!r}", kind="setting", remedy="see .missing for why"
        )
    if ax is not None:
        panels[0](ax)
        ax.set_title(f"INTERNAL: {ax.get_title(loc='left')}", **_TITLE)
        return ax
    import matplotlib.pyplot as plt

    return _laid_out(plt.figure(figsize=_size(len(panels)), layout="constrained"), panels)


def report_picture(
    found: Any, kind: str, most: int
) -> tuple[tuple[float, float], Callable[[Figure], Any]] | None:
    """Give size and drawing of a picture for a report; None where there is nothing to draw.

    Parameters
    ----------
    found : UtilityComparison
        What is drawn.
    kind : {"columns", "tables", "regressions", "propensity"}
        Which picture.
    most : int
        Panels.

    Notes
    -----
    Privacy: shows real numbers.
    """
    panels = _panels(found, kind, most)
    return (_size(len(panels)), lambda figure: _laid_out(figure, panels)) if panels else None


def _panels(found: Any, kind: str, most: int) -> list[Panel]:
    """Give the panels of a picture."""
    if kind not in _KINDS:
        raise SettingError(
            f"{kind!r} is no picture",
            kind="setting",
            remedy=meant(kind, _KINDS, f"pictures are {', '.join(_KINDS)}"),
        )
    return _KINDS[kind](found)[:most]


def _size(panels: int) -> tuple[float, float]:
    """Inches of a figure with so many panels."""
    wide = min(_WIDE, panels)
    return 4.2 * wide, 2.8 * -(-panels // wide) + 0.4


def drawn_frames(found: Any) -> dict[str, pd.DataFrame]:
    """Give what the pictures show besides the tables, for whoever draws them elsewhere.

    Parameters
    ----------
    found : UtilityComparison
        What is drawn.

    Returns
    -------
    dict of str to DataFrame
        ``residuals`` (a cell of a table of two columns a row, in standard errors), ``intervals`` (a term and
        side of a regression a row) and ``scores`` (shares of both sides by propensity).

    Notes
    -----
    Privacy: real numbers.
    """
    cells = [
        (f"{one.index.name} x {one.columns.name}", str(row), str(column), float(z))
        for one in found.residuals
        for row, line in zip(one.index, one.to_numpy(dtype=np.float64), strict=True)
        for column, z in zip(one.columns, line, strict=True)
    ]
    limits = [
        (name, term, side, float(value), float(low), float(high))
        for name, fit in found.fits.items()
        for side, values, ends in (
            ("confidential", fit.confidential, fit.confidential_limits),
            ("pooled", fit.pooled, fit.pooled_limits),
        )
        for term, value, (low, high) in zip(fit.terms, values, ends, strict=True)
    ]
    scores = found.propensity
    shares = {"low": scores.edges[:-1], "high": scores.edges[1:]}
    return {
        "residuals": pd.DataFrame(cells, columns=["table", "row", "column", "z"]),
        "intervals": pd.DataFrame(limits, columns=["model", "term", "side", "value", "low", "high"]),
        "scores": pd.DataFrame({**shares, "confidential": scores.real, "copies": scores.copy}),
    }


def _laid_out(figure: Figure, panels: Sequence[Panel]) -> Figure:
    """Lay panels out on a figure."""
    wide = min(_WIDE, len(panels))
    axes = figure.subplots(-(-len(panels) // wide), wide, squeeze=False)
    for panel, ax in zip(panels, axes.flat, strict=False):
        panel(ax)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    figure.suptitle("INTERNAL: copies against the confidential table", fontsize=10)
    return figure


def _columns(found: Any) -> list[Panel]:
    """One panel a column, the worst first."""
    frame = found.frames["distributions"]
    order = found.frames["one-way"]["column 1"]
    return [partial(draw_column, frame[frame["column"] == name]) for name in order]


def draw_column(part: pd.DataFrame, ax: Axes) -> Axes:
    """Draw one column: grey bars for the table, outlines for the copies; spikes and missing kinds apart.

    Parameters
    ----------
    part : DataFrame
        Rows of the table ``distributions`` that belong to one column.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes

    Notes
    -----
    Privacy: shows real shares.
    """
    values = part[part["kind"] == "value"]
    histogram = len(values) > 1 and values["low"].notna().all()
    apart = part[part["kind"] != "value"] if histogram else part
    if histogram:
        width = float((values["high"] - values["low"]).iloc[0])
        middle = ((values["low"] + values["high"]) / 2).to_numpy()
        end = float(values["high"].max())
        beside = end + width * (2 + 2 * np.arange(len(apart)))
    else:
        width, middle, beside = 0.8, np.zeros(0), np.arange(len(apart), dtype=np.float64)
    place = np.concatenate([middle, beside])
    both = pd.concat([values, apart]) if histogram else apart
    ax.bar(place, both["confidential"], width=width, label="confidential", **_REAL)
    ax.bar(place, both["copies"], width=width, label="copies", **_COPY)
    _name_cells(ax, beside, [str(cell) for cell in apart["cell"]], histogram=bool(histogram))
    if histogram and _DATE.match(str(values["cell"].iloc[0])):
        _name_dates(ax, values, beside, [str(cell) for cell in apart["cell"]])
    ax.set_title(str(part["column"].iloc[0]), **_TITLE)
    ax.tick_params(labelsize=7)
    ax.legend(fontsize=6, frameon=False)
    return ax


def _short(cell: object) -> str:
    """Shorten a label; 16 letters hold "up to 1994-05-25"."""
    text = str(cell)
    return text if len(text) <= 16 else f"{text[:14]}.."


def _name_cells(ax: Axes, place: Any, cells: Sequence[str], *, histogram: bool) -> None:
    """Name cells that stand by themselves, beside the scale of a histogram."""
    names = [_short(cell) for cell in cells]
    if not histogram:
        ax.set_xticks(place, names, rotation=45, ha="right")
        return
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= (min(place) if len(place) else high)]
    ax.set_xticks([*ticks, *place], [*(f"{tick:g}" for tick in ticks), *names], rotation=45, ha="right")


def _name_dates(ax: Axes, values: pd.DataFrame, beside: Any, cells: Sequence[str]) -> None:
    """Name every sixth cell of a histogram of dates by the date at which it begins."""
    marked = values.iloc[::6]
    days = [str(cell).split(" ")[0] for cell in marked["cell"]]
    ax.set_xticks([*marked["low"], *beside], [*days, *map(_short, cells)], rotation=45, ha="right")


def _tables(found: Any) -> list[Panel]:
    """One map of residuals for each of the worst tables of two columns."""
    return [partial(draw_residuals, one) for one in found.residuals]


def draw_residuals(table: pd.DataFrame, ax: Axes) -> Axes:
    """Draw where a table of two columns differs: the darker the more, a sign says whether copies have more.

    Parameters
    ----------
    table : DataFrame
        Differences of cells in standard errors; rows and columns are the cells of the two columns.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes

    Notes
    -----
    Privacy: shows real differences.
    """
    z = table.to_numpy(dtype=np.float64)
    shade = ax.imshow(
        np.abs(z), cmap="Greys", vmin=0, vmax=max(6.0, float(np.nanmax(np.abs(z), initial=0))), aspect="auto"
    )
    for (row, column), value in np.ndenumerate(z):
        if np.isfinite(value) and abs(value) >= 2:
            dark = abs(value) > shade.get_clim()[1] / 2
            ax.text(
                column,
                row,
                f"{value:+.0f}",
                ha="center",
                va="center",
                fontsize=6,
                color="white" if dark else "black",
            )
    ax.set_xticks(
        range(z.shape[1]), [_short(name) for name in table.columns], rotation=45, ha="right", fontsize=6
    )
    ax.set_yticks(range(z.shape[0]), [_short(name) for name in table.index], fontsize=6)
    ax.set_title(f"{table.index.name} x {table.columns.name}, in standard errors", **_TITLE)
    return ax


def _regressions(found: Any) -> list[Panel]:
    """One forest for each regression."""
    return [partial(_forest, name, fit) for name, fit in found.fits.items()]


def _forest(name: str, fit: Any, ax: Axes) -> Axes:
    """Draw the intervals of one regression."""
    drawn_on: Axes = fit.plot(ax)
    drawn_on.set_title(name, **_TITLE)
    drawn_on.tick_params(labelsize=7)
    return drawn_on


def _propensity(found: Any) -> list[Panel]:
    """Give the histogram of scores."""
    scores = found.propensity
    return [partial(draw_propensity, scores)] if scores.real.sum() > 0 else []


def draw_propensity(scores: Any, ax: Axes) -> Axes:
    """Draw the scores of both sides; where the origin cannot be told, both stand on the share of copies.

    Parameters
    ----------
    scores : Propensity
        Of a comparison.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes

    Notes
    -----
    Privacy: shows scores of real rows.
    """
    middle, width = (scores.edges[1:] + scores.edges[:-1]) / 2, float(np.diff(scores.edges)[0])
    ax.bar(middle, scores.real, width=width, label="confidential", **_REAL)
    ax.bar(middle, scores.copy, width=width, label="copies", **_COPY)
    ax.set_title(f"propensity by logit, ratio {scores.ratio('logit'):.3g} (a fresh sample: 1)", **_TITLE)
    ax.set_xlabel("chance to be a row of a copy", fontsize=8)
    ax.legend(fontsize=7, frameon=False)
    return ax


_KINDS: Final[dict[str, Callable[[Any], list[Panel]]]] = {
    "columns": _columns,
    "tables": _tables,
    "regressions": _regressions,
    "propensity": _propensity,
}
