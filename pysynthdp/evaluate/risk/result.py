"""What an evaluation of risk found: tables, alarms, and what could not be computed with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from pysynthdp.base.display import Cell, Table
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Words
from pysynthdp.evaluate.internal import Internal, internal_frame
from pysynthdp.evaluate.pictures.risk import by_keys, trade_off
from pysynthdp.evaluate.risk.wording import SHADOWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DisclosureRisk"]

_FIRST: Final = 8  # rows on page one
_ALL_COPIES: Final = "any copy"
_RISKS: Final = (  # table, measure, its column, baseline without a control, and what that is
    ("identity", "RepU", "RepU", "", "none"),
    ("attribute", "DiSCO", "DiSCO", "margin", "keys that tell nothing"),
    ("inference", "attribute inference", "attack", "naive", "guess without keys"),
    ("singling_out", "singling out", "attack", "", "none"),
)
_WORST: Final = ("measure", "keys", "target", "value", "baseline", "beside", "above", "low", "high")


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class DisclosureRisk(Internal):
    """What an intruder could learn from copies of a confidential table; INTERNAL.

    Parameters
    ----------
    facts : tuple of (label, value)
        What was held against what.
    alarms : tuple of str
        Checks that failed, a sentence each; none is no proof of safety.
    not_computed : tuple of (measure, reason)
        What could not be measured, and is in no table.
    notes : tuple of str
        What a reader should know.
    found : mapping of str to DataFrame
        The tables.
    control : {"holdout", "refits", "none"}
        Against whom attacks are held.

    Notes
    -----
    Privacy: numbers of real records, for whoever holds them. It says INTERNAL in print, file names and the
    ``attrs`` of its tables, and is not saved into a release folder.
    """

    facts: tuple[tuple[str, Cell], ...]
    alarms: tuple[str, ...]
    not_computed: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    found: Mapping[str, pd.DataFrame]
    control: str
    _limit: str = field(default="", repr=False)

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Give all tables by name: identity, attribute, matches and so on."""
        reasons = pd.DataFrame(self.not_computed, columns=["measure", "reason"])
        alarms = pd.DataFrame({"alarm": list(self.alarms)})
        every = {"worst": self.worst(10_000), **self.found, "alarms": alarms, "not_computed": reasons}
        return {name: internal_frame(frame.copy()) for name, frame in every.items()}

    def table(self, measure: str) -> pd.DataFrame:
        """Give the rows of one measure or one table: ``"RepU"``, ``"DiSCO"``, ``"matches"``.

        Parameters
        ----------
        measure : str
            A measure of identity or attribute disclosure, or the name of a table.

        Returns
        -------
        DataFrame
            Its rows; of a measure over all copies together and for each, beside its control.

        Raises
        ------
        FitError
            When there is no such table; the message says why it was not computed.
        """
        tables = self.tables()
        if measure in tables:
            return tables[measure]
        for name in ("identity", "attribute"):
            frame = tables.get(name)
            if frame is not None and measure in frame.columns:
                beside = ["control", "above", "low", "high"] if measure in ("RepU", "DiSCO") else []
                shown = [each for each in ("keys", "target", "of") if each in frame.columns]
                return internal_frame(frame[[*shown, measure, *beside]].copy())
        reason = dict(self.not_computed).get(measure)
        known = ", ".join(tables)
        what = f"there is no table '{measure}'" if reason is None else f"{measure} was not computed: {reason}"
        raise FitError(what, kind="setting", remedy=None if reason else f"name a measure, or one of {known}")

    def worst(self, many: int = 5) -> pd.DataFrame:
        """Give the risks that lie farthest above their baselines, in per cent.

        Parameters
        ----------
        many : int
            Number of rows.

        Returns
        -------
        DataFrame
            ``value`` over all copies together, its ``baseline`` and what that is (``beside``), the
            difference, and 95 % limits where the baseline is a control. Measures without a baseline are last.
        """
        rows = pd.concat([self._risks(*each) for each in _RISKS], ignore_index=True)
        ordered = rows.sort_values(["above", "value"], ascending=False, na_position="last", kind="stable")
        return internal_frame(ordered.head(many).reset_index(drop=True))

    def _risks(self, table: str, measure: str, value: str, free: str, free_is: str) -> pd.DataFrame:
        """Give one measure over all copies beside its control, or beside what a guess without keys gives."""
        frame = self.found.get(table)
        if frame is None or frame.empty:
            return pd.DataFrame(columns=list(_WORST))
        whole = frame[frame["of"] == _ALL_COPIES] if "of" in frame else frame
        nothing = pd.Series(np.nan, index=whole.index)
        alone = bool(whole["control"].isna().all())
        base = whole.get(free, nothing) if alone else whole["control"]
        differences = "above" in whole
        columns = {
            "measure": measure,
            "keys": whole["keys"],
            "target": whole.get("target", ""),
            "value": whole[value],
            "baseline": base,
            "beside": free_is if alone else "people never used",
            "above": whole[value] - base,
            "low": whole["low"] if differences else nothing,
            "high": whole["high"] if differences else nothing,
        }
        return pd.DataFrame(columns, columns=list(_WORST))

    def to_table(self) -> Table:
        """Build page one: what failed, the worst risks, what could not be computed."""
        worst = self.worst(_FIRST)
        shown = worst.drop(columns=["low", "high"])
        rows: tuple[tuple[Cell, ...], ...] = tuple(tuple(row) for row in shown.to_numpy(object).tolist())
        failed = ("checks failed", len(self.alarms) or "none, which is no proof of safety")
        notes = (
            *(Words("FAILS: {each}.", each=each) for each in self.alarms),
            *((self._limit,) if self._limit else ()),
            *(
                Words("Not computed: {name}: {reason}.", name=name, reason=why)
                for name, why in self.not_computed
            ),
            *self.notes,
        )
        columns = ("measure", "keys", "target", "value %", "baseline %", "baseline is", "above")
        return Table("INTERNAL: disclosure risk", columns, rows, (*self.facts, failed), notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the risks of every key set beside their baselines; needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.

        Returns
        -------
        Axes
            Readable in grey.
        """
        return by_keys(self.worst(10_000), ax)

    def plot_trade_off(self, ax: Axes | None = None) -> Axes:
        """Draw true against false positives: of the membership attack, and what the guarantee allows.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.

        Returns
        -------
        Axes
            Readable in grey.

        Raises
        ------
        FitError
            When there is neither a guarantee nor a membership attack.
        """
        curve, measured = self.found.get("trade_off"), self.found.get("membership_curve")
        if curve is None and measured is None:
            what = "there is neither a guarantee nor a membership attack to draw"
            raise FitError(what, kind="setting", remedy=Words("ask for it with {how}", how=SHADOWS))
        return trade_off(curve, measured, ax)
