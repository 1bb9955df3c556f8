"""What a comparison of copies with the confidential table found: the worst first, no overall score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, overload

import pandas as pd

from pysynthdp.analysis.term_names import readable
from pysynthdp.base.display import Cell, Table
from pysynthdp.base.errors import SettingError
from pysynthdp.base.words import meant
from pysynthdp.evaluate.fits import Comparison
from pysynthdp.evaluate.internal import Internal, internal_frame
from pysynthdp.evaluate.pictures import drawn
from pysynthdp.evaluate.utility.copied import Alarm
from pysynthdp.evaluate.utility.foreseen import HEADING
from pysynthdp.evaluate.utility.propensity import Propensity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["UtilityComparison"]

_WAYS: Final = ("one-way", "two-way", "three-way")
_FAR: Final = 3.0  # times what a fresh sample scores
_FRESH: Final = "1"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class UtilityComparison(Internal):
    """Copies against the confidential table: INTERNAL, since all its numbers are of real records.

    Made by :func:`pysynthdp.compare`; print it for page one.

    Parameters
    ----------
    facts : tuple of (str, Cell)
        What was compared.
    alarms : tuple of Alarm
        What no synthesis does: records, rows or numbers of the table in a copy.
    frames : mapping of str to DataFrame
        All tables.
    propensity : Propensity
        Scores of the origin of rows.
    residuals : tuple of DataFrame
        Of the worst tables of two columns, cell by cell, in standard errors of a fresh sample.
    fits : mapping of str to Comparison
        Regressions by name.
    missing : tuple of str
        What was not computed, and why; it is in no other part.
    notes : tuple of str
        How to read it.

    Notes
    -----
    Privacy: real numbers. It is saved under ``INTERNAL_`` names and into no release folder.
    """

    facts: tuple[tuple[str, Cell], ...]
    alarms: tuple[Alarm, ...]
    frames: Mapping[str, pd.DataFrame]
    propensity: Propensity
    residuals: tuple[pd.DataFrame, ...]
    fits: Mapping[str, Comparison]
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give every table by its name; each is marked INTERNAL in its ``attrs``.

        Returns
        -------
        dict of str to DataFrame
            ``one-way``, ``two-way``, ``three-way``, ``propensity``, ``moments``, ``indicators``,
            ``subgroups``, ``associations``, ``missing``, ``rules``, ``structure``, ``regressions``,
            ``distributions``, ``held-out`` where there are held-out rows, and ``foreseen`` where intervals
            were foreseen.

        Notes
        -----
        Privacy: numbers of real rows.
        """
        return {name: internal_frame(frame.copy()) for name, frame in self.frames.items()}

    def worst(self, k: int = 5, *, of: str = "two-way") -> pd.DataFrame:
        """Give what is worst: alarms, then the worst of one table.

        Parameters
        ----------
        k : int
            Rows besides alarms.
        of : str
            Name of a table: ``"two-way"``, ``"one-way"``, ``"three-way"``, ``"subgroups"``, ``"moments"``,
            ``"indicators"``, ``"associations"``, ``"missing"`` or ``"regressions"``.

        Returns
        -------
        DataFrame
            What, where, the measure, its value, and that of a fresh sample.

        Raises
        ------
        SettingError
            If there is no such table.

        Notes
        -----
        Privacy: numbers of real rows.
        """
        if of not in _READ:
            raise SettingError(
                f"{of!r} is no table with a worst row",
                kind="setting",
                remedy=meant(of, _READ, f"tables are {', '.join(_READ)}"),
            )
        alarms = [("ALARM", ", ".join(one.columns), one.text, one.value, one.fresh) for one in self.alarms]
        rows = [*alarms, *list(_ranked(self.frames[of], of))[:k]]
        heads = ["what", "where", "measure", "value", "a fresh sample"]
        return internal_frame(pd.DataFrame(rows, columns=heads))

    @overload
    def plot(self, kind: str = ..., *, most: int = ..., ax: None = ...) -> Figure: ...

    @overload
    def plot(self, kind: str = ..., *, most: int = ..., ax: Axes) -> Axes: ...

    def plot(self, kind: str = "columns", *, most: int = 12, ax: Axes | None = None) -> Figure | Axes:
        """Draw; needs matplotlib (``pip install 'pysynthdp[plot]'``).

        Parameters
        ----------
        kind : {"columns", "tables", "regressions", "propensity"}
            Distributions of the columns, worst first, with spikes and missing kinds apart; where the worst
            tables of two columns differ; intervals of the regressions; or scores of the origin.
        most : int
            Panels.
        ax : Axes, optional
            Where to draw the first panel alone, the worst.

        Returns
        -------
        Figure or Axes
            The figure, whose ``axes`` can be changed; the axes where they are given.

        Raises
        ------
        SettingError
            If there is no such picture.

        Notes
        -----
        Privacy: shows real numbers; every picture says INTERNAL.
        """
        return drawn(self, kind, most, ax)

    def to_table(self) -> Table:
        """Build page one: alarms, then the worst of every kind."""
        rows = tuple(self._page())
        alarms: list[tuple[str, Cell]] = [("ALARM", one.text) for one in self.alarms]
        left_out = [("not computed", why) for why in self.missing]
        return Table(
            "INTERNAL: copies against the confidential table",
            ("what", "where", "measure", "value", "a fresh sample"),
            rows,
            facts=(*alarms, *self.facts, *left_out),
            notes=self.notes,
        )

    def _page(self) -> Iterator[tuple[Cell, ...]]:
        """Give the rows of page one."""
        for method in ("logit", "tree"):
            ratio, spread = self.propensity.ratio(method), self.propensity.spread(method)
            if ratio == ratio:  # noqa: PLR0124 -- not NaN
                yield (f"propensity by {method}", "all columns", "ratio", ratio, f"1 (sd {spread:.2g})")
        for name in _WAYS:
            frame = self.frames.get(name)
            if frame is not None and len(frame):
                far = int((frame["ratio"] > _FAR).sum())
                yield (f"{name} tables", f"{len(frame):,} tables", f"ratio above {_FAR:g}", far, None)
        shown = (("subgroups", 3), ("two-way", 3), ("one-way", 2), ("three-way", 1), ("moments", 2),
                 ("indicators", 2), ("associations", 1), ("missing", 1), ("regressions", 2))  # fmt: skip
        for name, count in shown:
            frame = self.frames.get(name)
            if frame is not None:
                yield from list(_ranked(frame, name))[:count]
        yield from self._counts()

    def _counts(self) -> Iterator[tuple[Cell, ...]]:
        """Give what is counted rather than ranked."""
        rules = self.frames["rules"]
        broken = rules[rules["copies"] > 0]
        if len(rules):
            yield ("rules", f"{len(rules)} rules", "broken in copies", len(broken), None)
        yield ("structure", "names, types, levels", "differences", len(self.frames["structure"]), None)
        yield from _foreseen(self.frames.get("foreseen", pd.DataFrame()).head(2))
        for row in self.frames.get("held-out", pd.DataFrame()).itertuples(index=False):
            yield ("held-out rows", str(row[0]), "ratio to the table's own", float(row[4]), _FRESH)


Row = tuple[Any, ...]


def _foreseen(frame: pd.DataFrame) -> Iterator[Row]:
    """Give the lowest coverages if the synthesis model held, with what so many runs leave open."""
    for row in frame.to_dict("records"):
        many = f"coverage of 95 % intervals in {row['runs']} runs"
        limits = f"0.95 (runs leave {row['coverage low']:.2g} to {row['coverage high']:.2g})"
        yield (HEADING, f"{row['model']}, {readable(row['term'])}", many, row["coverage"], limits)


def _of_tables(frame: pd.DataFrame) -> Iterator[Row]:
    """Rank tables of columns."""
    heads = [name for name in frame.columns if name.startswith("column")]
    for row in frame[frame["ratio"].notna()].to_dict("records"):
        yield (
            f"{_WAYS[len(heads) - 1]} table",
            " x ".join(str(row[head]) for head in heads),
            "ratio",
            row["ratio"],
            _FRESH,
        )


def _of_subgroups(frame: pd.DataFrame) -> Iterator[Row]:
    """Rank subgroups."""
    for row in frame[frame["ratio"].notna()].to_dict("records"):
        where = f"{row['column']} = {row['subgroup']}, worst beside {row['worst beside']}"
        yield ("subgroup", where, "ratio", row["ratio"], _FRESH)


def _by_difference(what: str, *heads: str) -> Any:
    """Rank rows by the size of their standardised difference."""

    def ranked(frame: pd.DataFrame) -> Iterator[Row]:
        known = frame[frame["std.diff"].notna()]
        order = known["std.diff"].abs().sort_values(ascending=False, kind="stable").index
        for row in known.loc[order].to_dict("records"):
            yield (
                what,
                ", ".join(str(row[head]) for head in heads),
                "std. difference",
                row["std.diff"],
                "0 (sd 1)",
            )

    return ranked


def _of_associations(frame: pd.DataFrame) -> Iterator[Row]:
    """Rank differences of correlations and Cramer's V."""
    for row in frame[frame["difference"].notna()].to_dict("records"):
        yield (
            "association",
            f"{row['column 1']}, {row['column 2']}",
            f"difference in {row['measure']}",
            row["difference"],
            None,
        )


_READ: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_WAYS, _of_tables),
    "subgroups": _of_subgroups,
    "moments": _by_difference("number", "column", "statistic"),
    "indicators": _by_difference("indicator", "by", "group", "statistic"),
    "associations": _of_associations,
    "missing": _by_difference("missing", "column", "kind"),
    "regressions": _by_difference("regression", "model", "term"),
}


def _ranked(frame: pd.DataFrame, name: str) -> Iterator[Row]:
    """Go through a table, the worst row first."""
    found: Iterator[Row] = _READ[name](frame)
    return found
