"""Rows of a Dask data frame: partitions stay with the workers of the cluster, where they are folded.

The one place that knows Dask, which is loaded only where somebody gives one of its frames. Its scheduler runs
what is asked, repeats what a lost worker had, and moves what workers need of each other. To the process that
fits arrive numbers of rows, sums over all rows, and what is learned from them; without a guarantee also
systematic samples of rows, and order statistics of single numbers.

- The order of the partitions is the order of the rows; divisions need not be known.
- A pass is a task a partition, and merges of up to eight sums in row order, which are tasks themselves: what
  arrives is one sum, however many rows and partitions there are.
- What functions raise travels as a value, since workers log what their tasks raise beside what the tasks were
  given.
- Workers hold real rows, in memory and, where that is short, in the folder where they spill: they belong to
  the same trust boundary as the process that fits. Dask's own TLS settings encrypt the ways between them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import add
from typing import Any, Final, Self, TypeVar

import numpy as np
import pandas as pd

from pysynthdp.base.errors import FitError, SchemaError
from pysynthdp.base.words import Words
from pysynthdp.curator.spread.pieces import Lost, Pieces, SpreadRows, done

__all__ = ["DaskPieces", "DaskRows", "is_dask"]

FAN = 8  # sums that one task merges
_OURS: Final = "pysynthdp"
_SAME: Final = (_OURS, "python", "numpy", "pandas")  # of which workers must have this process's version

_LOST: Final = ("CancelledError", "ClosedClientError", "CommClosedError", "FutureCancelledError")

T = TypeVar("T")


def is_dask(given: object) -> bool:
    """Whether something is a Dask data frame; loads nothing."""
    return type(given).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(given, "to_delayed")


@dataclass(frozen=True, slots=True, repr=False)
class DaskPieces(Pieces):
    """Futures of a cluster.

    Parameters
    ----------
    client : Client
        Of ``dask.distributed``.
    futures : tuple of Future
        The pieces.
    starts : tuple of int
        First row of each.
    """

    client: Any
    futures: tuple[Any, ...]
    starts: tuple[int, ...]

    def measured(self, length: Callable[[Any], int]) -> tuple[Self, int]:
        """Ask for the length of each piece: a number a partition arrives."""
        sizes = [self._result(each) for each in self.each(_length, length).futures]
        return replace(self, starts=tuple(accumulate(sizes, initial=0))[:-1]), sum(sizes)

    def each(
        self, function: Callable[..., Any], *args: Any, along: Pieces | None = None, beside: Any = None
    ) -> Self:
        """One task a piece."""
        return self._each(self._job(function, args), along, beside)

    def running(self, function: Callable[..., Any], state: Any, *args: Any) -> tuple[Self, Any]:
        """Two tasks a piece: the next state with the piece, and the piece alone."""
        job, made = self._job(function, args), []
        for piece in self.futures:
            both = self._task(_walked, job, state, piece)
            state = self._task(_item, both, 0)
            made.append(self._task(_item, both, 1))
        return replace(self, futures=tuple(made)), state

    def gathered(self, function: Callable[..., Any], *args: Any) -> Any:
        """One task that is given all pieces."""
        return self._task(_together, self._job(function, args), list(self.futures))

    def folded(self, function: Callable[..., T], merge: Callable[[T, T], T], *args: Any) -> T:
        """Merge eight at a time until one is left."""
        job = self._job(function, args, merge)
        sums = list(self._each(job).futures)
        while len(sums) > 1:
            groups = [sums[start : start + FAN] for start in range(0, len(sums), FAN)]
            sums = self._tasks(_merged, groups, job)
        found: T = self._result(sums[0])
        return found

    def one(self, function: Callable[..., T], handle: Any, *args: Any) -> T:
        """One task."""
        found: T = self._result(self._task(_apart, self._job(function, args), handle))
        return found

    def _each(self, job: Any, along: Pieces | None = None, beside: Any = None) -> Self:
        """Hand out one task a piece."""
        given = [[piece, start] for piece, start in zip(self.futures, self.starts, strict=True)]
        if isinstance(along, DaskPieces):
            given = [[*each, other] for each, other in zip(given, along.futures, strict=True)]
        if beside is not None:
            given = [[*each, beside] for each in given]
        return replace(self, futures=tuple(self._tasks(_work, given, job)))

    def _job(self, function: Callable[..., Any], args: tuple[Any, ...], merge: Any = None) -> Any:
        """Send functions and what one is told once, as a task of its own, which can be repeated."""
        import cloudpickle  # which Dask brings along

        return self._task(_same, cloudpickle.dumps((function, args, merge)))

    def _tasks(self, function: Callable[..., Any], given: list[list[Any]], job: Any) -> list[Any]:
        """Hand many tasks to the scheduler in one message, which is cheaper than each in its own."""
        made: list[Any] = _asked(self.client.map, function, given, job=job, pure=False)
        return made

    def _task(self, function: Callable[..., Any], *args: Any) -> Any:
        """Hand a task to the scheduler."""
        return _asked(self.client.submit, function, *args, pure=False)

    def _result(self, future: Any) -> Any:
        """Wait for a result, and raise what arrived in its place."""
        found = _asked(future.result)
        if isinstance(found, Lost):
            raise found.error
        return found


def _asked(ask: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Ask something of the cluster; whatever is raised, its text may quote a cell."""
    try:
        return ask(*args, **named)
    except Exception as problem:  # noqa: BLE001 -- it may be anybody's, of a reader too
        raise _broken(problem) from None


def _same(job: bytes) -> bytes:
    """Be a task of what was sent."""
    return job


def _loaded(job: bytes) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
    """Read a function, what it is told, and a function that merges."""
    import cloudpickle

    function, args, merge = cloudpickle.loads(job)
    return function, args, merge


def _work(given: Sequence[Any], job: bytes) -> Any:
    """Apply a function to a piece, and what stands beside it."""
    piece, start, *others = given
    function, args, _ = _loaded(job)
    return done(function, piece, start, *args, *others)


def _walked(job: bytes, state: Any, piece: Any) -> Any:
    """Take a step through the pieces."""
    function, args, _ = _loaded(job)
    return done(function, state, piece, *args)


def _item(both: Any, place: int) -> Any:
    """Take one of a pair."""
    return both if isinstance(both, Lost) else both[place]


def _together(job: bytes, pieces: list[Any]) -> Any:
    """Apply a function to all pieces."""
    function, args, _ = _loaded(job)
    lost = [piece for piece in pieces if isinstance(piece, Lost)]
    return lost[0] if lost else done(function, pieces, *args)


def _apart(job: bytes, given: Any) -> Any:
    """Apply a function to one thing."""
    function, args, _ = _loaded(job)
    return done(function, given, *args)


def _merged(sums: list[Any], job: bytes) -> Any:
    """Merge from left to right."""
    merge = _loaded(job)[2]
    total = sums[0]
    for each in sums[1:]:
        total = done(merge, total, each)
    return total


def _broken(problem: Exception) -> FitError:
    """Say that the cluster gave no result; of a reader's or a worker's error its type alone."""
    name = type(problem).__name__
    if name == "KilledWorker":
        what = "workers of the Dask cluster were lost again and again while they held the same partition"
        return FitError(what, kind="workers", remedy="give them more memory, or make partitions smaller")
    if isinstance(problem, OSError) or name in _LOST:
        what = f"the connection to the Dask cluster was lost ({name})"
        return FitError(what, kind="workers", remedy="connect again and fit again")
    what = f"the Dask cluster could not read or work on a partition ({name})"
    return FitError(what, kind="workers", remedy="compute the Dask frame by itself to see why")


@dataclass(frozen=True, slots=True, repr=False)
class DaskRows(SpreadRows):
    """A Dask data frame as rows.

    Parameters
    ----------
    held : DaskPieces
        Its partitions, as pandas frames.
    n_rows : int
        Number of rows.
    dtypes : mapping column -> dtype
        Of the frame's own description; of sparse columns that which they have in full.
    index_name : str, optional
        Of the frame's index.

    Notes
    -----
    Privacy: gives no row; only what is folded.
    """

    held: DaskPieces
    n_rows: int
    dtypes: Mapping[str, Any]
    index_name: str | None = None

    @classmethod
    def of(cls, frame: Any) -> Self:
        """Take a Dask data frame, on the workers of the client that is connected.

        Raises
        ------
        FitError
            If nobody is connected, if a worker has other versions, or if a partition cannot be read.
        SchemaError
            If a partition has other columns than the frame says.
        """
        client = _client()
        _check_versions(client)
        sparse = {name: dtype for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.SparseDtype)}
        types = {**frame.dtypes, **{name: dtype.subtype for name, dtype in sparse.items()}}
        futures = tuple(_asked(client.compute, list(frame.to_delayed())))
        raw = DaskPieces(client, futures, (0,) * len(futures))
        held, n = raw.each(_checked, tuple(types), tuple(sparse)).measured(len)
        return cls(held.each(_unchanged, held.folded(_marks, add)), n, types, frame.index.name)

    @property
    def pieces(self) -> DaskPieces:
        """Partitions."""
        return self.held

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.dtypes)

    def rewritten(self, function: Callable[..., pd.Series[Any]], told: Mapping[str, Any]) -> Self:
        """One task a partition."""
        empty = {name: function(pd.Series([], dtype=self.dtypes[name]), each) for name, each in told.items()}
        types = {name: cells.dtype for name, cells in empty.items()}
        held = self.held.each(_rewritten, function, told)
        return replace(self, held=held, dtypes={**self.dtypes, **types})


def _client() -> Any:
    """Find the client that is connected."""
    try:
        from distributed import default_client
    except ImportError:
        raise FitError(
            "a Dask data frame needs dask.distributed, which is not installed",
            kind="workers",
            remedy="install pysynthdp[dask]",
        ) from None
    try:
        return default_client()  # type: ignore[no-untyped-call]
    except ValueError:
        raise FitError(
            "no Dask cluster is connected",
            kind="workers",
            remedy="fit within 'with dask.distributed.Client(address):', or give the table in memory",
        ) from None


def _check_versions(client: Any) -> None:
    """Refuse workers that would compute otherwise, or could not: before a row is read."""
    found = _asked(client.get_versions, packages=[_OURS])
    if not found["workers"]:
        raise FitError("the Dask cluster has no workers", kind="workers", remedy="start some")
    here = found["client"]["packages"]
    for number, worker in enumerate(found["workers"].values(), start=1):
        there = worker["packages"]
        for name in _SAME:
            if there.get(name) != here.get(name):
                own, other = here.get(name), there.get(name) or "no"
                raise FitError(
                    f"worker {number} of the Dask cluster has {other} {name}, and this process {own}",
                    kind="workers",
                    remedy="install the same versions on all workers",
                )


def _checked(
    piece: pd.DataFrame, start: int, columns: tuple[str, ...], sparse: tuple[str, ...]
) -> pd.DataFrame:
    """Refuse a partition with other columns than the frame says; write sparse ones in full."""
    del start
    unlike = [name for name in columns if name not in piece.columns]
    unlike += [name for name in piece.columns if name not in columns]
    if unlike:
        raise SchemaError(
            Words("{name} is not a column of every partition", name=str(unlike[0])),
            column=str(unlike[0]),
            kind="table",
            remedy="give all partitions the same columns",
        )
    own = piece[list(columns)]
    full = {name: own[name].to_numpy() for name in sparse if _is_sparse(own[name])}
    return own.assign(**full) if full else own


def _is_sparse(cells: pd.Series[Any]) -> bool:
    """Whether a column is sparse."""
    return isinstance(cells.dtype, pd.SparseDtype)


def _marks(piece: pd.DataFrame, start: int) -> tuple[tuple[int, int], ...]:
    """Note where a partition starts, and a checksum of its cells."""
    return ((start, _checksum(piece)),)


def _unchanged(piece: pd.DataFrame, start: int, marks: tuple[tuple[int, int], ...]) -> pd.DataFrame:
    """Refuse a partition that is otherwise when it is read again, after a worker was lost."""
    if (start, _checksum(piece)) not in marks:  # partitions without rows start where the next one does
        raise FitError(
            "a partition of the Dask frame had other cells when it was read again",
            kind="changed",
            remedy="leave the files alone while they are fitted, or persist() the frame",
        )
    return piece


def _checksum(piece: pd.DataFrame) -> int:
    """Add up the cells of a partition, so that other ones are hardly ever taken for them."""
    total = len(piece)
    for name in piece.columns:
        cells = piece[name]
        if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "biufmM":
            total = zlib.crc32(np.ascontiguousarray(cells.to_numpy()).view(np.uint8).data, total)
            continue
        try:
            hashed = pd.util.hash_pandas_object(cells, index=False)
        except TypeError:  # objects that have no hash
            continue
        total = zlib.crc32(hashed.to_numpy().view(np.uint8).data, total)
    return total


def _length(piece: Any, start: int, length: Callable[[Any], int]) -> int:
    """Count rows."""
    del start
    return length(piece)


def _rewritten(
    piece: pd.DataFrame, start: int, function: Callable[..., pd.Series[Any]], told: Mapping[str, Any]
) -> pd.DataFrame:
    """Write some columns of a partition anew."""
    del start
    return piece.assign(**{name: function(piece[name], each) for name, each in told.items()})
