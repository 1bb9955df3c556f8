"""Draw synthetic parts block by block from fitted parameters; the confidential table is long gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp._blas import one_blas_thread
from pysynthdp._random import BalancedSampler, NumpySampler, stream
from pysynthdp._typing import AnyArray, FloatArray
from pysynthdp.design.encode import Layout, Scale, StepDesign
from pysynthdp.design.parts import Part, join, settle
from pysynthdp.errors import PlanError
from pysynthdp.models.base import ColumnModel
from pysynthdp.moments.state import CopyParameters, MomentState
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.noised import bends
from pysynthdp.privacy.exact_sampler import ExactSampler
from pysynthdp.schema import CategoricalColumn, NumericColumn

__all__ = ["DrawnStep", "Machine", "serial_numbers"]

BLOCK_ROWS = 16_384  # canonical: streams are keyed by block, so it is not a setting
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class DrawnStep:
    """A step that can draw.

    Parameters
    ----------
    targets : tuple of Part
        What it fills.
    model : ColumnModel
        Settings.
    design : StepDesign
        Its features.
    scale : Scale
        Of the target, where the model was fitted in scaled units.
    params : object
        Fitted parameters; None when the target was there in no row.
    """

    targets: tuple[Part, ...]
    model: ColumnModel
    design: StepDesign
    scale: Scale
    params: Any

    def draw(self, params: Any, X: FloatArray, sampler: NumpySampler) -> FloatArray:
        """Draw one value for each row of the wide X; (rows, targets) for a joint model."""
        if params is None or not len(X):
            return np.full(len(X), self.scale.centre)
        values = self.model.draw(params, self.design.take(X), sampler)
        if self.scale != Scale():
            values *= self.scale.width
            values += self.scale.centre
        return values


@dataclass(frozen=True, slots=True, repr=False)
class Machine:
    """Everything that drawing needs: plan, layout, fitted steps and the columns kept real.

    Parameters
    ----------
    plan : SynthesisPlan
        Who is drawn from whom.
    layout : Layout
        Where features lie.
    steps : tuple of DrawnStep
        In drawing order.
    kept : mapping key -> array (n_org,)
        Parts of the columns that are released real.
    kept_columns : mapping column -> Series
        Those columns themselves, in the rows' order.
    noised : MomentState, optional
        Noisy moments that each copy's parameters are redrawn from.
    redraw : bool
        Whether they are; else all copies share the one fit.
    """

    plan: SynthesisPlan
    layout: Layout
    steps: tuple[DrawnStep, ...]
    kept: Mapping[Key, AnyArray]
    kept_columns: Mapping[str, pd.Series[Any]]
    noised: MomentState | None = None
    redraw: bool = True

    def parameters(self, root: np.random.SeedSequence | None, copy: int) -> list[Any]:
        """Parameters of one copy: the fitted ones, a posterior draw of each step's own, or a noisy refit."""
        if self.noised is not None:
            mode: CopyParameters = "drawn" if self.redraw else "fitted"
            return self.noised.parameters(copy, stream(root, 1, copy, 0), mode)
        if not self.plan.proper:
            return [step.params for step in self.steps]
        return [
            None if step.params is None else step.model.redraw(step.params, stream(root, 1, copy, index))
            for index, step in enumerate(self.steps)
        ]

    def copy(self, root: np.random.SeedSequence | None, copy: int, k: int, workers: int) -> pd.DataFrame:
        """Draw one whole copy."""
        store = self._store(k)
        for rows, parts in self.blocks(root, copy, k, workers):
            for key, values in parts.items():
                store[key][rows] = values
        return self.frame(store, start=0, size=k)

    def _store(self, k: int) -> dict[Key, AnyArray]:
        """Allocate the parts of a copy."""
        return {
            part.key: np.empty(k, dtype=np.float64 if part.numeric else np.int16)
            for part in self.layout.parts
        }

    def blocks(
        self, root: np.random.SeedSequence | None, copy: int, k: int, workers: int
    ) -> Iterator[tuple[slice, dict[Key, AnyArray]]]:
        """Draw the blocks of one copy, in order."""
        params = self.parameters(root, copy)
        slices = [slice(start, min(start + BLOCK_ROWS, k)) for start in range(0, k, BLOCK_ROWS)]

        def work(index: int) -> dict[Key, AnyArray]:
            return self._block(root, copy, index, slices[index], params)

        with one_blas_thread():
            for first in range(0, len(slices), 4 * workers):
                several = range(first, min(first + 4 * workers, len(slices)))
                yield from zip((slices[i] for i in several), _map(work, several, workers), strict=True)

    def _block(
        self, root: np.random.SeedSequence | None, copy: int, index: int, rows: slice, params: Sequence[Any]
    ) -> dict[Key, AnyArray]:
        """Draw one block, step by step, each new part encoded once."""
        size = rows.stop - rows.start
        X = self.layout.empty(size)
        starts = self.layout.starts
        drawn: dict[Key, AnyArray] = {key: values[rows] for key, values in self.kept.items()}
        for part in self.layout.parts:
            if part.key in drawn:
                self._encode(X, part, starts[part.key], drawn)
        for number, step in enumerate(self.steps):
            sampler = self._sampler(stream(root, 0, copy, number, index))
            for part, values in zip(
                step.targets, self._values(step, params[number], X, sampler, drawn), strict=True
            ):
                drawn[part.key] = self._typed(values, part, step.model)
                self._encode(X, part, starts[part.key], drawn)
        return drawn

    def _sampler(self, source: np.random.Generator) -> NumpySampler:
        """Draw exactly where the guarantee asks for it, and evenly where copies carry no interval anyway."""
        if self.noised is not None and self.noised.balanced and not self.redraw:
            return BalancedSampler(source)
        exact = getattr(self.plan.guarantee, "exact", False)
        return ExactSampler(source) if exact else NumpySampler(source)

    def _encode(self, X: FloatArray, part: Part, start: int, drawn: Mapping[Key, AnyArray]) -> None:
        """Write a drawn part's features into X."""
        kind = drawn[part.column, "kind"] if part.partial else None
        self.layout.write(X, part, start, drawn[part.key], kind)

    def _values(
        self,
        step: DrawnStep,
        params: Any,
        X: FloatArray,
        sampler: NumpySampler,
        drawn: Mapping[Key, AnyArray],
    ) -> list[FloatArray]:
        """Draw a step's parts; a partial value only where its kind says that there is one."""
        target = step.targets[0]
        if not target.partial:
            values = step.draw(params, X, sampler)
            return [values] if len(step.targets) == 1 else list(values.T)
        present = drawn[target.column, "kind"] == 0
        values = np.zeros(len(X))
        values[present] = step.draw(params, X.T[:, present].T, sampler)
        return [values]

    def _typed(self, values: FloatArray, part: Part, model: ColumnModel) -> AnyArray:
        """Write level codes as int16; round and bound numbers.

        Normal draws from noised moments are left where they fall: the moments are those of clamped rows, and
        clamping again would move them. A number that is bent to its margin has no such tails.
        """
        if not part.numeric:
            return values.astype(np.int16)
        column = self.plan.schema[part.column]
        if not isinstance(column, NumericColumn):
            return values
        if self.noised is not None and not bends(model):
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
                real = self.kept_columns[column.name].iloc[start : start + size]
                columns[column.name] = real.reset_index(drop=True)
            else:
                columns[column.name] = join(own, column)
        return pd.DataFrame(columns, copy=False)


def _map(work: Callable[[int], Any], items: range, workers: int) -> list[Any]:
    """Evaluate in threads when there is more than one worker."""
    if workers == 1 or len(items) == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def serial_numbers(column: NumericColumn | CategoricalColumn, start: int, size: int) -> pd.Series[Any]:
    """Count rows from 1 in the column's type, in place of an identifier."""
    numbers = pd.Series(np.arange(start + 1, start + size + 1, dtype=np.int64))
    if pd.api.types.is_numeric_dtype(column.dtype):
        plain = getattr(column.dtype, "numpy_dtype", column.dtype)
        if plain.kind in "iu" and np.iinfo(plain).max < start + size:
            raise PlanError(
                f"{column.name}: {column.dtype} cannot count so many rows; make it int64 or drop it"
            )
        return numbers.astype(column.dtype)
    text = numbers.astype(str)
    return text.astype("category" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype)
