"""The noised answers about a table: everything that was released of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pysynthdp.base.arrays import IntArray
from pysynthdp.curator.noised.integers import Frame
from pysynthdp.curator.noised.whitening import Whitening
from pysynthdp.privacy.noise.moment_budget import MomentBudget
from pysynthdp.privacy.noise.moment_scales import COUNT_UNIT
from pysynthdp.protection.noise.moments.margins import Margin

__all__ = ["Answers"]


@dataclass(frozen=True, slots=True, repr=False)
class Answers:
    """Everything that was released about a table.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    budget : MomentBudget
        The questions.
    entries : tuple of int64 arrays
        The noised answers in grid steps, in the questions' order.
    whitening : Whitening
        That the last stage used.
    n : float
        Rows: the public number, or the noisy one.
    snr : float
        Smallest eigenvalue that the first stage learned over its noise edge; infinite with one stage.
    blocks_of_numbers : tuple of int
        For each number the block of its own kinds; -1 for none.
    margins : mapping number -> Margin
        Noisy counts in ranges, of the numbers whose shape was asked for.
    tables : tuple of tuple of int
        For each block that counts the cells of a table, the levels of its columns, whose features are made
        from it; empty where there is no table.
    """

    frame: Frame
    budget: MomentBudget
    entries: tuple[IntArray, ...]
    whitening: Whitening
    n: float
    snr: float
    blocks_of_numbers: tuple[int, ...] = field(default=())
    margins: Mapping[int, Margin] = field(default_factory=dict)
    tables: tuple[tuple[int, ...], ...] = ()

    def of(self, name: str) -> IntArray | None:
        """Answer to the question of that name."""
        pairs = zip(self.budget.questions, self.entries, strict=False)  # histograms come last
        return next((entries for question, entries in pairs if question.name == name), None)

    @property
    def clipped(self) -> float | None:
        """Noisy share of rows that were clipped or have a changed cell; None where there is no number."""
        entries = self.of("clipped")
        return None if entries is None else float(entries[0]) / COUNT_UNIT / self.n

    @property
    def cost(self) -> Fraction:
        """Exact zCDP cost for one row."""
        return self.budget.total
