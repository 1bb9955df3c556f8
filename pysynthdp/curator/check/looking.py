"""Look at rows drawn from a fit while the real ones are still there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import FitError
from pysynthdp.curator.check.features import MOST_PLAIN, CheckedFeatures, checked_features
from pysynthdp.curator.check.findings import findings_of
from pysynthdp.curator.check.near import NearFunctions, near_functions
from pysynthdp.curator.check.scores import Scores, residual_columns, scored
from pysynthdp.curator.check.sums import CheckSums, block_sums
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.checked import FitCheck
from pysynthdp.plan.fit import Fit, StandIns

__all__ = ["check_fit"]

LEAST_ROWS = 50  # fewer tell too little of their own errors
MOST_ROWS = 50_000  # real rows, and as many stand-ins, that are looked at
PIECES = 4  # of stand-ins, each as long as the table, but for wide tables, whose draws cost the most:
MANY = 1_500  # features, from which on two pieces must do: each holds four sums of every pair
MOST_CELLS = 2_500_000  # rows of all pieces times features
MOST_CROSSED = 80  # plain features, above which no triple products are taken


def check_fit(
    plan: SynthesisPlan, fit: Fit, rows: EncodedRows, stand_ins: StandIns, *, workers: int
) -> FitCheck | None:
    """Compare stand-ins with real rows by sums over both.

    Parameters
    ----------
    plan : SynthesisPlan
        What was fitted.
    fit : Fit
        The finished fit.
    rows : EncodedRows
        The real table as models saw it; of more than 50,000 rows every s-th.
    stand_ins : callable
        Draws rows from the fit.
    workers : int
        Threads.

    Returns
    -------
    FitCheck or None
        None for fewer than 50 rows, or where a model cannot draw, which drawing says by itself.

    Notes
    -----
    Privacy: reads real rows; never under a guarantee.
    """
    n = rows.table.n
    features = checked_features(rows.layout, rows.table)
    if n < LEAST_ROWS or not features.all:
        return None
    every = max(1, n // MOST_ROWS)
    with one_blas_thread():
        centre, residual, real = _real_sums(features, rows, every)
        near = near_functions(features, rows, centre, real, every)
        look = _Look(features, centre, residual, near)
        pieces = PIECES if len(features.all) < MANY else 2
        most = min(MOST_ROWS, max(MOST_CELLS // len(features.all), PIECES * LEAST_ROWS))
        size = n if plan.keep else min(n, most // pieces)
        try:
            for piece, parts in stand_ins(plan, fit, rows=size, pieces=pieces, workers=workers):
                look.take(piece, features.of(features.encoded(parts)))
        except FitError:
            return None
    scores = scored(features, real, look.pieces)
    found = findings_of(plan, features, scores, near, near.wider(look.counts))
    drawn = int(sum(piece.n for piece in look.pieces))
    comparisons = sum(each.tests for each in scores)
    return FitCheck(found, int(real.n), drawn, comparisons, tuple(_not_looked_at(features, scores)))


def _not_looked_at(features: CheckedFeatures, scores: Sequence[Scores]) -> Iterator[str]:
    """Name what a wide or short table is not compared in."""
    plain, owners = len(features.plain), len(set(features.owner.tolist()))
    if plain > MOST_CROSSED:
        yield f"products of columns: there are more than {MOST_CROSSED} numbers and levels"
    if plain > MOST_PLAIN:
        yield f"distributions within numbers: there are more than {MOST_PLAIN} numbers and levels"
    if owners > 1 and not any(each.tests for each in scores if each.what == "partial"):
        yield "slopes on all other columns together: rows are too few, or numbers and levels too many"


def _real_sums(
    features: CheckedFeatures, rows: EncodedRows, every: int
) -> tuple[FloatArray, FloatArray | None, CheckSums]:
    """Means, the columns that make residuals, and all sums of the real rows."""
    n, first = rows.fold(
        lambda block: (np.asarray(float(len(block.X))), features.of(block.X).sum(axis=0)), every=every
    )
    centre, p = first / n, len(features.plain)
    residual = None
    if p <= MOST_CROSSED:
        plain = rows.fold(lambda block: block_sums(features.of(block.X), centre, None), every=every)
        residual = residual_columns(CheckSums.of(plain), p)
    sums = rows.fold(lambda block: block_sums(features.of(block.X), centre, residual), every=every)
    return centre, residual, CheckSums.of(sums)


class _Look:
    """Sums over pieces of stand-ins, as they come."""

    def __init__(
        self,
        features: CheckedFeatures,
        centre: FloatArray,
        residual: FloatArray | None,
        near: NearFunctions,
    ) -> None:
        self._centre, self._residual, self._near = centre, residual, near
        self._pieces: dict[int, CheckSums] = {}
        self.counts = near.counts(np.zeros((0, len(features.all))))

    def take(self, piece: int, Z: FloatArray) -> None:
        """Add a block."""
        new = CheckSums.of(block_sums(Z, self._centre, self._residual))
        self._pieces[piece] = self._pieces[piece] + new if piece in self._pieces else new
        self.counts = self.counts + self._near.counts(Z - self._centre)

    @property
    def pieces(self) -> list[CheckSums]:
        """Sums of each piece."""
        return list(self._pieces.values())
