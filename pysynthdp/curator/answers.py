"""Answers to queries: which sums over encoded blocks each one is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.curator.quantiles import coarse_quantiles, weighted_quantiles
from pysynthdp.curator.table import level_counts
from pysynthdp.design.encode import Scale, StepDesign
from pysynthdp.design.groups import LevelGroups
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import (
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
from pysynthdp.models.fits.weighting import n_rows, weighted
from pysynthdp.privacy.domain import upward
from pysynthdp.privacy.noise.protective import add_discrete_laplace
from pysynthdp.privacy.unit import Relation

__all__ = [
    "Grams",
    "MomentsAsked",
    "StepRows",
    "answer_alone",
    "answer_moments",
    "moments_asked",
    "summed_by",
]


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
    groups : LevelGroups, optional
        Of the target's levels, where some have fewer than five records.
    """

    targets: tuple[Part, ...]
    design: StepDesign
    scale: Scale
    column: int | None = None
    groups: LevelGroups | None = None

    @property
    def target(self) -> Part:
        """The only target, or the first of a joint model."""
        return self.targets[0]

    def y(self, block: Block, present: BoolArray | None) -> FloatArray:
        """Target values on the rows where it is there: (rows,), or (rows, targets) for a joint model."""
        if len(self.targets) > 1:
            return np.stack([block.values(part).astype(np.float64) for part in self.targets]).T
        values = block.values(self.target)
        values = values if present is None else values[present]
        y = (values if self.groups is None else self.groups.codes[values]).astype(np.float64)
        if self.scale != Scale():
            y -= self.scale.centre
            y /= self.scale.width
        return y

    def of(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """(X, y) on the rows where the target is there."""
        return self.X(block), self.y(block, block.present(self.target))

    def asked(self, block: Block) -> tuple[FloatArray, ...]:
        """(X, y), and the weights of these rows where there are any: what a row sum is asked with."""
        weights, present = block.weights, block.present(self.target)
        if weights is None:
            return self.of(block)
        return (*self.of(block), weights if present is None else weights[present])

    def X(self, block: Block) -> FloatArray:  # noqa: N802 -- the name of the thing
        """Features on the rows where the target is there."""
        present = block.present(self.target)
        X = self.design.take(block.X)
        return X if present is None else X.T.take(np.flatnonzero(present), axis=1).T

    @property
    def is_prefix(self) -> bool:
        """Whether the target is there on all rows and the plan's features are the first of the wide X."""
        plain = self.design.plain
        return (
            not self.target.partial
            and not self.target.gated
            and plain is not None
            and np.array_equal(plain, np.arange(len(plain)))
        )

    @property
    def reach(self) -> int:
        """Columns of the wide X that hold a prefix step's features, and its target where that is one."""
        return max(len(self.design.features), (self.column or 0) + 1)


@dataclass(frozen=True, slots=True, repr=False)
class Grams:
    """Cross-products of features that are known already.

    Parameters
    ----------
    shared : array (features, features), optional
        Of the first columns of the wide X, over all rows.
    own : mapping targets -> array (features, features)
        Of each step that has a matrix of its own: all features that the plan names.
    """

    shared: FloatArray | None = None
    own: Mapping[tuple[Part, ...], FloatArray] = field(default_factory=dict)

    def reaches(self, width: int) -> bool:
        """Whether the shared matrix is known as far as this."""
        return self.shared is not None and width <= len(self.shared)


def answer_alone(
    query: object, step: StepRows, rows: EncodedRows, *, keep: bool, relation: Relation = "replace_one"
) -> Answer:
    """Answer any query but Moments for one step; ``relation`` says whose difference noise must hide.

    Raises
    ------
    FitError
        For a question that has no weighted answer, where rows have weights.
    """
    if rows.weights is not None and isinstance(query, NoisyStatistics | WholeRows):
        raise _unweighted(type(query).__name__)
    if isinstance(query, Counts):
        return Answer(_counts(step, rows))
    if isinstance(query, Quantiles):
        return Answer(_quantiles(query, step, rows))
    if isinstance(query, RowSum):
        of = summed_by(query, rows)
        return Answer(rows.fold(lambda block: of(*step.asked(block)), every=query.every, keep=keep))
    if isinstance(query, NoisyStatistics):
        return Answer(_noisy(query, step, rows, relation))
    if isinstance(query, WholeRows):
        return Answer(_whole(step, rows))
    msg = f"a model asked {type(query).__name__}, which the curator does not know"
    raise TypeError(msg)


def summed_by(query: RowSum, rows: EncodedRows) -> Callable[..., Sums]:
    """Give the block function of a row sum; one that knows no weights is refused where rows have some.

    Raises
    ------
    FitError
        Before a block is summed.
    """
    if rows.weights is not None and len(signature(query.of).parameters) < 3:
        raise _unweighted("a RowSum of X and y alone")
    return query.of


def _unweighted(what: str) -> FitError:
    """Say that a model asks what has no weighted answer."""
    return FitError(
        f"the model asks for {what}, which takes no weights",
        kind="weights",
        remedy="choose another method",
    )


def _counts(step: StepRows, rows: EncodedRows) -> FloatArray:
    """Rows at each level, or their weights."""
    weights, target = rows.weights, step.target
    if weights is None:
        counts = rows.table.total(lambda piece: (level_counts(piece, target),))[0].astype(np.float64)
    else:
        kind, codes = rows.table.absence(target), rows.table.parts[target.key]
        there = slice(None) if kind is None else kind == 0
        counts = np.bincount(codes[there], weights[there], minlength=len(target.levels)).astype(np.float64)
    return counts if step.groups is None else np.bincount(step.groups.codes, counts).astype(np.float64)


def _quantiles(query: Quantiles, step: StepRows, rows: EncodedRows) -> FloatArray:
    """Table groups of neighbouring records, by their weights where there are any."""
    present = rows.table.present(step.target, step.scale)
    smallest, knots = query.smallest, query.knots
    if rows.table.owner is not None and smallest:
        smallest = max(smallest, rows.table.fewest)
        knots = min(knots, max(present.n // smallest, 1))
    if rows.weights is None:
        return coarse_quantiles(present.ranked(), knots=knots, smallest=smallest)
    kind = rows.table.absence(step.target)
    weights = rows.weights if kind is None else rows.weights[kind == 0]
    return weighted_quantiles(present.every(1), weights, knots=knots, smallest=smallest)


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


@dataclass(frozen=True, slots=True, repr=False)
class MomentsAsked:
    """The Moments of many steps, as one function of blocks; steps on all rows share one matrix.

    Parameters
    ----------
    of_block : callable (Block) -> sums
        Holds no rows, so that it may be sent to where they lie.
    reads : array of int
        Features of the wide X that it reads.
    nothing : bool
        Whether all is known, so that no block need be read.
    answers : callable (sums) -> list of Answer
        One for each step; with no sums where ``nothing`` is.
    """

    of_block: Callable[[Block], Sums]
    reads: IntArray
    nothing: bool
    answers: Callable[[Sums], list[Answer]]


def moments_asked(
    steps: Sequence[StepRows], queries: Sequence[Moments], rows: EncodedRows, known: Grams | None = None
) -> MomentsAsked:
    """Put the Moments of many steps together."""
    known = known or Grams()
    pairs = list(zip(steps, queries, strict=True))
    inside = [pair for pair in pairs if _is_feature(*pair)]
    beside = [pair for pair in pairs if pair[0].is_prefix and not _is_feature(*pair)]
    own = [pair for pair in pairs if not pair[0].is_prefix]
    width = max((step.reach for step, _ in (*inside, *beside)), default=0)
    ready = known.reaches(width)
    n = float(rows.table.n if rows.weights is None else rows.weights.sum())

    def of_block(block: Block) -> Sums:
        shared = _shared(block, width, beside, ready=ready) if inside or beside else ()
        return (*shared, *(array for step, query in own for array in _own(step, query, block, known)))

    def answers(given: Sums) -> list[Answer]:
        sums = list(given)
        gram = known.shared if ready and known.shared is not None else (sums.pop(0) if width else _NONE)
        cross, squares = (sums.pop(0), sums.pop(0)) if sums and width else (_NONE, np.zeros(0))
        found = {id(step): _from_gram(step, gram, n) for step, _ in inside}
        for index, (step, _) in enumerate(beside):
            used = step.design.used
            found[id(step)] = MomentSums(n, _part(gram, used), cross[used, index], float(squares[index]))
        for index, (step, _) in enumerate(own):
            found[id(step)] = _from_own(step, sums[4 * index : 4 * index + 4], known)
        return [Answer(found[id(step)]) for step in steps]

    reads = np.concatenate([np.arange(width), *(step.design.reads for step, _ in own)])
    return MomentsAsked(of_block, reads.astype(np.int64), ready and not beside and not own, answers)


def answer_moments(
    steps: Sequence[StepRows], queries: Sequence[Moments], rows: EncodedRows, known: Grams | None = None
) -> list[Answer]:
    """Answer the Moments of many steps in one pass."""
    asked = moments_asked(steps, queries, rows, known)
    return asked.answers(() if asked.nothing else rows.fold(asked.of_block))


_NONE = np.zeros((0, 0))


def _shared(
    block: Block, width: int, beside: Sequence[tuple[StepRows, Moments]], *, ready: bool
) -> tuple[FloatArray, ...]:
    """All sums of steps on all rows; without the matrix where it is known."""
    X, w = block.X[:, :width], block.weights
    Z = _targets(beside, block)
    first = () if ready else (np.asarray(X.T @ weighted(X, w)),)
    weighed = weighted(Z, w)
    return (*first, np.asarray(X.T @ weighed), np.einsum("ij,ij->j", Z, weighed))


def _from_own(step: StepRows, sums: Sequence[FloatArray], known: Grams) -> MomentSums:
    """Read the moments of a step on its own rows."""
    G, c, square, count = sums
    G = _part(known.own[step.targets], step.design.used) if step.targets in known.own else G
    return MomentSums(float(count), G, c, float(square))


def _is_feature(step: StepRows, query: Moments) -> bool:
    """Whether the target, as asked for, is itself a column of the wide X."""
    return step.is_prefix and step.column is not None and query.transform is None


def _part(gram: FloatArray, used: IntArray) -> FloatArray:
    """Cross-products of some features; a view of the first ones."""
    whole = np.array_equal(used, np.arange(used.size))
    return gram[: used.size, : used.size] if whole else gram[np.ix_(used, used)]


def _from_gram(step: StepRows, gram: FloatArray, n: float) -> MomentSums:
    """Read a step's moments off the shared matrix."""
    used, target = step.design.used, step.column or 0
    return MomentSums(n, _part(gram, used), gram[used, target], float(gram[target, target]))


def _transformed(y: FloatArray, query: Moments) -> FloatArray:
    """Target on the scale that the model asked for."""
    return y if query.transform is None else query.transform(y)


def _targets(pairs: Sequence[tuple[StepRows, Moments]], block: Block) -> FloatArray:
    """Put the transformed targets of some steps side by side."""
    Z = np.empty((len(pairs), len(block.X))).T
    for index, (step, query) in enumerate(pairs):
        Z[:, index] = _transformed(step.y(block, None), query)
    return Z


def _own(step: StepRows, query: Moments, block: Block, known: Grams) -> list[FloatArray]:
    """All sums of a step on its own rows; an empty matrix where its own is known."""
    X, y, *given = step.asked(block)
    w, z = given[0] if given else None, _transformed(y, query)
    gram = np.zeros((0, 0)) if step.targets in known.own else np.asarray(X.T @ weighted(X, w))
    weighed = weighted(z, w)
    return [gram, X.T @ weighed, np.asarray(z @ weighed), np.asarray(n_rows(z, w))]
