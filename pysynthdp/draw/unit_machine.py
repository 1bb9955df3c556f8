"""Draw units of several rows: units and first rows, then place after place, in blocks of units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.streams import RandomSource, stream
from pysynthdp.design.encode import BLOCK_ROWS
from pysynthdp.draw.block import BlockDraw
from pysynthdp.draw.machine import Charged, DrawnOnce, Machine, mapped
from pysynthdp.draw.tally import Tally
from pysynthdp.draw.unit_rows import Block, UnitRows, frame_of
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import CopyParameters, Fit, Key
from pysynthdp.plan.unit_plan import PlacePlan, UnitPlan

__all__ = ["UnitDrawing", "UnitMachine"]

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
        return pd.concat(list(self.frames(number, workers)), ignore_index=True)

    def frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw one copy as frames of consecutive blocks of units."""
        rows = 0
        for block in self._blocks(number, workers):
            yield frame_of(block, self.plan, first_row=rows)
            rows += len(block.unit)

    def _blocks(self, number: int, workers: int) -> Iterator[Block]:
        """Draw the blocks of one copy, in order."""
        self.charged.take(number)
        params = [self._parameters(fit, at, number) for at, fit in enumerate(self.tables)]
        slices = [
            slice(start, min(start + BLOCK_ROWS, self.n_syn)) for start in range(0, self.n_syn, BLOCK_ROWS)
        ]

        def work(index: int) -> Block:
            return self._block(number, index, slices[index], params)

        with one_blas_thread():
            for first in range(0, len(slices), 4 * workers):
                several = range(first, min(first + 4 * workers, len(slices)))
                yield from mapped(work, several, workers)

    def _parameters(self, fit: Fit, table: int, copy: int) -> Sequence[Any]:
        """Give the parameters of one table of one copy."""
        place = self.plan.places[table - 1].places[0] if table else 0
        return fit.source.parameters(fit.steps, self._root(place), copy)

    def _block(self, copy: int, index: int, units: slice, params: Sequence[Sequence[Any]]) -> Block:
        """Draw one block: units and first rows, then place after place."""
        n = units.stop - units.start
        first = self._parts(self.plan.first, self.tables[0], params[0], copy, index, 0, {}, n)
        rows = UnitRows.begun(self.plan, first, n, start=units.start)
        for table, own in enumerate(self.plan.places, start=1):
            for place in own.places:
                self._place(rows, own, place, table, params[table], copy, index)
        return rows.finished()

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
