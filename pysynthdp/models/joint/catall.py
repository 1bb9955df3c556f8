"""``catall``: several columns of levels together, by the cells of their table, given earlier columns."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import FitError, PlanError
from pysynthdp.base.remarks import FEWEST
from pysynthdp.base.words import Words
from pysynthdp.models.ask import Answer, Moments, Query, RowSum, Sampler, StepMoments, Sums
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target

__all__ = ["CatAll", "CatAllFit"]

MOST: Final = 2**20  # cells of a table that is held whole
EXPECTED: Final = 10.0  # records of a cell without one, from which on it is taken as impossible
ROUNDS: Final = 50  # of fitting margins
CLOSE: Final = 1e-6  # records, by which margins may be off
GIVEN: Final = "polyreg"  # the model of cells given earlier columns


@dataclass(frozen=True, slots=True)
class CatAllFit:
    """Cells of a table, and how likely each is.

    Parameters
    ----------
    sizes : tuple of int
        Levels of each target.
    group : array of int (groups,)
        For each group that is drawn, the cell that it is; -1 for the one that holds all cells of few records.
    counts : array (groups,)
        Records of each.
    few : array of int (cells,)
        The cells of few records, and those that their margins make likely.
    shares : array (cells,)
        Of each of these among them.
    given : object
        Parameters of the model of groups given earlier columns; None without such.
    """

    sizes: tuple[int, ...]
    group: IntArray
    counts: FloatArray
    few: IntArray
    shares: FloatArray
    given: Any = None


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class CatAll:
    """Draw the cell of the table of several columns, whose relations of any order are kept; as in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``). A cell of five records or more has its share of the table
    (the saturated log-linear model), or, given earlier columns, its probability in a multinomial regression
    of cells (``polyreg``). All other records are one more group: their cells are drawn by the log-linear
    model with main effects that has the margins of these records, so that nothing else of fewer than five is
    told. A cell that no record has, though ten were expected if columns were independent, is never drawn.
    From noisy counts (a guarantee by noise in the answers) every cell has its noisy share; which are empty
    nobody knows then, so those that the noise leaves below zero have none.
    Missing values and codes are levels beside the others. Tables of more than 2^20 cells are refused.

    Examples
    --------
    >>> CatAll().accepts(Target("region", "categorical", n_levels=16))
    True
    """

    name: ClassVar[str] = "catall"
    reason: ClassVar[str] = (
        "the shares of cells of a table, or the coefficients of a regression on them, carry no noise"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "logit"
    takes_absent: ClassVar[bool] = True
    ways: ClassVar[int] = 99
    counts_rows: ClassVar[bool] = True

    def accepts(self, target: Target) -> bool:
        """Any categorical target."""
        return target.kind == "categorical"

    def fit(self, task: FitTask) -> Fit:
        """Ask for the table, then, where there are features, for a regression of its cells."""
        targets = task.targets or (task.target,)
        sizes = tuple(target.n_levels for target in targets)
        if prod(sizes) > MOST:
            raise _too_large(targets, prod(sizes))
        answer = yield RowSum(partial(_counted, sizes=sizes))
        counts: FloatArray = answer.value[0]
        if not counts.any():
            raise FitError(
                f"{task.target.name} has no observed level to learn from",
                column=task.target.name,
                kind="method",
                remedy="drop the column",
            )
        fit, code = _grouped(counts, sizes, _columns(targets), fewest=task.fewest)
        if len(task.features) < 2 or len(fit.group) < 2:
            return fit
        own = replace(
            task, target=Target(task.target.name, "categorical", len(fit.group)), targets=(task.target,)
        )
        given = yield from _of_cells(_regression().fit(own), sizes, code)
        return replace(fit, given=given)

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> CatAllFit:
        """Fit a regression of cells to noisy sums; without features it has the noisy shares."""
        sizes = tuple(target.n_levels for target in task.targets or (task.target,))
        cells = np.arange(prod(sizes), dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        counts = np.maximum(given.cross[0], 0.0)
        fit = CatAllFit(sizes, cells, counts if counts.any() else counts + 1.0, none, np.zeros(0))
        if len(task.features) < 2 or len(cells) < 2:
            return fit
        given = replace(given, start=None if given.start is None else given.start.given)
        return replace(fit, given=_regression().fit_from_moments(task, given))

    def level_shares(self, params: CatAllFit, X: FloatArray) -> FloatArray:
        """Probability of each cell that is fitted from noisy counts, (rows, cells)."""
        if params.given is None:
            return np.tile(params.counts / params.counts.sum(), (len(X), 1))
        return np.asarray(_regression().level_shares(params.given, X))

    def redraw(self, params: CatAllFit, rng: np.random.Generator) -> CatAllFit:
        """Shares of groups from Dirichlet(records), or coefficients from their posterior."""
        few = rng.standard_gamma(params.shares * params.counts[params.group < 0].sum())
        few = few / few.sum() if few.any() else params.shares
        if params.given is not None:
            given = _regression().redraw(params.given, rng)
            return replace(params, shares=few, given=given)
        return replace(params, shares=few, counts=rng.standard_gamma(params.counts))

    def draw(self, params: CatAllFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One cell for each row of X: (rows, targets), or (rows,) for one target."""
        if params.given is not None:
            groups = _regression().draw(params.given, X, sampler).astype(np.int64)
        else:
            edges = np.cumsum(params.counts / params.counts.sum())[:-1]
            groups = np.searchsorted(edges, sampler.uniform(len(X)), side="right")
        cells = params.group[groups]
        few = np.flatnonzero(cells < 0)
        if few.size:
            edges = np.cumsum(params.shares)[:-1]
            cells[few] = params.few[np.searchsorted(edges, sampler.uniform(few.size), side="right")]
        codes = np.array(np.unravel_index(cells, params.sizes), dtype=np.float64)
        return codes[0] if len(codes) == 1 else np.asarray(codes.T)


def _regression() -> Any:
    """Make the model of cells given earlier columns."""
    return COLUMN_MODELS[GIVEN]()


def _too_large(targets: Sequence[Target], cells: int) -> PlanError:
    """Say that a table has too many cells."""
    what = Words(
        "the table of {names} has {cells} cells, and 'catall' holds {most} at most",
        names=", ".join(target.name for target in targets),
        cells=f"{cells:,}",
        most=f"{MOST:,}",
    )
    mend = "draw fewer columns together, or merge levels"
    return PlanError(what, column=targets[0].name, kind="joint", remedy=mend)


def _cells_of(y: FloatArray, sizes: tuple[int, ...]) -> IntArray:
    """Cell of each row."""
    codes = y.reshape(len(y), -1).T.astype(np.int64)
    return np.asarray(np.ravel_multi_index(tuple(codes), sizes), dtype=np.int64)


def _counted(
    X: FloatArray,  # noqa: ARG001  # the targets alone are counted
    y: FloatArray,
    w: FloatArray | None = None,
    *,
    sizes: tuple[int, ...],
) -> Sums:
    """Count the rows of each cell."""
    return (np.bincount(_cells_of(y, sizes), w, prod(sizes)).astype(np.float64),)


def _columns(targets: Sequence[Target]) -> list[int]:
    """Give the number of each target's column: a value follows the target that says whether it is there."""
    found: list[int] = []
    for target in targets:
        found.append((found[-1] if found else -1) + (0 if target.partial else 1))
    return found


def _grouped(
    counts: FloatArray, sizes: tuple[int, ...], columns: Sequence[int], *, fewest: int = FEWEST
) -> tuple[CatAllFit, IntArray]:
    """Give the groups that are drawn, and the group of each cell."""
    small = (counts > 0) & (counts < fewest)
    for cell in np.argsort(counts, kind="stable")[np.count_nonzero(counts == 0) :]:
        if not small.any() or counts[small].sum() >= fewest:
            break
        small[cell] = True
    alone = np.flatnonzero((counts > 0) & ~small)
    rest = counts[small].sum()
    code = np.full(len(counts), len(alone), dtype=np.int64)
    code[alone] = np.arange(len(alone))
    group = np.append(alone, -1) if rest else alone
    records = np.append(counts[alone], rest) if rest else counts[alone]
    few, shares = _few_cells(counts, small, sizes, columns)
    return CatAllFit(sizes, group.astype(np.int64), records, few, shares), code


def _few_cells(
    counts: FloatArray, small: BoolArray, sizes: tuple[int, ...], columns: Sequence[int]
) -> tuple[IntArray, FloatArray]:
    """Share the records of small cells out by their margins, over all cells that are not drawn alone."""
    if not small.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    whole = [prod(size for size, own in zip(sizes, columns, strict=True) if own == c) for c in {*columns}]
    table, rest = counts.reshape(whole), np.where(small, counts, 0.0).reshape(whole)
    impossible = (table == 0) & (_independent(table) >= EXPECTED)
    shares = np.where(impossible | ((table > 0) & (rest == 0)), 0.0, _independent(rest))
    for _ in range(ROUNDS):
        off = 0.0
        for axis in range(shares.ndim):
            asked, has = _margin(rest, axis), _margin(shares, axis)
            off = max(off, float(np.abs(asked - has).max()))
            ratio = np.divide(asked, has, out=np.zeros_like(asked), where=has > 0)
            shares = shares * np.expand_dims(ratio, [a for a in range(shares.ndim) if a != axis])
        if off < CLOSE:
            break
    flat = shares.ravel()
    there = np.flatnonzero(flat > 0)
    return there, flat[there] / flat.sum()


def _margin(table: FloatArray, axis: int) -> FloatArray:
    """Add up over all other axes."""
    return np.asarray(table.sum(axis=tuple(a for a in range(table.ndim) if a != axis)))


def _independent(table: FloatArray) -> FloatArray:
    """Spread a table's records as if its columns were independent."""
    total = table.sum()
    out = np.full((1,) * table.ndim, total)
    for axis in range(table.ndim):
        other = [a for a in range(table.ndim) if a != axis]
        out = out * np.expand_dims(_margin(table, axis) / total, other)
    return np.asarray(out)


def _of_cells(fit: Fit, sizes: tuple[int, ...], code: IntArray) -> Generator[Query, Answer, Any]:
    """Pass a model's questions on, of the groups of cells in the place of its target."""

    def codes(y: FloatArray) -> FloatArray:
        return code[_cells_of(y, sizes)].astype(np.float64)

    try:
        query = next(fit)
        while True:
            query = fit.send((yield _asked(query, codes)))
    except StopIteration as stop:
        return stop.value


def _asked(query: Query, codes: Any) -> Query:
    """Ask of groups of cells what was asked of a target."""
    if isinstance(query, Moments):
        return Moments(codes)
    if not isinstance(query, RowSum):
        return query
    of = query.of

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        return of(X, codes(y)) if w is None else of(X, codes(y), w)  # type: ignore[call-arg]

    return replace(query, of=block)
