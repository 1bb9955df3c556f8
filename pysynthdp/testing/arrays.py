"""A curator of arrays: the real one, which answers what a model asks from an X and a y that lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.streams import NumpySampler
from pysynthdp.curator.answers import StepRows
from pysynthdp.curator.drive import Curator, StepFit
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.curator.table import PartTable
from pysynthdp.design.encode import BLOCK_ROWS, Layout, Scale, StepDesign
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import Query
from pysynthdp.models.base import ColumnModel, Fit, FitTask, Target
from pysynthdp.protection.sampling.by_sampling import ExactSampler
from pysynthdp.testing.checks import broken

__all__ = ["Fitted", "fitted", "sampler", "task_for"]

MOST = 1000  # questions of one fit: the longest of ours asks some dozens


@dataclass(frozen=True, slots=True, repr=False)
class Fitted:
    """What a fit to arrays gave.

    Parameters
    ----------
    params : object
        The model's parameters.
    asked : tuple of Query
        What it asked, in order.
    held_rows : bool
        Whether it was handed whole rows.
    notes : tuple of Remark
        What it said of the column.
    """

    params: Any
    asked: tuple[Query, ...]
    held_rows: bool
    notes: tuple[Remark, ...]


def task_for(
    n: int,
    *,
    features: int = 1,
    levels: int = 0,
    ordered: bool = False,
    name: str = "y",
    dummies: tuple[bool, ...] | None = None,
    together: int = 1,
    lower: float | None = None,
    upper: float | None = None,
    decimals: int | None = None,
    **more: Any,
) -> FitTask:
    """Make the task of a fit to arrays.

    Parameters
    ----------
    n : int
        Rows.
    features : int
        Columns of X, the intercept among them.
    levels : int
        Levels of a categorical target; 0 for a number.
    ordered : bool
        Whether they are ordered.
    name : str
        Name of the target.
    dummies : tuple of bool, optional
        Which features are 0/1 dummies; none by default.
    together : int
        How many targets alike a joint model fills.
    lower, upper, decimals
        Declared bounds and digits of a number.
    **more
        Further fields of ``FitTask``, such as ``proper``.

    Examples
    --------
    >>> task_for(100, features=2, levels=3).target.n_levels
    3
    """
    kind: Any = "categorical" if levels else "numeric"
    target = Target(name, kind, levels, ordered, decimals, lower, upper)
    names = ("intercept", *(f"x{j}" for j in range(1, features)))
    marks = (False,) * features if dummies is None else dummies
    return FitTask(target, names, marks, n, targets=(target,) * together, **more)


def fitted(
    model: ColumnModel,
    X: ArrayLike | None,
    y: ArrayLike,
    *,
    task: FitTask | None = None,
    block_rows: int = BLOCK_ROWS,
    in_memory: bool = True,
    workers: int = 1,
    guarded: bool = False,
    **facts: Any,
) -> Fitted:
    """Fit a model to arrays, answered by the curator that answers it on a table.

    Parameters
    ----------
    model : ColumnModel
        The model.
    X : array (rows, features) or None
        Features, the first of them the intercept, all ones; None for the intercept alone. Handed to the model
        read-only.
    y : array (rows,) or (rows, targets)
        The target, level codes for a categorical one; several columns for a joint model.
    task : FitTask, optional
        What the model is told; made by :func:`task_for` from the arrays and ``facts`` by default.
    block_rows : int
        Rows a block.
    in_memory : bool
        Whether blocks may be gathered; if not, every round encodes them anew, as for long tables.
    workers : int
        Threads over blocks.
    guarded : bool
        Whether a guarantee is in force, under which nobody gets whole rows.
    **facts
        As :func:`task_for` takes them: ``levels``, ``ordered``, ``lower``, ``proper``, ...

    Returns
    -------
    Fitted
        Parameters, and what was asked.

    Raises
    ------
    AssertionError
        If the model yields what is no question, or does not end.

    Notes
    -----
    Privacy: for made-up data. What a model raises comes out as it is, where a fit to a confidential table
    leaves its words out.

    Examples
    --------
    >>> from pysynthdp.models import Norm
    >>> X = np.column_stack([np.ones(50), np.arange(50.0)])
    >>> done = fitted(Norm(), X, 3 + 2 * X[:, 1])
    >>> done.params.beta.round(6).tolist(), [type(query).__name__ for query in done.asked]
    ([3.0, 2.0], ['Moments'])
    """
    y = np.asarray(y, dtype=np.float64)
    X = np.ones((len(y), 1)) if X is None else np.asarray(X, dtype=np.float64)
    columns = y.reshape(len(y), -1).T
    task = task or _told(X, columns, facts)
    parts = tuple(_part(target, index) for index, target in enumerate(task.targets or (task.target,)))
    table, layout = _table(X, columns, parts)
    rows = _ArrayRows(table, layout, workers, 2**62 if in_memory else 0)
    rows.first, rows.size = X[:, 0], block_rows
    step = _ArrayStep(parts, StepDesign(tuple((j,) for j in range(X.shape[1]))), Scale())
    watched = _Watched(model)
    run = _Run(watched, task, step)  # type: ignore[arg-type]  # its name is the model's own
    Curator(rows, guarded=guarded).fit_all([run])
    return Fitted(run.params, tuple(watched.asked), run.held_rows, tuple(run.notes))


def sampler(seed: int = 0, *, exact: bool = False) -> NumpySampler:
    """Make what a model draws with.

    Parameters
    ----------
    seed : int
        Of the stream.
    exact : bool
        Whether it is the sampler of an exact guarantee, which takes the system's entropy for whole numbers.

    Examples
    --------
    >>> sampler(1).uniform(2).tolist() == sampler(1).uniform(2).tolist()
    True
    """
    generator = np.random.default_rng(seed)
    return ExactSampler(generator) if exact else NumpySampler(generator)


def _told(X: FloatArray, columns: FloatArray, facts: dict[str, Any]) -> FitTask:
    """Make the task from the arrays: what is 0 or 1 everywhere is a dummy."""
    dummies = (False, *(bool(np.isin(X[:, j], (0, 1)).all()) for j in range(1, X.shape[1])))
    known = {"features": X.shape[1], "together": len(columns), "dummies": dummies}
    return task_for(len(X), **{**known, **facts})


def _part(target: Target, index: int) -> Part:
    """Make the part that a target is."""
    levels = tuple(map(str, range(target.n_levels)))
    return Part(f"y{index}", "value", levels, target.ordered)


def _table(X: FloatArray, columns: FloatArray, parts: tuple[Part, ...]) -> tuple[PartTable, Layout]:
    """Put the arrays into the table that a curator reads."""
    features = tuple(Part(f"x{j}", "value") for j in range(1, X.shape[1]))
    arrays: dict[tuple[str, str], AnyArray] = {
        part.key: np.ascontiguousarray(X[:, j]) for j, part in enumerate(features, start=1)
    }
    for part, y in zip(parts, columns, strict=True):
        arrays[part.key] = y if part.numeric else y.astype(np.int16)
    return PartTable(len(X), arrays), Layout(features, {part.key: Scale() for part in features})


class _ArrayRows(EncodedRows):
    """Blocks of a wished size that nobody can write into, with the first feature as it was given."""

    first: FloatArray
    size: int

    def blocks(self, every: int = 1) -> Iterator[slice]:
        """Row slices; one empty block for no rows."""
        step = self.size * every
        for start in range(0, max(self.table.n, 1), step):
            yield slice(start, min(start + step, self.table.n), every)

    def _encode(self, rows: slice, *, keep: bool, used: BoolArray | None = None) -> FloatArray:
        """Encode one block."""
        X = super()._encode(rows, keep=keep, used=used)
        if X.flags.writeable:
            X[:, 0] = self.first[rows]
            X.flags.writeable = False
        return X


class _ArrayStep(StepRows):
    """A step whose target nobody can write into."""

    def y(self, block: Block, present: BoolArray | None) -> FloatArray:
        """Target values."""
        values = super().y(block, present)
        values.flags.writeable = False
        return values


class _Watched:
    """A model whose questions are counted and kept."""

    def __init__(self, model: ColumnModel) -> None:
        self._model = model
        self.name = model.name
        self.asked: list[Query] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def fit(self, task: FitTask) -> Fit:
        """Pass questions and answers on."""
        fit = self._model.fit(task)
        answer: Any = None
        try:
            while True:
                query = fit.send(answer)
                self._keep(query)
                answer = yield query
        except StopIteration as end:
            return end.value

    def _keep(self, query: Query) -> None:
        """Refuse what is no question, and one too many."""
        if not isinstance(query, get_args(Query)):
            broken(
                f"fit yielded a {type(query).__name__}, which is no question",
                why="nobody answers it",
                mend="yield one of the queries of pysynthdp.models.ask",
            )
        self.asked.append(query)
        if len(self.asked) > MOST:
            broken(
                f"fit asked {MOST} questions and did not end",
                why="a table like this would never be fitted",
                mend="bound the rounds, and raise FitError after the last",
            )


class _Run(StepFit):
    """A step whose model may say what went wrong."""

    def _fail(self, problem: Exception) -> None:
        """Let it through: the data are made up, so its words betray nobody."""
        raise problem
