"""Fits to several imputations of one table: copies in nests, one nest an imputed table."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from pysynthdp.base.streams import RandomSource
from pysynthdp.draw.machine import Charged, Drawing, Machine
from pysynthdp.draw.tally import Tally
from pysynthdp.plan.fit import CopyParameters, Fit
from pysynthdp.tags.release_tags import Nesting

__all__ = ["NestedDrawing", "NestedMachine", "nest_root"]

_NEST = 3  # first key of a nest's streams; 0 to 2 are taken within a fit


@dataclass(frozen=True, slots=True, repr=False)
class NestedMachine(Machine):
    """One plan, a fit of it to each imputed table, and the one account of all their draws.

    Parameters
    ----------
    others : tuple of Fit
        To the second imputed table and on; ``fit`` is to the first.

    Notes
    -----
    Privacy: as the fits. Nothing is drawn but through :meth:`start`.
    """

    others: tuple[Fit, ...] = ()

    @property
    def fits(self) -> tuple[Fit, ...]:
        """Give the fits, one an imputed table."""
        return (self.fit, *self.others)

    @property
    def imputed(self) -> int:
        """As many imputations as fits."""
        return len(self.fits)

    def start(
        self, *, m: int, n_syn: int, rng: RandomSource = None, parameters: CopyParameters | None = None
    ) -> NestedDrawing:
        """Charge m copies of each imputed table to the account, then give what draws them.

        Notes
        -----
        Privacy: spends the budget where draws cost.
        """
        fits = [replace(fit, source=fit.source.sharing(parameters)) for fit in self.fits]
        root, seeded = self.plan.protection.root(rng)
        self.account.charge(n_syn=int(n_syn), copies=int(m) * len(fits), seeded=seeded)
        tally = Tally()
        return NestedDrawing(
            tuple(
                Drawing(self.plan, fit, nest_root(root, nest), Charged(int(m), int(n_syn)), tally)
                for nest, fit in enumerate(fits)
            )
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        self._refuse_fork()
        fits = deepcopy((self.fit, self.others), memo)
        return type(self)(self.plan, fits[0], deepcopy(self.account, memo), fits[1])

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse_fork()
        return type(self), (self.plan, self.fit, self.account, self.others)


def nest_root(root: np.random.SeedSequence | None, nest: int) -> np.random.SeedSequence | None:
    """Give the root of a nest's streams: copy i of a nest is the same whatever is drawn besides."""
    if root is None:
        return None
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, _NEST, nest))


@dataclass(frozen=True, slots=True, repr=False)
class NestedDrawing:
    """Copies of all nests that were charged, nest by nest; as :class:`~pysynthdp.draw.machine.Drawing`.

    Parameters
    ----------
    parts : tuple of Drawing
        One a nest, with as many copies each.
    """

    parts: tuple[Drawing, ...]

    @property
    def m(self) -> int:
        """Copies of all nests."""
        return sum(part.m for part in self.parts)

    @property
    def n_syn(self) -> int:
        """Rows of each."""
        return self.parts[0].n_syn

    @property
    def fit(self) -> Fit:
        """The fit to the first imputed table."""
        return self.parts[0].fit

    @property
    def tally(self) -> Tally:
        """Of all nests together."""
        return self.parts[0].tally

    @property
    def nests(self) -> tuple[str, ...] | None:
        """For each copy, the number of its imputed table."""
        return tuple(str(nest) for nest, part in enumerate(self.parts, start=1) for _ in range(part.m))

    @property
    def nesting(self) -> Nesting:
        """The first stage completed the table."""
        return "imputed"

    def copy(self, number: int, workers: int) -> pd.DataFrame:
        """Draw one whole copy, numbered from 0 through all nests."""
        nest, own = divmod(number, self.parts[0].m)
        return self.parts[nest].copy(own, workers)

    def frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw one copy as frames of consecutive blocks."""
        nest, own = divmod(number, self.parts[0].m)
        return self.parts[nest].frames(own, workers)
