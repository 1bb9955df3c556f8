"""What a column model may ask of the rows, what it is told, and what it may draw with.

A model's ``fit`` is a generator: it yields a query, is resumed with the :class:`Answer`, and returns its
parameters. Only the curator holds rows; every query but :class:`WholeRows` is answered by a sum over rows,
with noise for :class:`NoisyStatistics`, or by averages of neighbouring values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST, Remark

__all__ = [
    "Answer",
    "Counts",
    "MomentSums",
    "Moments",
    "NoisyStatistics",
    "NoisySums",
    "Note",
    "Quantiles",
    "Query",
    "RowSum",
    "RowTerms",
    "Sampler",
    "StepMoments",
    "Sums",
    "WholeRows",
]

Sums: TypeAlias = tuple[FloatArray, ...]


class RowTerms(Protocol):
    """What a block of rows adds to a sum.

    ``w`` is given where rows have weights, one each, and is left out where each counts once: then not a bit
    may depend on there being such a thing. With weights that are whole numbers the sum is that of as many
    rows each; but for sums that :func:`~pysynthdp.models.fits.weighting.counts_records` marks, which count
    the rows that weigh anything.
    """

    def __call__(self, X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        """Add the terms of the rows, each times its weight."""
        ...


@dataclass(frozen=True, slots=True)
class RowSum:
    """Ask for ``sum over blocks of of(X, y)``, or of ``of(X, y, w)`` where rows have weights.

    Parameters
    ----------
    of : callable (X, y, w=None) -> tuple of arrays
        ``X`` has shape (rows, features), intercept first; ``y`` shape (rows,): the target on the rows where
        it is observed, level codes 0, 1, ... for a categorical one; ``w`` shape (rows,), or None where each
        row counts once. The tuples are added over blocks. A function of X and y alone serves unweighted
        tables; weights are then refused by name.
    every : int
        1 for all rows; s for every s-th row (a systematic subsample: cheap first rounds on long tables).
    """

    of: RowTerms | Callable[[FloatArray, FloatArray], Sums]
    every: int = 1


@dataclass(frozen=True, slots=True)
class Moments:
    """Ask for the cross-products of the step's features and its (transformed) target, by the rows' weights.

    Parameters
    ----------
    transform : callable y -> z, optional
        Applied to the target, elementwise; ``None`` means the target itself.
    """

    transform: Callable[[FloatArray], FloatArray] | None = None


@dataclass(frozen=True, slots=True)
class MomentSums:
    """The answer to :class:`Moments`.

    Parameters
    ----------
    n : float
        Number of rows in the sums, or the sum of their weights.
    gram : array (features, features)
        X'X.
    cross : array (features,)
        X'z.
    square : float
        z'z.
    """

    n: float
    gram: FloatArray
    cross: FloatArray
    square: float


@dataclass(frozen=True, slots=True)
class StepMoments:
    """What a model is fitted to where one noisy matrix serves the whole table; nobody asks for it.

    Parameters
    ----------
    X : array (rows, features)
        Rows that stand for the features' distribution under the models of the columns before; empty for a
        number, whose fit needs cross-products only.
    weights : array (rows,)
        Their weights, which sum to n; all at least zero.
    gram : array (features, features)
        X'X under the same distribution; (0, 0) for levels.
    cross : array (features, targets)
        Noisy sums of each feature over the rows of each level, or times the number.
    square : float
        Noisy sum of squares of the number; 0 for levels.
    n : float
        Rows on which the target is there.
    start : object
        Parameters of a fit to nearby moments, or None.
    blur : float
        Rows in a direction of the features below which the noise hides a number's slope; 0 for none.
    """

    X: FloatArray
    weights: FloatArray
    gram: FloatArray
    cross: FloatArray
    square: float
    n: float
    start: Any = None
    blur: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """Ask for the number of rows at each level of a categorical target; answered with an array (levels,).

    Where rows have weights, these are added.
    """


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Ask for the distribution of a numeric target as a coarse table.

    Answered with an array (4, groups): shares of groups of neighbouring records, which sum to one, and the
    quantile function at the start, in the middle and at the end of each, straight in between. A group has at
    least ``smallest`` records, or all where there are fewer than twice as many; groups do not overlap; of
    each its mean is used, which the function keeps. An outermost group may be given in pieces, as an
    exponential excess. The mean of fewer than ``smallest`` records can be near a record's own value, and no
    average hides a value from who knows the others: without a guarantee the largest and the smallest value
    were replaced beforehand by what the others let one expect. Where rows have weights, shares and means are
    weighted, and groups are of records even so: none has more than half of its group's weight.

    Parameters
    ----------
    knots : int
        At most this many groups of equal count, and at most a tenth of the rows; beside them each value that
        as many share is one, and the outermost are halved.
    smallest : int
        The fewest records that a group averages, where there are twice as many.
    """

    knots: int = 200
    smallest: int = FEWEST


@dataclass(frozen=True, slots=True)
class WholeRows:
    """Ask for the rows themselves: (X, y). Refused under a formal guarantee; makes the fit confidential.

    Refused too where rows have weights, which are no part of the answer.
    """


@dataclass(frozen=True, slots=True)
class Note:
    """Tell the person who fits what the answers say of the column; no question, so the answer is empty.

    Parameters
    ----------
    remark : Remark
        Quotes no value of a record. Under a guarantee it goes nowhere.
    """

    remark: Remark


@dataclass(frozen=True, slots=True)
class NoisyStatistics:
    """Ask for whole-number sums over rows with discrete Laplace noise; answered with :class:`NoisySums`.

    Rows with weights are refused: gap and norm are those of rows that count once.

    Parameters
    ----------
    of : callable (X, y) -> int64 array (statistics,)
        Sums over some rows, in whole steps.
    row_gap : int
        Largest sum of absolute changes when one row is replaced.
    row_norm : int
        Largest sum of absolute values that one row adds.
    epsilon : float
        Pure epsilon of all answers together, under the neighbour relation in force.
    """

    of: Callable[[FloatArray, FloatArray], IntArray]
    row_gap: int
    row_norm: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class NoisySums:
    """The answer to :class:`NoisyStatistics`.

    Parameters
    ----------
    sums : int64 array (statistics,)
        With noise.
    scale : float
        Of the noise on each.
    n : int or None
        Number of rows where neighbours share it; None where it is confidential.
    """

    sums: IntArray
    scale: float
    n: int | None


Query: TypeAlias = RowSum | Moments | Counts | Quantiles | NoisyStatistics | WholeRows | Note


@dataclass(frozen=True, slots=True)
class Answer:
    """What the curator says. ``value`` is a tuple of arrays, MomentSums or an array, by the query."""

    value: Any


class Sampler(Protocol):
    """The random variates that a model may use when it draws."""

    def normal(self, mean: FloatArray, sd: FloatArray | float) -> FloatArray:
        """Independent normals, one for each entry of ``mean``."""
        ...

    def uniform(self, size: int) -> FloatArray:
        """Independent uniforms on [0, 1)."""
        ...

    def categorical(self, probabilities: FloatArray) -> IntArray:
        """One level for each row of ``probabilities`` (rows, levels); rows sum to one."""
        ...

    def placed(self, probabilities: FloatArray) -> tuple[IntArray, FloatArray]:
        """One level a row, and where inside it the same uniform fell: a place on [0, 1) independent of it."""
        ...

    def event(self, probability: FloatArray) -> BoolArray:
        """Whether an event happens, one for each entry of ``probability``."""
        ...

    def poisson(self, mean: FloatArray) -> FloatArray:
        """Independent Poisson counts."""
        ...

    def gamma(self, shape: float, scale: FloatArray) -> FloatArray:
        """Independent gammas, one for each entry of ``scale``."""
        ...

    @property
    def generator(self) -> np.random.Generator:
        """The stream itself, for models that need another law."""
        ...
