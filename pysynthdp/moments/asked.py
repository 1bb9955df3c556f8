"""A question about the rows of a table, as the curator gets it."""

from __future__ import annotations

from dataclasses import dataclass

from pysynthdp._typing import FloatArray
from pysynthdp.moments.integers import Frame
from pysynthdp.moments.whitening import Whitening
from pysynthdp.privacy.moment_budget import Question

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """A question as the curator gets it.

    Parameters
    ----------
    question : Question
        What is asked, with bound and scale.
    frame : Frame
        Where features lie.
    whitening : Whitening
        To be applied to the numbers first.
    ranges : tuple of (int, array)
        For histograms: the place of each number, and its ranges' edges in units of the hint.
    """

    question: Question
    frame: Frame
    whitening: Whitening
    ranges: tuple[tuple[int, FloatArray], ...] = ()

    @property
    def size(self) -> int:
        """Numbers in the answer."""
        if self.question.counts:
            return 1
        if self.question.crossed:
            return len(self.frame.released[0])
        return sum(len(edges) - 1 for _, edges in self.ranges)
