"""Draw synthetic parts block by block from a fit; the confidential table is long gone.

The one way to draw is :meth:`Machine.start`, which charges the account first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.streams import RandomSource, stream
from pysynthdp.design.encode import BLOCK_ROWS
from pysynthdp.design.parts import join, parts_of
from pysynthdp.draw.block import BlockDraw
from pysynthdp.draw.calibrated import calibrated
from pysynthdp.draw.tally import Tally
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import CopyParameters, Fit, Key
from pysynthdp.privacy.account import Account
from pysynthdp.schema import CategoricalColumn, NumericColumn
from pysynthdp.tags.release_tags import Nesting

__all__ = ["Charged", "Drawing", "DrawnOnce", "Draws", "Machine", "mapped", "serial_numbers"]


class Draws(Protocol):
    """Copies that were charged and can be drawn now."""

    @property
    def m(self) -> int:
        """Copies."""
        ...

    @property
    def n_syn(self) -> int:
        """Rows of each."""
        ...

    @property
    def fit(self) -> Fit:
        """Give the fit, or the first of several."""
        ...

    @property
    def nests(self) -> tuple[str, ...] | None:
        """For each copy, the imputed table that it comes from; None for one table."""
        ...

    @property
    def nesting(self) -> Nesting:
        """What a first stage of the copies was."""
        ...

    @property
    def tally(self) -> Tally:
        """How often rows met the plan's rules at once, of the copies that were drawn by now."""
        ...

    def copy(self, number: int, workers: int) -> pd.DataFrame:
        """Draw one whole copy, numbered from 0."""
        ...

    def frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw one copy as frames of consecutive blocks."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Machine:
    """A fit with its plan and the one account of its draws.

    Parameters
    ----------
    plan : SynthesisPlan
        Who is drawn from whom.
    fit : Fit
        Layout, fitted steps and the source of each copy's parameters.
    account : Account
        Charged before every draw.

    Raises
    ------
    PrivacyError
        When it is pickled or deep-copied while draws cost: a second account would miss the first one's draws.

    Notes
    -----
    Privacy: as the fit. Nothing is drawn but through :meth:`start`.
    """

    plan: SynthesisPlan
    fit: Fit
    account: Account

    @property
    def fits(self) -> tuple[Fit, ...]:
        """Give the fits: one, unless the table was imputed several times."""
        return (self.fit,)

    @property
    def held(self) -> Mapping[str, Any]:
        """Give the fits as they are stored, without what is for whoever fitted.

        A version without nests has no ``fits``.
        """
        fits = tuple(replace(fit, remarks=(), check=None) for fit in self.fits)
        return {"fit": fits[0]} if len(fits) == 1 else {"fits": fits}

    @property
    def imputed(self) -> int:
        """How many imputations of the table were fitted; 1 where it was not imputed."""
        return 1

    @property
    def rows(self) -> int:
        """Rows of a copy, where nobody says how many."""
        return self.fit.n

    def copies(self, m: int | None) -> int:
        """Give the number of copies to draw: the one asked for, or the default."""
        return self.plan.protection.copies(m)

    def start(
        self, *, m: int, n_syn: int, rng: RandomSource = None, parameters: CopyParameters | None = None
    ) -> Draws:
        """Charge m copies of n_syn rows to the account, then give what draws them.

        Raises
        ------
        PlanError
            If ``parameters`` does not apply.
        PrivacyError
            If the account refuses; nothing is drawn then.

        Notes
        -----
        Privacy: spends the budget where draws cost.
        """
        fit = replace(self.fit, source=self.fit.source.sharing(parameters))
        root, seeded = self.plan.protection.root(rng)
        self.account.charge(n_syn=int(n_syn), copies=int(m), seeded=seeded)
        return Drawing(self.plan, fit, root, Charged(int(m), int(n_syn)))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        self._refuse_fork()
        return type(self)(self.plan, deepcopy(self.fit, memo), deepcopy(self.account, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse_fork()
        return type(self), (self.plan, self.fit, self.account)

    def _refuse_fork(self) -> None:
        """Keep one account where draws cost."""
        if self.plan.protection.spends == "at each draw":
            raise PrivacyError(
                "a fit whose draws cost cannot be pickled or deep-copied: its account would be forked",
                kind="drawing",
                remedy="draw in this process and share the copies instead",
            )


class Charged:
    """What was charged: m copies of n_syn rows, each of which is taken once.

    Parameters
    ----------
    m, n_syn : int
        Copies, and rows of each.

    Notes
    -----
    Privacy: drawn again from fresh entropy, a copy would be another one, which nobody paid for.
    """

    __slots__ = ("_left", "_lock", "m", "n_syn")

    def __init__(self, m: int, n_syn: int) -> None:
        self.m, self.n_syn = m, n_syn
        self._left = set(range(m))
        self._lock = Lock()

    def take(self, number: int) -> None:
        """Take one copy, numbered from 0.

        Raises
        ------
        PlanError
            If it was taken before, or never charged.
        """
        with self._lock:
            if number not in self._left:
                raise PlanError(
                    (
                        f"{self.m} copies were charged, each for one drawing, and copy {number + 1} is "
                        "not or no longer among them"
                    ),
                    kind="drawing",
                    remedy="draw more from the fit",
                )
            self._left.remove(number)


class DrawnOnce:
    """Copies that were charged and stand in no nests: each is drawn once, so they cannot be duplicated."""

    __slots__ = ()
    charged: Charged

    @property
    def m(self) -> int:
        """Copies."""
        return self.charged.m

    @property
    def n_syn(self) -> int:
        """Rows of each."""
        return self.charged.n_syn

    @property
    def nests(self) -> None:
        """The copies stand in no nests."""
        return

    @property
    def nesting(self) -> Nesting:
        """There was no first stage."""
        return "none"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        raise PrivacyError(
            "copies that were charged once are drawn once", kind="drawing", remedy="draw anew from the fit"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        raise PrivacyError(
            "copies that were charged once are drawn once", kind="drawing", remedy="draw anew from the fit"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Drawing(DrawnOnce):
    """Copies that were charged and can be drawn now; only those, and each once.

    Parameters
    ----------
    plan : SynthesisPlan
        Who is drawn from whom.
    fit : Fit
        Fitted steps.
    root : SeedSequence or None
        Of all streams; None for entropy that nobody keeps.
    charged : Charged
        Copies that are left to draw.
    tally : Tally
        How often rows met the plan's rules at once.
    """

    plan: SynthesisPlan
    fit: Fit
    root: np.random.SeedSequence | None
    charged: Charged
    tally: Tally = field(default_factory=Tally)

    def copy(self, number: int, workers: int) -> pd.DataFrame:
        """Draw one whole copy, numbered from 0."""
        store = self._store(self.n_syn)
        for rows, parts in self.blocks(number, workers):
            for key, values in parts.items():
                store[key][rows] = values
        whole = self.frame(store, start=0, size=self.n_syn)
        return calibrated(whole, self.plan.design, number + 1)

    def frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw one copy as frames of consecutive blocks; as a whole first where its weights have totals."""
        if self.plan.design is not None and self.plan.design.drawn:
            whole = self.copy(number, workers)
            for start in range(0, self.n_syn, BLOCK_ROWS):
                yield whole.iloc[start : start + BLOCK_ROWS].reset_index(drop=True)
            return
        for where, parts in self.blocks(number, workers):
            yield self.frame(parts, start=where.start, size=where.stop - where.start)

    def _store(self, k: int) -> dict[Key, AnyArray]:
        """Allocate the parts of a copy."""
        made = (part for own in self.plan.derived for part in parts_of(self.plan.schema[own.column]))
        return {
            part.key: np.empty(k, dtype=np.float64 if part.holds_numbers else np.int16)
            for part in (*self.fit.layout.parts, *made)
        }

    def blocks(self, number: int, workers: int) -> Iterator[tuple[slice, dict[Key, AnyArray]]]:
        """Draw the blocks of one copy, in order."""
        self.charged.take(number)
        params = self.fit.source.parameters(self.fit.steps, self.root, number)
        k = self.n_syn
        slices = [slice(start, min(start + BLOCK_ROWS, k)) for start in range(0, k, BLOCK_ROWS)]

        def work(index: int) -> dict[Key, AnyArray]:
            return self._block(number, index, params).parts(slices[index])

        with one_blas_thread():
            for first in range(0, len(slices), 4 * workers):
                several = range(first, min(first + 4 * workers, len(slices)))
                yield from zip((slices[i] for i in several), mapped(work, several, workers), strict=True)

    def _block(self, copy: int, index: int, params: Sequence[Any]) -> BlockDraw:
        """Say how one block is drawn: each step by a stream of its own."""
        streams = (stream(self.root, 0, copy, number, index) for number in range(len(self.fit.steps)))
        samplers = tuple(map(self.fit.source.sampler, streams))
        return BlockDraw(self.plan, self.fit, params, samplers, self.tally)

    def frame(self, parts: dict[Key, AnyArray], *, start: int, size: int) -> pd.DataFrame:
        """Put parts together as rows ``start`` and on, in the table's own column order; empties ``parts``."""
        columns: dict[str, pd.Series[Any]] = {}
        for column in self.plan.schema:
            own = {key: parts.pop(key) for key in list(parts) if key[0] == column.name}
            if column.name in self.plan.serials:
                columns[column.name] = serial_numbers(column, start, size)
            elif column.name in self.plan.keep:
                real = self.fit.kept_columns[column.name].iloc[start : start + size]
                columns[column.name] = real.reset_index(drop=True)
            else:
                columns[column.name] = join(own, column)
        return pd.DataFrame(columns, copy=False)


def mapped(work: Callable[[int], Any], items: range, workers: int) -> list[Any]:
    """Evaluate in threads when there is more than one worker."""
    if workers == 1 or len(items) == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def serial_numbers(column: NumericColumn | CategoricalColumn, start: int, size: int) -> pd.Series[Any]:
    """Count rows from 1 in the column's type and form, in place of an identifier."""
    numbers = pd.Series(np.arange(start + 1, start + size + 1, dtype=np.int64))
    if pd.api.types.is_numeric_dtype(column.dtype):
        plain = getattr(column.dtype, "numpy_dtype", column.dtype)
        if plain.kind in "iu" and np.iinfo(plain).max < start + size:
            raise PlanError(
                f"{column.name}: {column.dtype} cannot count so many rows",
                column=column.name,
                kind="drawing",
                remedy="make it int64 or drop it",
            )
        return numbers.astype(column.dtype)
    text = _in_form(numbers.astype(str), getattr(column, "form", None))
    return text.astype("category" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype)


def _in_form(numbers: pd.Series[Any], form: str | None) -> pd.Series[Any]:
    """Write numbers in place of the last zeros of a form, and as wide as those."""
    if form is None:
        return numbers
    end = form.rindex("0") + 1
    before = form[:end].rstrip("0")
    return before + numbers.str.zfill(end - len(before)) + form[end:]
