"""Rows that stand in for copies while the real table is still there: from the fitted parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.streams import NumpySampler
from pysynthdp.draw.machine import Charged, Drawing
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import CopyParameters, CopySource, DrawnStep, Fit, Key
from pysynthdp.privacy.ledger import Ledger

__all__ = ["STAND_IN_SEED", "from_fitted", "stand_ins"]

STAND_IN_SEED = 20_261_128  # of the stand-ins alone: no seed of a user's moves them, and they move no draw


def stand_ins(
    plan: SynthesisPlan, fit: Fit, *, rows: int, pieces: int, workers: int
) -> Iterator[tuple[int, Mapping[Key, AnyArray]]]:
    """Draw some pieces of stand-ins from the fitted parameters, block by block.

    Parameters
    ----------
    plan : SynthesisPlan
        Who is drawn from whom; of a protection that may learn from rows.
    fit : Fit
        Fitted steps.
    rows, pieces : int
        Rows of a piece, and how many pieces.
    workers : int
        Threads.

    Yields
    ------
    int, mapping key -> array
        The piece, and the parts of one block of it.

    Notes
    -----
    Privacy: no copy leaves; the account is of what leaves. A fit whose draws cost has no stand-ins, since it
    may not learn from rows.
    """
    drawing = Drawing(plan, from_fitted(fit), np.random.SeedSequence(STAND_IN_SEED), Charged(pieces, rows))
    for piece in range(pieces):
        for _, parts in drawing.blocks(piece, workers):
            yield piece, parts


def from_fitted(fit: Fit) -> Fit:
    """Give a fit whose copies all have the parameters as they were fitted."""
    return replace(fit, source=_Fitted(fit.source))


@dataclass(frozen=True, slots=True, repr=False)
class _Fitted:
    """A source of copies that leaves every step's parameters as they were fitted."""

    source: CopySource

    def parameters(
        self, steps: Sequence[DrawnStep], root: np.random.SeedSequence | None, copy: int
    ) -> Sequence[Any]:
        """Parameters of every piece: the fitted ones."""
        del root, copy
        return [step.params for step in steps]

    def sampler(self, source: np.random.Generator) -> NumpySampler:
        """Draw as copies do."""
        return self.source.sampler(source)

    def keeps_bounds(self, model: ColumnModel) -> bool:
        """As copies do."""
        return self.source.keeps_bounds(model)

    def sharing(self, parameters: CopyParameters | None) -> Self:
        """Nothing to choose."""
        del parameters
        return self

    @property
    def ledger(self) -> Ledger:
        """Of the source."""
        return self.source.ledger
