"""What every row backend must keep: it gives what one data frame gives, to the last bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.curator.infer import infer_schema
from pysynthdp.curator.rows import rows_of
from pysynthdp.design.rows import Rows
from pysynthdp.synthesizer import Synthesizer
from pysynthdp.testing.checks import Check, broken, demand, run_all

__all__ = ["check_rows", "rows_checks"]

MakeRows = Callable[[pd.DataFrame], Rows]
_N = 211
_TOWN = "zanzibar"


def check_rows(make_rows: MakeRows, *, table: pd.DataFrame | None = None) -> None:
    """Try a row backend on everything that every backend must keep.

    Parameters
    ----------
    make_rows : callable DataFrame -> Rows
        Puts a table where the backend reads it, and gives the backend's object.
    table : DataFrame, optional
        A table to try it on; by default one with a column of every common kind, and an index.

    Raises
    ------
    AssertionError
        Lists what is broken, why it matters and how to mend it; it quotes no cell.

    Notes
    -----
    Privacy: reads the table that it is given, and names its columns.

    Examples
    --------
    >>> check_rows(rows_of)
    """
    run_all(getattr(make_rows, "__name__", type(make_rows).__name__), rows_checks(make_rows, table=table))


def rows_checks(make_rows: MakeRows, *, table: pd.DataFrame | None = None) -> tuple[Check, ...]:
    """List the same checks one by one, for a test that is parametrised over them.

    Parameters
    ----------
    make_rows, table
        As :func:`check_rows` takes them.

    Returns
    -------
    tuple of Check
        Each is called without arguments, and its text is its name.

    Examples
    --------
    >>> [str(check) for check in rows_checks(rows_of)][:2]
    ['tells_what_it_is', 'shows_no_cell']
    """
    frame = _every_kind() if table is None else table
    return tuple(Check(name, partial(check, make_rows, frame)) for name, check in _CHECKS.items())


def _every_kind() -> pd.DataFrame:
    """Make numbers with gaps, levels, texts, dates and nullable types, and an index of its own."""
    rng = np.random.default_rng(3)
    gaps = rng.random(_N) < 0.1
    names = rng.choice(["north", "south", _TOWN], _N, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, _N),
            "income": np.where(gaps, np.nan, np.round(rng.gamma(2.0, 900.0, _N), 2)),
            "region": pd.Categorical(names, [_TOWN, "north", "south", "unused"]),
            "grade": pd.Categorical(rng.choice(["lo", "hi"], _N), ["lo", "mid", "hi"], ordered=True),
            "job": pd.Series(rng.choice(["a", "b"], _N)).mask(rng.random(_N) < 0.2),
            "smokes": rng.random(_N) < 0.3,
            "visits": pd.Series(rng.poisson(2.0, _N), dtype="Int64").mask(gaps),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, _N), "D"),
        }
    )
    return frame.set_index(pd.Index(rng.permutation(_N), name="person"))


def _tells(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that it has the members of the protocol, and that they say what the frame says."""
    rows = make_rows(frame)
    demand(
        isinstance(rows, Rows),
        f"{type(rows).__name__} lacks a member of pysynthdp.design.rows.Rows",
        why="a table is told from rows by them, so fit would refuse it",
        mend="write n_rows, columns and dtypes as properties, take(columns) and fold(of_block, merge)",
    )
    demand(
        rows.n_rows == len(frame) and tuple(rows.columns) == tuple(frame.columns),
        f"n_rows is {rows.n_rows} of {len(frame)}, columns are {tuple(rows.columns)}",
        why="plans and prices are made by them, before a cell is read",
        mend="count all rows, over all pieces, and name all columns in the order of the table",
    )
    wrong = [name for name in frame.columns if rows.dtypes[name] != frame.dtypes[name]]
    demand(
        not wrong,
        f"dtypes of {', '.join(wrong)} are not those of the whole column",
        why="it decides what a column is, and copies have these types",
        mend="give the type that pandas has for the whole column, categories of all pieces among them",
    )


def _shows_no_cell(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that no representation quotes a cell."""
    rows = make_rows(frame)
    said = f"{rows!r} {rows}"
    texts = {
        str(cell)
        for name in frame.columns
        if not pd.api.types.is_numeric_dtype(frame[name])
        for cell in frame[name].dropna().unique()
    }
    demand(
        not any(len(text) > 3 and text in said for text in texts),
        f"the representation of {type(rows).__name__} quotes a cell",
        why="logs and tracebacks show it",
        mend="write __repr__ (in a dataclass repr=False) that names the class and counts rows",
    )


def _takes(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that take gives whole columns in the order that was asked, with the index."""
    rows = make_rows(frame)
    wanted = list(frame.columns)[::-1][:3]
    for names in (wanted, []):
        _equal(
            rows.take(names),
            frame[names],
            f"take({names})",
            mend="give all rows of these columns in the order asked, with the table's index, also for none",
        )


def _folds(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that fold shows every row once, in order, merges from left to right, and can be repeated."""
    rows = make_rows(frame)
    for reading in ("first", "second"):
        _equal(
            pd.concat([frame.iloc[:0], *_blocks(rows)]),
            frame,
            f"the {reading} fold, its blocks one under the other,",
            mend="give the blocks in the order of the rows, each row once, with all columns and their types; "
            "start anew at every fold (is it a generator that is used up?); merge(left, right) from the left",
        )


def _blocks(rows: Rows) -> list[pd.DataFrame]:
    """List the blocks of a fold."""
    return rows.fold(lambda block: [block.copy()], lambda left, right: [*left, *right])


def _types(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that every block has the types of the whole columns."""
    for number, block in enumerate(_blocks(make_rows(frame)), start=1):
        wrong = [name for name in frame.columns if block.dtypes[name] != frame.dtypes[name]]
        demand(
            not wrong,
            f"block {number} has other types than the whole column for {', '.join(wrong)}",
            why="a block alone would be read otherwise than the table, so that results depend on the blocks",
            mend="convert every block to the type of the whole column, all categories among it",
        )


def _empty(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that a table without rows is one block without rows."""
    rows = make_rows(frame.iloc[:0])
    blocks: list[pd.DataFrame] = []

    def keep(block: pd.DataFrame) -> None:
        blocks.append(block)

    try:
        rows.fold(keep, lambda left, right: None)  # noqa: ARG005
    except TypeError as problem:
        broken(
            f"fold of a table without rows raised TypeError ({problem})",
            why="a user would read that in the place of 'the table has no rows'",
            mend="call of_block once, with an empty block that has all columns",
        )
    demand(
        blocks and rows.n_rows == 0 and all(list(block.columns) == list(frame.columns) for block in blocks),
        f"fold of a table without rows gave {len(blocks)} blocks, n_rows {rows.n_rows}",
        why="what is made of a table starts from its first block",
        mend="call of_block once, with an empty block that has all columns",
    )


def _lets_errors_through(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that what of_block raises comes out as it is, and a fold after it works."""
    rows, mine = make_rows(frame), LookupError("of the check")

    def fails(block: pd.DataFrame) -> None:
        del block
        raise mine

    told: Exception | None = None
    try:
        rows.fold(fails, lambda left, right: None)  # noqa: ARG005
    except Exception as problem:  # noqa: BLE001 -- which it is, is the question
        told = problem
    demand(
        told is mine,
        f"an error of of_block came out as {type(told).__name__}",
        why="errors that name a column and a remedy would be lost",
        mend="catch only what the backend itself can raise",
    )
    seen = sum(map(len, _blocks(rows)))
    demand(
        seen == len(frame),
        f"after an error in a fold, the next fold saw {seen} of {len(frame)} rows",
        why="a fit that was refused is tried again with other settings",
        mend="open what is read inside fold, and close it in a finally",
    )


def _fits(make_rows: MakeRows, frame: pd.DataFrame) -> None:
    """Check that schema and copies are those of the frame, to the last bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        demand(
            infer_schema(make_rows(frame)) == infer_schema(rows_of(frame)),
            "the inferred schema is not that of the frame",
            why="plans would depend on where a table lies",
            mend="look at the other faults first: types, index, order of rows",
        )
        one, other = (
            Synthesizer(progress=False).fit(given).draw(1, rng=1)[0] for given in (frame, make_rows(frame))
        )
    mend = "look at the other faults first: types, index, order of rows"
    _equal(other, one, "a copy with a seed", mend=mend)


def _equal(found: pd.DataFrame, wanted: pd.DataFrame, what: str, *, mend: str) -> None:
    """Compare two tables and name the columns that differ, no cell."""
    why = "a fit to the same table must be the same wherever it lies"
    demand(
        list(found.columns) == list(wanted.columns) and len(found) == len(wanted),
        f"{what} has {len(found)} rows and columns {list(found.columns)}, not {len(wanted)} rows and "
        f"{list(wanted.columns)}",
        why=why,
        mend=mend,
    )
    demand(found.index.equals(wanted.index), f"{what} has another index", why=why, mend=mend)
    differ = [name for name in wanted.columns if not found[name].equals(wanted[name])]
    demand(not differ, f"{what} differs from the frame in {', '.join(differ)}", why=why, mend=mend)


_CHECKS: dict[str, Callable[[MakeRows, pd.DataFrame], None]] = {
    "tells_what_it_is": _tells,
    "shows_no_cell": _shows_no_cell,
    "takes_columns": _takes,
    "folds_every_row_in_order_and_again": _folds,
    "blocks_have_the_types_of_the_columns": _types,
    "no_rows_are_one_empty_block": _empty,
    "lets_errors_through": _lets_errors_through,
    "fits_and_draws_as_the_frame": _fits,
}
