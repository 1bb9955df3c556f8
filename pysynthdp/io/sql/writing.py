"""Put the copies of a release folder, and what it says of them, into two tables: whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pysynthdp.base.errors import PlanError, ReleaseError
from pysynthdp.base.words import Words
from pysynthdp.io.folder.manifest import MANIFEST
from pysynthdp.io.folder.signature import SIGNATURE
from pysynthdp.io.folder.storage import Stored
from pysynthdp.io.folder.stored_copy import StoredCopy
from pysynthdp.io.sql.address import Address, faults_of_database

if TYPE_CHECKING:
    from sqlalchemy import Table

__all__ = ["SQLTarget", "write_copies"]

NUMBER: Final = "copy_number"
_LONGEST: Final = 40  # bytes of a name, to which "_release" is added; databases cut longer ones
_TOLD: Final = (MANIFEST, "privacy.json", "schema.json", "codebook.csv", "README.txt")
_ROWS: Final = 16_384


@dataclass(frozen=True, slots=True)
class SQLTarget:
    """Where copies go.

    Parameters
    ----------
    table : str
        Of the copies; ``<table>_release`` holds the files that tell of them. Neither may exist.
    url_env : str
        Name of the environment variable that holds the URL of the database.
    schema : str, optional
        Schema of both in the database.

    Raises
    ------
    PlanError
        If the name is none or too long.
    """

    table: str
    url_env: str
    schema: str | None = None

    def __post_init__(self) -> None:
        Address(self.url_env)
        if not 0 < len(self.table.encode()) <= _LONGEST:
            raise PlanError(f"the name of a table has 1 to {_LONGEST} bytes", kind="database")


def write_copies(copies: Sequence[StoredCopy], target: SQLTarget) -> None:
    """Write copies by blocks, and the files that tell of them, in one transaction.

    Parameters
    ----------
    copies : sequence of StoredCopy
        Of one folder.
    target : SQLTarget
        Where they go.

    Raises
    ------
    ReleaseError
        If one of the tables exists, or a column is of a type that a database does not have.
    SchemaError
        If the database is lost; neither table is there then.

    Notes
    -----
    Privacy: post-processing of a release, whose statement goes with it.
    """
    address, kinds = Address(target.url_env), _kinds(copies[0].storage)
    told = [(name, _content(copies[0].path.parent / name)) for name in (*_TOLD, SIGNATURE)]
    files = pa.RecordBatch.from_pylist([{"file": name, "content": text} for name, text in told if text])
    with faults_of_database(address, "written to"):
        tables = _tables(target, kinds), _tables_of_files(target)
        write = _write_postgres if address.is_postgres else _write_generic
        write(address, tables, (_blocks(copies, kinds), iter([files])))


def _content(path: Path) -> str:
    """Read a file that tells of the copies, a signature as hexadecimal digits; nothing if it is not there."""
    if not path.exists():
        return ""
    return path.read_bytes().hex() if path.name == SIGNATURE else path.read_text(encoding="utf-8")


def _kinds(storage: Sequence[Stored]) -> pa.Schema:
    """Tell of which type each column of the table is."""
    if any(stored.name.lower() == NUMBER for stored in storage):
        what = Words("the copies have a column {name}, which numbers them in a database", name=NUMBER)
        raise ReleaseError(what, column=NUMBER, kind="database", remedy="rename it")
    fields = [pa.field(stored.name, _kind(stored)) for stored in storage]
    return pa.schema([pa.field(NUMBER, pa.int64()), *fields])


def _kind(stored: Stored) -> pa.DataType:
    """Take the widest type of its sort."""
    tests = {
        pa.int64(): pa.types.is_integer, pa.float64(): pa.types.is_floating, pa.bool_(): pa.types.is_boolean,
        pa.date32(): pa.types.is_date,
    }  # fmt: skip
    if pa.types.is_string(stored.arrow) or pa.types.is_large_string(stored.arrow):
        return pa.string()
    if pa.types.is_timestamp(stored.arrow):
        return pa.timestamp("us", None if stored.arrow.tz is None else "UTC")
    found = next((kind for kind, test in tests.items() if test(stored.arrow)), None)
    if found is None:
        raise _unfit(stored)
    return found


def _unfit(stored: Stored) -> ReleaseError:
    """Make the error of a column that no database has."""
    what = f"{stored.name} is of type {stored.arrow}, which does not go into a table of a database"
    return ReleaseError(what, column=stored.name, kind="type", remedy="save it as a text or number")


def _blocks(copies: Sequence[StoredCopy], kinds: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Give all copies, one behind the other."""
    for number, copy in enumerate(copies, start=1):
        for block in copy.blocks(rows=_ROWS):
            arrays = [pa.array([number] * len(block), pa.int64())]
            for stored in copy.storage:
                cells = stored.to_arrow(block[stored.name], dictionary=False)
                try:
                    arrays.append(cells.cast(kinds.field(stored.name).type))
                except pa.ArrowInvalid:  # steps finer than a microsecond, or more than 63 bits
                    raise _unfit(stored) from None
            yield pa.RecordBatch.from_arrays(arrays, schema=kinds)
        copy.check_unchanged()


def _tables(target: SQLTarget, kinds: pa.Schema) -> Table:
    """Describe the table of the copies."""
    from sqlalchemy import BigInteger, Boolean, Column, Date, DateTime, Double, MetaData, Table, Text
    from sqlalchemy.dialects import mysql

    time = DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")  # which cuts seconds otherwise
    types: dict[pa.DataType, Any] = {
        pa.int64(): BigInteger(), pa.float64(): Double(), pa.bool_(): Boolean(), pa.date32(): Date(),
        pa.string(): Text(), pa.timestamp("us"): time, pa.timestamp("us", "UTC"): DateTime(timezone=True),
    }  # fmt: skip
    columns = [Column(field.name, types[field.type], nullable=field.name != NUMBER) for field in kinds]
    return Table(target.table, MetaData(), *columns, schema=target.schema)


def _tables_of_files(target: SQLTarget) -> Table:
    """Describe the table of what tells of the copies."""
    from sqlalchemy import Column, MetaData, Table, Text

    columns = [Column(name, Text(), nullable=False) for name in ("file", "content")]
    return Table(f"{target.table}_release", MetaData(), *columns, schema=target.schema)


def _write_postgres(
    address: Address, tables: Sequence[Table], contents: Sequence[Iterator[pa.RecordBatch]]
) -> None:
    """Write by COPY."""
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateTable

    dialect: Any = postgresql.dialect  # whose stubs know no call
    with closing(address.arrow()) as connection, closing(connection.cursor()) as cursor:
        for table, blocks in zip(tables, contents, strict=True):
            cursor.execute(str(CreateTable(table).compile(dialect=dialect())))
            for block in blocks:
                cursor.adbc_ingest(table.name, block, mode="append", db_schema_name=table.schema)
        connection.commit()


def _write_generic(
    address: Address, tables: Sequence[Table], contents: Sequence[Iterator[pa.RecordBatch]]
) -> None:
    """Write by inserts of SQLAlchemy."""
    engine = address.engine()
    try:
        with engine.connect() as plain:
            begun = engine.dialect.name == "sqlite"  # whose driver begins no transaction to make a table
            connection = plain.execution_options(isolation_level="AUTOCOMMIT") if begun else plain
            if begun:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            _insert(connection, address, tables, contents)
            connection.exec_driver_sql("COMMIT") if begun else connection.commit()
    finally:
        engine.dispose()


def _insert(
    connection: Any, address: Address, tables: Sequence[Table], contents: Sequence[Iterator[pa.RecordBatch]]
) -> None:
    """Make tables and fill them; where making one cannot be taken back, drop it again."""
    from sqlalchemy import inspect

    there = inspect(connection)
    for table in tables:
        if there.has_table(table.name, schema=table.schema):
            raise ReleaseError(
                f"the database that {address.url_env} names has a table {table.name} already",
                kind="database",
                remedy="choose another name",
            )
    try:
        for table, blocks in zip(tables, contents, strict=True):
            table.create(connection)
            for block in blocks:
                connection.execute(table.insert(), block.to_pylist())
    except BaseException:
        connection.exec_driver_sql(
            "ROLLBACK"
        ) if connection.dialect.name == "sqlite" else connection.rollback()
        if connection.dialect.name in ("mysql", "mariadb", "oracle"):
            for table in tables:
                table.drop(connection, checkfirst=True)
        raise
