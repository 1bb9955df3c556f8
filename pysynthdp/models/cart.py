"""``cart``: a classification or regression tree, for numbers, levels, and kinds of missing values."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import Answer, Quantiles, Query, RowSum, RowTerms, Sampler, Sums, WholeRows
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.leaves import Codes, code_shares, codes_of, level_shares
from pysynthdp.models.fits.tree import RANKS, Score, Tree, ask_tree, leaf_of

__all__ = ["Cart", "CartFit"]


@dataclass(frozen=True, slots=True)
class CartFit:
    """A fitted tree.

    Parameters
    ----------
    tree : Tree
        Its splits.
    shares : array (leaves, levels or codes)
        Of the levels, or of codes of numbers, in each leaf; each rests on five records or more.
    knots : array (4, codes)
        The whole column's coarse table, one code a group; (4, 0) for levels.
    sizes : array (leaves,)
        Records of each leaf.
    values : array (rows,)
        Records' own numbers, sorted by leaf, where they were asked for; else empty: confidential.
    """

    tree: Tree
    shares: FloatArray
    knots: FloatArray
    sizes: FloatArray
    values: FloatArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Cart:
    """Draw from the leaf of a tree that a row falls into; ``cart`` in synthpop.

    Parameters
    ----------
    emit_original : bool
        False: numbers are drawn from lines through averages of five or more records of the leaf. True: every
        number drawn is a record's, as in synthpop, and the fit is confidential.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``). Leaves hold 20 records or more, thresholds lie on a fixed
    grid, and no share and no average rests on fewer than five records: a level with fewer in a leaf has there
    its share in the leaves around.
    Splits are found from histograms, sums over rows, so that no row is handed over; of tables of more than
    100,000 rows on a systematic subsample of 50,000 or more. They lower Gini's index of levels, or the
    variance of a number's ranks, which no outlier decides (Breiman, Friedman, Olshen and Stone 1984).
    Redraw: shares of each leaf from Dirichlet(records), the Bayesian bootstrap; the splits stay, so copies
    differ by less than the sample lets one know. Pooled tables give no intervals (``bias``).

    Examples
    --------
    >>> Cart().accepts(Target("region", "categorical", n_levels=16))
    True
    """

    emit_original: bool = False
    name: ClassVar[str] = "cart"
    reason: ClassVar[str] = (
        "splits are chosen by exact sums over records, and shares and averages in the leaves of a tree are "
        "used as they are"
    )
    bias: ClassVar[str] = "trees"
    linear_on: ClassVar[str] = "any"
    finds_terms: ClassVar[bool] = True
    keeps_shape: ClassVar[bool] = True
    keeps_masses: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    @property
    def real_values(self) -> bool:
        """Whether drawn numbers are records' values."""
        return self.emit_original

    def accepts(self, target: Target) -> bool:  # noqa: ARG002  # a tree parts any target
        """Every target."""
        return True

    def fit(self, task: FitTask) -> Fit:
        """Ask for histograms until the tree has grown, then for what its leaves hold; return a CartFit."""
        if task.target.kind == "categorical":
            return (yield from _levels(task))
        answer = yield Quantiles()
        codes = codes_of(np.asarray(answer.value, dtype=np.float64))
        ranks = codes.ranks(RANKS)
        tree = yield from ask_tree(Score(lambda y: ranks[codes.of(y)], 0), task.dummies, task.n)
        return (yield from (_own(tree) if self.emit_original else _numbers(tree, codes)))

    def redraw(self, params: CartFit, rng: np.random.Generator) -> CartFit:
        """Shares of each leaf from their Bayesian bootstrap; the splits stay."""
        weight = rng.standard_gamma(params.shares * params.sizes[:, None])
        return replace(params, shares=weight / weight.sum(axis=1, keepdims=True))

    def draw(self, params: CartFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One value for each row of X."""
        leaf = np.searchsorted(params.tree.leaves, leaf_of(params.tree, X))
        if params.values.size:
            ends = np.cumsum(params.sizes).astype(np.int64)
            at = (sampler.uniform(len(X)) * params.sizes[leaf]).astype(np.int64)
            return np.asarray(params.values[ends[leaf] - 1 - at])
        code, place = sampler.placed(params.shares[leaf])
        if not params.knots.size:
            return code.astype(np.float64)
        _, low, middle, high = params.knots[:, code]
        first = low + (middle - low) * 2 * place
        return np.asarray(np.where(place < 0.5, first, middle + (high - middle) * (2 * place - 1)))


def _levels(task: FitTask) -> Generator[RowSum, Answer, CartFit]:
    """Grow a tree for levels."""
    levels = task.target.n_levels
    tree = yield from ask_tree(Score(lambda y: y, levels), task.dummies, task.n)
    answer = yield RowSum(_leaf_terms(tree, lambda y: y.astype(np.int64), levels))
    counts: FloatArray = answer.value[0]
    if counts.sum() <= 0:
        raise FitError(
            f"{task.target.name} has no observed level to learn from",
            column=task.target.name,
            kind="method",
            remedy="drop the column",
        )
    return CartFit(tree, level_shares(tree, counts), np.zeros((4, 0)), counts.sum(axis=1), np.zeros(0))


def _numbers(tree: Tree, codes: Codes) -> Generator[RowSum, Answer, CartFit]:
    """Ask for the numbers in each leaf, by codes."""
    answer = yield RowSum(_leaf_terms(tree, codes.of, codes.flat.size))
    counts: FloatArray = answer.value[0]
    return CartFit(tree, code_shares(tree, counts, codes), codes.knots, counts.sum(axis=1), np.zeros(0))


def _own(tree: Tree) -> Generator[Query, Answer, CartFit]:
    """Keep the records' own numbers, leaf by leaf."""
    answer = yield WholeRows()
    X, y = answer.value
    leaf = np.searchsorted(tree.leaves, leaf_of(tree, X))
    sizes = np.bincount(leaf, minlength=tree.leaves.size).astype(np.float64)
    return CartFit(tree, np.ones((sizes.size, 1)), np.zeros((4, 0)), sizes, y[np.lexsort((y, leaf))])


def _leaf_terms(tree: Tree, codes: Callable[[FloatArray], IntArray], size: int) -> RowTerms:
    """Make the term of a row block: records of each code in each leaf."""
    leaves = tree.leaves

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        where = np.searchsorted(leaves, leaf_of(tree, X)) * size + codes(y)
        counts = np.bincount(where, w, leaves.size * size).astype(np.float64)
        return (counts.reshape(leaves.size, size),)

    return block
