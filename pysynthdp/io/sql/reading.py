"""Read a table of a database once: in one snapshot, in a stated order, by types of its catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import pandas as pd
import pyarrow as pa

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.words import Words, meant
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.sql.address import Address, faults_of_database, snapshot
from pysynthdp.io.sql.catalogue import (
    check_order,
    columns_in,
    kinds_of_columns,
    kinds_of_fields,
    postgres_enumerations,
)
from pysynthdp.io.sql.kinds import Kind, absent_of

__all__ = ["SQLTable", "read_sql"]

_BLOCK: Final = 1 << 14  # rows
_SNAPSHOT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_MARK: Final = "sql:"


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLTable:
    """A table, a view or a query of a database; goes wherever the path of a table goes.

    Parameters
    ----------
    table : str, optional
        Name of a table or view.
    query : str, optional
        A ``SELECT`` in its place, in PostgreSQL; elsewhere make a view of it.
    order_by : str or sequence of str
        Columns that name each row: no two rows have the same, and none is missing. They give rows an order,
        which a database does not have.
    url_env : str
        Name of the environment variable that holds the URL of the database, such as
        ``postgresql://user:password@host/base`` or ``sqlite:////path/of.db``; it is shown nowhere.
    schema : str, optional
        Schema of the table in the database; that of the connection by default.

    Raises
    ------
    PlanError
        If neither or both of ``table`` and ``query`` are given, or a URL in place of a name.

    Notes
    -----
    Privacy: names a table; reads nothing. Rows are read in one read-only transaction that sees the database
    as it is at its start (REPEATABLE READ; SERIALIZABLE where there is no such snapshot). Types are those of
    the catalogue: whole numbers ``Int64``, real and decimal numbers ``float64``, truth values ``boolean``,
    days and times ``datetime64[us]``, enumerations ordered categoricals of all their labels. PostgreSQL is
    read through Arrow (``pip install pysynthdp[postgres]``), others by SQLAlchemy (``[sql]``). Under a
    guarantee no cell decides anything: ``order_by`` is not checked, and a cell that does not fit is missing.

    Examples
    --------
    >>> SQLTable(table="people", order_by="id", url_env="PEOPLE_URL")
    SQLTable(table='people', query=None, order_by=('id',), url_env='PEOPLE_URL', schema=None)
    >>> SQLTable.named("sql:people?order_by=id&url_env=PEOPLE_URL") == _
    True
    """

    table: str | None = None
    query: str | None = None
    order_by: str | Sequence[str]
    url_env: str
    schema: str | None = None

    def __post_init__(self) -> None:
        keys = (self.order_by,) if isinstance(self.order_by, str) else tuple(self.order_by)
        if (self.table is None) == (self.query is None):
            raise PlanError("a table of a database has one name, table or query", kind="database")
        if not keys or not all(keys):
            raise PlanError(
                "order_by must name the columns that tell rows apart: a database has no order of its own",
                kind="database",
            )
        object.__setattr__(self, "order_by", keys)
        Address(self.url_env)  # refuses a URL

    @classmethod
    def named(cls, text: str) -> SQLTable:
        """Read it from one text, ``sql:table?order_by=id&url_env=NAME``, as a shell or R has it.

        Raises
        ------
        PlanError
            If a part is unknown or missing.
        """
        table, _, rest = text.removeprefix(_MARK).partition("?")
        parts = dict(parse_qsl(rest, keep_blank_values=True))
        known = ("query", "order_by", "url_env", "schema")
        for name in parts:
            if name not in known:
                mend = meant(name, known, f"parts are {', '.join(known)}")
                raise PlanError(f"a table of a database has no {name}", kind="database", remedy=mend)
        for name in ("order_by", "url_env"):
            if not parts.get(name):
                what = Words("{form} names a table of a database; {name} is missing", form=_FORM, name=name)
                raise PlanError(what, kind="database")
        order = parts.pop("order_by").split(",")
        return cls(table=table or None, order_by=order, **parts)

    @staticmethod
    def is_named(given: object) -> bool:
        """Whether a text names one."""
        return isinstance(given, str | Path) and str(given).startswith(_MARK)

    @property
    def address(self) -> Address:
        """Where it is."""
        return Address(self.url_env)

    @property
    def shown(self) -> str:
        """What errors call it."""
        return "the query" if self.table is None else f"table {self.table}"


_FORM: Final = "sql:table?order_by=id&url_env=NAME"


def read_sql(source: SQLTable, shelf: Shelf, *, texts: bool) -> pd.DataFrame:
    """Read a table of a database, its columns onto a shelf.

    Parameters
    ----------
    source : SQLTable
        Which.
    shelf : Shelf
        Where its columns stand.
    texts : bool
        Whether no cell may decide anything, as under a guarantee.

    Raises
    ------
    PlanError
        If there is no such database, table or column, or a column is of no kind that is taken.
    SchemaError
        If the connection is lost, rows are not told apart by ``order_by``, there are none, or a cell is not
        what its column is declared to be.

    Notes
    -----
    Privacy: reads real rows, in one snapshot; two runs on the same snapshot read the same rows.
    """
    read = _read_postgres if source.address.is_postgres else _read_generic
    with faults_of_database(source.address, "read"):
        frame = read(source, shelf, texts)
    if not len(frame) and not texts:
        raise SchemaError(f"{source.shown} has no rows", kind="no rows")
    return frame


def _read_postgres(source: SQLTable, shelf: Shelf, texts: bool) -> pd.DataFrame:
    """Read through Arrow."""
    asked, keys = _asked(source)
    with closing(source.address.arrow()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(_SNAPSHOT)
        cursor.execute(postgres_enumerations)
        labels = _grouped(cursor.fetchall())
        if not texts:
            _check_keys(source, asked, keys, partial(_counted, cursor))
        cursor.execute(f"SELECT * FROM {asked} ORDER BY {', '.join(keys)}")  # noqa: S608 -- names are quoted
        with cursor.fetch_record_batch() as batches:
            kinds = kinds_of_fields(batches.schema, labels)
            columns = ({name: batch.column(name) for name in kinds} for batch in batches)
            return _kept(kinds, (_converted(kinds, block, texts) for block in columns), shelf)


def _read_generic(source: SQLTable, shelf: Shelf, texts: bool) -> pd.DataFrame:
    """Read by SQLAlchemy."""
    if source.query is not None:
        raise PlanError(
            "a query is read from PostgreSQL alone, which tells the types of its columns",
            kind="database",
            remedy="make a view of it, and name that as the table",
        )
    asked, keys = _asked(source)
    with snapshot(source.address) as connection:
        kinds = kinds_of_columns(columns_in(connection, str(source.table), source.schema))
        check_order(list(kinds), source.order_by)
        if not texts:
            _check_keys(source, asked, keys, lambda query: connection.exec_driver_sql(query).scalar())
        names = ", ".join(map(source.address.quoted, kinds))
        streamed = connection.execution_options(stream_results=True, max_row_buffer=_BLOCK)
        rows = streamed.exec_driver_sql(
            f"SELECT {names} FROM {asked} ORDER BY {', '.join(keys)}"  # noqa: S608 -- names are quoted
        )
        columns = (
            dict(zip(kinds, zip(*block, strict=True), strict=True)) for block in rows.partitions(_BLOCK)
        )
        return _kept(kinds, (_converted(kinds, block, texts) for block in columns), shelf)


def _asked(source: SQLTable) -> tuple[str, list[str]]:
    """Write what is read from, and what rows are ordered by, in the dialect of the database."""
    quoted = source.address.quoted
    if source.query is not None:
        asked = f"({source.query.strip().rstrip(';')}\n) asked"
    else:
        asked = ".".join(quoted(name) for name in (source.schema, source.table) if name)
    return asked, [quoted(name) for name in source.order_by]


def _counted(cursor: Any, query: str) -> int:
    """Ask for one number."""
    cursor.execute(query)
    return int(cursor.fetchone()[0])


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gather the labels of each enumeration."""
    labels: dict[str, list[str]] = {}
    for name, label in pairs:
        labels.setdefault(name, []).append(label)
    return labels


def _check_keys(source: SQLTable, asked: str, keys: Sequence[str], count: Callable[[str], int]) -> None:
    """Refuse rows that are not told apart, in the snapshot that is read."""
    absent = count(f"SELECT count(*) FROM {asked} WHERE {' OR '.join(f'{key} IS NULL' for key in keys)}")  # noqa: S608
    rows = count(f"SELECT count(*) FROM {asked}")  # noqa: S608
    told = count(f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(keys)} FROM {asked}) told")  # noqa: S608
    if absent or told < rows:
        fault = "is missing in some rows" if absent else "does not tell all rows apart"
        raise SchemaError(
            f"{source.shown}: {' with '.join(source.order_by)} {fault}, so they have no order of their own",
            column=source.order_by[0],
            kind="database",
            remedy="order_by takes several columns, such as the primary key",
        )


def _converted(kinds: Mapping[str, Kind], block: Mapping[str, Any], texts: bool) -> pa.RecordBatch:
    """Convert a block by one rule a column; what does not fit is refused, or missing if none may tell."""
    found = {name: kind.of(block[name]) for name, kind in kinds.items()}
    lost = [name for name, cells in found.items() if cells.null_count > absent_of(block[name])]
    if lost and not texts:
        raise SchemaError(
            f"column {lost[0]} has cells that are not what it is declared to be in the database",
            column=lost[0],
            kind="database",
            remedy="make them NULL, or the column a text, in a view",
        )
    return pa.RecordBatch.from_arrays(list(found.values()), names=list(found))


def _kept(kinds: Mapping[str, Kind], blocks: Iterator[pa.RecordBatch], shelf: Shelf) -> pd.DataFrame:
    """Put blocks onto the shelf, and make columns of them."""
    columns = shelf.blocks(pa.schema([(name, kind.type) for name, kind in kinds.items()]), blocks)
    return pd.DataFrame({name: kinds[name].series(columns[name], shelf) for name in kinds}, copy=False)
