"""Draw synthetic parts block by block from a fit; the confidential table is long gone.

The one way to draw is :meth:`Machine.start`, which charges the account first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.streams import NumpySampler, RandomSource, stream
from pysynthdp.design.encode import BLOCK_ROWS, Layout
from pysynthdp.design.parts import Part, join, parts_of, settle
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.derived import Derived, derived_parts
from pysynthdp.plan.fit import CopyParameters, DrawnStep, Fit, Key
from pysynthdp.privacy.account import Account
from pysynthdp.schema import CategoricalColumn, NumericColumn

__all__ = ["Charged", "Drawing", "Draws", "Machine", "serial_numbers"]

_FEW_AGAIN = 20  # fewer than one row in so many that are drawn again is few


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


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
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
    """

    plan: SynthesisPlan
    fit: Fit
    root: np.random.SeedSequence | None
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

    def copy(self, number: int, workers: int) -> pd.DataFrame:
        """Draw one whole copy, numbered from 0."""
        store = self._store(self.n_syn)
        for rows, parts in self.blocks(number, workers):
            for key, values in parts.items():
                store[key][rows] = values
        return self.frame(store, start=0, size=self.n_syn)

    def frames(self, number: int, workers: int) -> Iterator[pd.DataFrame]:
        """Draw one copy as frames of consecutive blocks."""
        for where, parts in self.blocks(number, workers):
            yield self.frame(parts, start=where.start, size=where.stop - where.start)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        raise PrivacyError(
            "copies that were charged once are drawn once", kind="drawing", remedy="draw anew from the fit"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        raise PrivacyError(
            "copies that were charged once are drawn once", kind="drawing", remedy="draw anew from the fit"
        )

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
            return self._block(number, index, slices[index], params)

        with one_blas_thread():
            for first in range(0, len(slices), 4 * workers):
                several = range(first, min(first + 4 * workers, len(slices)))
                yield from zip((slices[i] for i in several), _map(work, several, workers), strict=True)

    def _block(self, copy: int, index: int, rows: slice, params: Sequence[Any]) -> dict[Key, AnyArray]:
        """Draw one block, step by step, each new part encoded once."""
        layout, starts = self.fit.layout, self.fit.layout.starts
        X = layout.empty(rows.stop - rows.start)
        drawn: dict[Key, AnyArray] = {key: values[rows] for key, values in self.fit.kept.items()}
        for part in layout.parts:
            if part.key in drawn:
                _encode(layout, X, part, starts[part.key], drawn)
        left = self._derive(self.plan.derived, X, drawn)
        for number, step in enumerate(self.fit.steps):
            sampler = self.fit.source.sampler(stream(self.root, 0, copy, number, index))
            for part, values in zip(
                step.targets, self._values(step, params[number], X, sampler, drawn), strict=True
            ):
                drawn[part.key] = self._typed(values, part, step.model)
                _encode(layout, X, part, starts[part.key], drawn)
            left = self._derive(left, X, drawn)
        return drawn

    def _derive(
        self, derived: Sequence[Derived], X: FloatArray, drawn: dict[Key, AnyArray]
    ) -> tuple[Derived, ...]:
        """Compute the columns whose arguments are all there, in order; return those that wait for more."""
        layout, starts, schema = self.fit.layout, self.fit.layout.starts, self.plan.schema
        left = []
        for own in derived:
            needed = (part.key for name in own.given for part in parts_of(schema[name]))
            if not drawn.keys() >= {*needed}:
                left.append(own)
                continue
            drawn.update(derived_parts(own, schema, drawn))
            for part in parts_of(schema[own.column]):
                if part.key in starts:
                    _encode(layout, X, part, starts[part.key], drawn)
        return tuple(left)

    def _values(
        self,
        step: DrawnStep,
        params: Any,
        X: FloatArray,
        sampler: NumpySampler,
        drawn: Mapping[Key, AnyArray],
    ) -> list[FloatArray]:
        """Draw a step's parts; a partial value only where its kind says that there is one."""
        if step.within is not None:
            return self._inside(step, params, X, sampler, drawn)
        target = step.targets[0]
        if not target.partial:
            values = step.draw(params, X, sampler)
            if len(step.targets) > 1:
                return list(values.T)
            return [_gated(step, values, params, X, sampler, drawn)]
        present = drawn[target.column, "kind"] == 0
        there = X.T[:, present].T
        earlier = {key: drawn[key][present] for key in _looked_at(step) if key in drawn}
        values = np.zeros(len(X))
        own = step.draw(params, there, sampler)
        values[present] = _gated(step, own, params, there, sampler, earlier)
        return [values]

    def _inside(
        self,
        step: DrawnStep,
        params: Any,
        X: FloatArray,
        sampler: NumpySampler,
        drawn: Mapping[Key, AnyArray],
    ) -> list[FloatArray]:
        """Draw the rows of each group by the group's own model."""
        group = step.within.of(drawn) if step.within is not None else np.zeros(len(X), dtype=np.int64)
        values = [np.zeros(len(X)) for _ in step.targets]
        order = np.argsort(group, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            number = int(group[rows[0]])
            inner, own = step.inside[number], None if params is None else params[number]
            earlier = {key: drawn[key][rows] for key in _looked_at(inner) if key in drawn}
            found = self._values(inner, own, X.T[:, rows].T, sampler, earlier)
            for whole, part in zip(values, found, strict=True):
                whole[rows] = part
        return values

    def _typed(self, values: FloatArray, part: Part, model: ColumnModel) -> AnyArray:
        """Write level codes as int16; round numbers, and bound them where the source of the copies does.

        Records' own values stay as they are: a digit of few records is not among the column's decimals.
        """
        if not part.holds_numbers:
            return values.astype(np.int16)
        if getattr(model, "real_values", False):
            return values
        column = self.plan.schema[part.column]
        if not isinstance(column, NumericColumn):
            return values
        if not self.fit.source.keeps_bounds(model):
            column = replace(column, lower=None, upper=None)
        return settle(np.ascontiguousarray(values), column)

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


def _gated(
    step: DrawnStep,
    values: FloatArray,
    params: Any,
    X: FloatArray,
    sampler: NumpySampler,
    drawn: Mapping[Key, AnyArray],
) -> FloatArray:
    """Draw again what never occurs together with what was drawn before.

    Few rows are drawn independently of each other: to order them costs more than it evens.
    """
    if step.gates is None:
        return values

    def again(odd: IntArray) -> FloatArray:
        few = len(odd) * _FEW_AGAIN < len(X)
        return step.draw(params, X.T[:, odd].T, NumpySampler(sampler.generator) if few else sampler)

    return step.gates.mended(values, drawn, again)


def _looked_at(step: DrawnStep) -> set[Key]:
    """Parts that drawing a step looks at beside its features: its kind, and what shuts levels out."""
    earlier = () if step.gates is None else step.gates.earlier
    return {(step.targets[0].column, "kind"), *earlier, *((column, "kind") for column, _ in earlier)}


def _encode(layout: Layout, X: FloatArray, part: Part, start: int, drawn: Mapping[Key, AnyArray]) -> None:
    """Write a drawn part's features into X."""
    kind = drawn[part.column, "kind"] if part.partial else None
    layout.write(X, part, start, drawn[part.key], kind)


def _map(work: Callable[[int], Any], items: range, workers: int) -> list[Any]:
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
