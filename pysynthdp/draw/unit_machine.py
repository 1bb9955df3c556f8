"""Draw units of several rows: units and first rows, then place after place, in blocks of units."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.streams import RandomSource, stream
from pysynthdp.design.encode import BLOCK_ROWS
from pysynthdp.draw.block import BlockDraw
from pysynthdp.draw.calibrated import calibrated
from pysynthdp.draw.machine import Charged, DrawnOnce, Machine, mapped
from pysynthdp.draw.stand_ins import STAND_IN_SEED, from_fitted
from pysynthdp.draw.tally import Tally
from pysynthdp.draw.thinning import SPARE, shares_of_copy, thinned
from pysynthdp.draw.unit_rows import Block, UnitRows, frame_of
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import CopyParameters, Fit, Key
from pysynthdp.plan.unit_plan import PlacePlan, UnitPlan

__all__ = ["UnitDrawing", "UnitMachine", "unit_stand_ins"]

_THIN: Final = 5  # first key of the streams by which units are thinned
_PLACE: Final = 4  # first key of a place's streams; 0 to 2 are taken within a fit, 3 by nests


@dataclass(frozen=True, slots=True, repr=False)
class UnitMachine(Machine):
    """The plan of units, its fits and the one account of their draws.

    Parameters
    ----------
    tables : tuple of Fit
        To the table of units and first rows, and to those of further places; ``fit`` is what is said of all.

    Notes
    -----
    Privacy: as the fits. Nothing is drawn but through :meth:`start`.
    """

    tables: tuple[Fit, ...] = ()

    @property
    def held(self) -> Mapping[str, Any]:
        """Give the fits as they are stored."""
        return {"fits": (replace(self.fit, remarks=(), check=None), *self.tables)}

    def start(
        self, *, m: int, n_syn: int, rng: RandomSource = None, parameters: CopyParameters | None = None
    ) -> UnitDrawing:
        """Charge m copies of n_syn units to the account, then give what draws them.

        Notes
        -----
        Privacy: spends the budget where draws cost.
        """
        tables = tuple(replace(fit, source=fit.source.sharing(parameters)) for fit in self.tables)
        root, seeded = self.plan.protection.root(rng)
        self.account.charge(n_syn=int(n_syn), copies=int(m), seeded=seeded)
        plan = self.plan
        assert isinstance(plan, UnitPlan)  # noqa: S101 -- whoever makes the machine gives one
        whole = replace(self.fit, source=self.fit.source.sharing(parameters))
        return UnitDrawing(plan, whole, tables, root, Charged(int(m), int(n_syn)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        self._refuse_fork()
        fits = deepcopy((self.fit, self.tables), memo)
        return type(self)(self.plan, fits[0], deepcopy(self.account, memo), fits[1])

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse_fork()
        return type(self), (self.plan, self.fit, self.account, self.tables)


def unit_stand_ins(
    plan: UnitPlan, tables: Sequence[Fit], *, units: int, copies: int, workers: int
) -> list[pd.DataFrame]:
    """Draw whole units from the fitted parameters while the real ones are still there; no copy leaves.

    Raises
    ------
    PlanError
        Where drawing does.
    """
    root, fits = np.random.SeedSequence(STAND_IN_SEED), tuple(map(from_fitted, tables))
    drawing = UnitDrawing(plan, fits[0], fits, root, Charged(copies, units))
    return [drawing.copy(number, workers) for number in range(copies)]


@dataclass(frozen=True, slots=True, repr=False)
class UnitDrawing(DrawnOnce):
    """Copies of units that were charged; as :class:`~pysynthdp.draw.machine.Drawing`.

    Parameters
    ----------
    plan : UnitPlan
        Who is drawn from whom.
    fit : Fit
        What is said of all fits.
    tables : tuple of Fit
        Of units and first rows, and of each group of places.
    root : SeedSequence or None
        Of all streams.
    charged : Charged
        Copies that are left to draw, of as many units each.
    tally : Tally
        How often rows met the plans' rules at once.
    """

    plan: UnitPlan
    fit: Fit
    tables: tuple[Fit, ...]
    root: np.random.SeedSequence | None
    charged: Charged
    tally: Tally = field(default_factory=Tally)

    def copy(self, number: int, workers: int) -> pd.DataFrame:
        """Draw one whole copy, numbered from 0."""
        whole = pd.concat(list(self._frames(number, workers)), ignore_index=True)
        return calibrated(whole, self.plan.design, number + 1)

    def frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw one copy as frames of blocks of units; as a whole where its weights have totals."""
        if self.plan.design is not None and self.plan.design.drawn:
            yield self.copy(number, workers)
            return
        yield from self._frames(number, workers)

    def _frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw the frames of one copy, its weights as they are drawn."""
        rows, real = 0, self.tables[0].kept_columns
        for block in self._blocks(number, workers):
            yield frame_of(block, self.plan, first_row=rows, real=real)
            rows += len(block.unit)

    def _blocks(self, number: int, workers: int) -> Iterator[Block]:
        """Draw the blocks of one copy, in order."""
        self.charged.take(number)
        params = [self._parameters(fit, at, number) for at, fit in enumerate(self.tables)]
        slices = [
            slice(start, min(start + BLOCK_ROWS, self.n_syn)) for start in range(0, self.n_syn, BLOCK_ROWS)
        ]

        shares = shares_of_copy(self.plan, stream(self.root, _THIN, number))

        def work(index: int) -> Block:
            return self._block(number, index, slices[index], params, shares)

        with one_blas_thread():
            for first in range(0, len(slices), 4 * workers):
                several = range(first, min(first + 4 * workers, len(slices)))
                yield from mapped(work, several, workers)

    def _parameters(self, fit: Fit, table: int, copy: int) -> Sequence[Any]:
        """Give the parameters of one table of one copy."""
        place = self.plan.places[table - 1].places[0] if table else 0
        return fit.source.parameters(fit.steps, self._root(place), copy)

    def _block(
        self,
        copy: int,
        index: int,
        units: slice,
        params: Sequence[Sequence[Any]],
        shares: Mapping[str, FloatArray],
    ) -> Block:
        """Draw one block: units and first rows, then place after place."""
        wanted = units.stop - units.start
        n = math.ceil(wanted * SPARE) if shares else wanted
        kept = {key: values[units] for key, values in self.tables[0].kept.items()}
        first = self._parts(self.plan.first, self.tables[0], params[0], copy, index, 0, kept, n)
        rows = UnitRows.begun(self.plan, first, n, start=units.start)
        for table, own in enumerate(self.plan.places, start=1):
            for place in own.places:
                self._place(rows, own, place, table, params[table], copy, index)
        block = rows.finished()
        if n == wanted:
            return block
        return thinned(block, self.plan, shares, wanted, stream(self.root, _THIN, copy, index))

    def _place(
        self,
        rows: UnitRows,
        own: PlacePlan,
        place: int,
        table: int,
        params: Sequence[Any],
        copy: int,
        index: int,
    ) -> None:
        """Draw the rows at one place."""
        among = rows.further(place)
        if not among.size:
            return
        plan = own.drawn
        given = rows.given(plan, place, among)
        drawn = self._parts(plan, self.tables[table], params, copy, index, place, given, len(among))
        rows.put(place, among, drawn)

    def _parts(
        self,
        plan: SynthesisPlan,
        fit: Fit,
        params: Sequence[Any],
        copy: int,
        index: int,
        place: int,
        given: Mapping[Key, AnyArray],
        n: int,
    ) -> dict[Key, AnyArray]:
        """Draw the rows of one table in one block, each step by a stream of its own."""
        root = self._root(place)
        streams = (stream(root, 0, copy, step, index) for step in range(len(fit.steps)))
        samplers = tuple(map(fit.source.sampler, streams))
        own = replace(fit, kept=given)
        return BlockDraw(plan, own, params, samplers, self.tally).parts(slice(0, n))

    def _root(self, place: int) -> np.random.SeedSequence | None:
        """Give the root of a place's streams."""
        root = self.root
        if root is None or not place:
            return root
        return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, _PLACE, place))
