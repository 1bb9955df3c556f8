"""A released parameter: its values, its privacy statement, and what it costs beside other releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.display import Cell, Printable, Table, number
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.statements.text import ENTRIES

__all__ = ["ParameterRelease"]


@dataclass(frozen=True, slots=True, repr=False)
class ParameterRelease(Printable):
    """A released parameter and what it cost.

    Parameters
    ----------
    estimates : array (copies,) or (copies, levels)
        A mean in the column's unit, or shares of its levels.
    labels : tuple of str
        What the columns of ``estimates`` are: the mean, or the names of the levels.
    sensitivity : float
        The largest change of the exact estimate when the records of one unit are replaced: of the mean in the
        column's unit; of shares the sum of absolute changes, or of two levels the change of either.
    privacy : PrivacyStatement
        Of all copies of this release; anything computed from them, such as records, costs nothing more.
    together : PrivacyStatement, optional
        Of this and all earlier releases on its account; None without an account.

    Notes
    -----
    Privacy: safe to publish. ``privacy`` speaks of this release alone: losses of other releases from the same
    table add to it, as ``together`` states for those on the account.

    Examples
    --------
    >>> import pandas as pd
    >>> from pysynthdp import CategoricalColumn, release_shares
    >>> table = pd.DataFrame({"sex": ["F"] * 60 + ["M"] * 40})
    >>> sex = CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
    >>> release = release_shares(table, sex, prior=1.0, how="laplace", epsilon=1.0)
    >>> release.labels, release.sensitivity, release.entry, release.privacy.verify().ok
    (('F', 'M'), 0.01, 'F9', True)
    """

    estimates: FloatArray
    labels: tuple[str, ...]
    sensitivity: float
    privacy: PrivacyStatement
    together: PrivacyStatement | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What all copies of this release cost."""
        return self.privacy.guarantee

    @property
    def status(self) -> Literal["none", "idealised", "implemented", "void"]:
        """Whether the guarantee is true of real-number arithmetic or of the code that drew."""
        return self.privacy.status

    @property
    def entry(self) -> str:
        """Entries of ``docs/formulas.md`` that give the price."""
        return self.privacy.columns[0].entry

    def to_table(self) -> Table:
        """One row a copy, below what it cost and for whom."""
        column = self.privacy.columns[0]
        facts: list[tuple[str, Cell]] = [
            *(fact for fact in self.privacy.to_table().facts if fact[0] != "Drawn so far"),
            (f"Sensitivity, one {self.privacy.unit.name}", self.sensitivity),
            ("Entry", f"{self.entry} ({column.mechanism}); see {ENTRIES}"),
        ]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (str(place), *(float(value) for value in row))
            for place, row in enumerate(self._by_copy(), start=1)
        )
        title = f"Released parameter: {column.method.partition(',')[0]} of {column.column}"
        return Table(title, ("copy", *self.labels), rows, tuple(facts), self._notes())

    def _by_copy(self) -> FloatArray:
        """Values as an array (copies, labels)."""
        return self.estimates.reshape(-1, len(self.labels))

    def _notes(self) -> tuple[str, ...]:
        """Say what the numbers cover."""
        notes = [
            note for note in self.privacy.to_table().notes if not note.startswith(("Not covered", "Entries"))
        ]
        if self.together is None:
            covered = (
                "This release alone; no account was given. Losses of other releases from the same table add "
                "to it: share one account=PrivacyAccount() among them."
            )
        else:
            covered = f"This release alone; {_with_others(self.together)}"
        return (f"Covered: {covered}", *notes)


def _with_others(together: PrivacyStatement) -> str:
    """State the sum on the account in one sentence."""
    if together.status == "none":
        return f"together with the others on its account there is no guarantee: {together.reason}."
    others = len(together.parts) - 1
    if not others:
        return "it is the first on its account."
    quoted = _quoted(together.points)
    return (
        f"together with the {number(others)} {'other' if others == 1 else 'others'} before it on the same "
        f"account: {together.guarantee.name}, {together.status}, {quoted}."
    )


def _quoted(points: Sequence[tuple[float, float]]) -> str:
    """Write epsilon at each delta."""
    return "; ".join(f"epsilon {number(epsilon)} at delta = {delta:g}" for delta, epsilon in points)
