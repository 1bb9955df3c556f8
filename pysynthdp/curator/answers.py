"""Answers to queries: which sums over encoded blocks each one is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pysynthdp._typing import BoolArray, FloatArray
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.design.encode import Scale, StepDesign
from pysynthdp.design.parts import Part
from pysynthdp.privacy.domain import upward
from pysynthdp.privacy.noise import add_discrete_laplace
from pysynthdp.privacy.unit import Relation
from pysynthdp.queries import (
    Answer,
    Counts,
    Moments,
    MomentSums,
    NoisyStatistics,
    NoisySums,
    Quantiles,
    RowSum,
    Sums,
    WholeRows,
)

__all__ = ["StepRows", "answer_alone", "answer_moments"]


@dataclass(frozen=True, slots=True)
class StepRows:
    """How a step sees a block: its features, its target, and the rows where the target is there.

    Parameters
    ----------
    targets : tuple of Part
        What the step draws; several, all of them there in every row, for a joint model.
    design : StepDesign
        Its features.
    scale : Scale
        Of the target, for models that are fitted in scaled units; the identity otherwise.
    column : int, optional
        Where the scaled target itself is a column of the wide X.
    """

    targets: tuple[Part, ...]
    design: StepDesign
    scale: Scale
    column: int | None = None

    @property
    def target(self) -> Part:
        """The only target, or the first of a joint model."""
        return self.targets[0]

    def y(self, block: Block, present: BoolArray | None) -> FloatArray:
        """Target values on the rows where it is there: (rows,), or (rows, targets) for a joint model."""
        if len(self.targets) > 1:
            return np.stack([block.values(part).astype(np.float64) for part in self.targets]).T
        values = block.values(self.target)
        y = (values if present is None else values[present]).astype(np.float64)
        if self.scale != Scale():
            y -= self.scale.centre
            y /= self.scale.width
        return y

    def of(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """(X, y) on the rows where the target is there."""
        present = block.present(self.target)
        X = self.design.take(block.X)
        return X if present is None else X.T[:, present].T, self.y(block, present)


def answer_alone(
    query: object, step: StepRows, rows: EncodedRows, *, keep: bool, relation: Relation = "replace_one"
) -> Answer:
    """Answer any query but Moments for one step; ``relation`` says whose difference noise must hide."""
    if isinstance(query, Counts):
        return Answer(_counts(step, rows))
    if isinstance(query, Quantiles):
        values = _present_values(step, rows)
        return Answer(coarse_quantiles(values, knots=query.knots, smallest=query.smallest))
    if isinstance(query, RowSum):
        return Answer(rows.fold(lambda block: query.of(*step.of(block)), every=query.every, keep=keep))
    if isinstance(query, NoisyStatistics):
        return Answer(_noisy(query, step, rows, relation))
    if isinstance(query, WholeRows):
        return Answer(_whole(step, rows))
    msg = f"a model asked {type(query).__name__}, which the curator does not know"
    raise TypeError(msg)


def _present_values(step: StepRows, rows: EncodedRows) -> FloatArray:
    """All values of a target, where it is there."""
    kind = rows.table.kind(step.target)
    values = rows.table.parts[step.target.key]
    there = values if kind is None else values[kind == 0]
    return (there.astype(np.float64) - step.scale.centre) / step.scale.width


def _counts(step: StepRows, rows: EncodedRows) -> FloatArray:
    """Rows at each level."""
    kind = rows.table.kind(step.target)
    codes = rows.table.parts[step.target.key]
    there = codes if kind is None else codes[kind == 0]
    return np.bincount(there, minlength=len(step.target.levels)).astype(np.float64)


def _noisy(query: NoisyStatistics, step: StepRows, rows: EncodedRows, relation: Relation) -> NoisySums:
    """Exact whole-number sums plus discrete Laplace noise, of the scale that the relation needs."""
    (sums,) = rows.fold(lambda block: (query.of(*step.of(block)),))  # type: ignore[arg-type,return-value]  # whole numbers add like floats, but exactly
    replaced = relation == "replace_one"
    scale = upward((query.row_gap if replaced else query.row_norm) / query.epsilon)
    noisy = add_discrete_laplace(np.asarray(sums, dtype=np.int64), scale)
    return NoisySums(noisy, scale, rows.table.n if replaced else None)


def _whole(step: StepRows, rows: EncodedRows) -> tuple[FloatArray, FloatArray]:
    """Every row of a step: only for models that are marked as holding real values."""
    pieces: list[tuple[FloatArray, FloatArray]] = []

    def collect(block: Block) -> Sums:
        pieces.append(step.of(block))
        return ()

    EncodedRows(rows.table, rows.layout).fold(collect)
    return np.concatenate([X for X, _ in pieces]), np.concatenate([y for _, y in pieces])


Transform = Callable[[FloatArray], FloatArray]


def answer_moments(steps: Sequence[StepRows], queries: Sequence[Moments], rows: EncodedRows) -> list[Answer]:
    """Answer the Moments of many steps in one pass; steps on all rows share one matrix."""
    pairs = list(zip(steps, queries, strict=True))
    inside = [pair for pair in pairs if _is_feature(*pair)]
    beside = [pair for pair in pairs if _is_prefix(pair[0]) and not _is_feature(*pair)]
    own = [pair for pair in pairs if not _is_prefix(pair[0])]
    ends = [max(len(step.design.features), (step.column or 0) + 1) for step, _ in (*inside, *beside)]
    width = max(ends, default=0)

    def of_block(block: Block) -> Sums:
        X = block.X[:, :width]
        Z = _targets(beside, block)
        shared = (np.asarray(X.T @ X), np.asarray(X.T @ Z), np.einsum("ij,ij->j", Z, Z))
        return (*shared, *(array for step, query in own for array in _own(step, query, block)))

    gram, cross, squares, *sums = rows.fold(of_block)
    n = float(rows.table.n)
    found = {id(step): _from_gram(step, gram, n) for step, _ in inside}
    for index, (step, _) in enumerate(beside):
        w = len(step.design.features)
        found[id(step)] = MomentSums(n, gram[:w, :w], cross[:w, index], float(squares[index]))
    for index, (step, _) in enumerate(own):
        G, c, square, count = sums[4 * index : 4 * index + 4]
        found[id(step)] = MomentSums(float(count), G, c, float(square))
    return [Answer(found[id(step)]) for step in steps]


def _is_prefix(step: StepRows) -> bool:
    """Whether a step's target is there on all rows and its features are the first of the wide X."""
    plain = step.design.plain
    return not step.target.partial and plain is not None and np.array_equal(plain, np.arange(len(plain)))


def _is_feature(step: StepRows, query: Moments) -> bool:
    """Whether the target, as asked for, is itself a column of the wide X."""
    return _is_prefix(step) and step.column is not None and query.transform is None


def _from_gram(step: StepRows, gram: FloatArray, n: float) -> MomentSums:
    """Read a step's moments off the shared matrix."""
    w, target = len(step.design.features), step.column or 0
    return MomentSums(n, gram[:w, :w], gram[:w, target], float(gram[target, target]))


def _transformed(y: FloatArray, query: Moments) -> FloatArray:
    """Target on the scale that the model asked for."""
    return y if query.transform is None else query.transform(y)


def _targets(pairs: Sequence[tuple[StepRows, Moments]], block: Block) -> FloatArray:
    """Put the transformed targets of some steps side by side."""
    Z = np.empty((len(pairs), len(block.X))).T
    for index, (step, query) in enumerate(pairs):
        Z[:, index] = _transformed(step.y(block, None), query)
    return Z


def _own(step: StepRows, query: Moments, block: Block) -> list[FloatArray]:
    """All sums of a step on its own rows."""
    X, y = step.of(block)
    z = _transformed(y, query)
    return [np.asarray(X.T @ X), X.T @ z, np.asarray(z @ z), np.asarray(float(len(z)))]
