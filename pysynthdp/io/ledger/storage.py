"""Where a ledger lies: a SQLite file of its own, or tables in PostgreSQL; the same statements for both."""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from pysynthdp.base.errors import PlanError, PrivacyError, ReleaseError
from pysynthdp.io.ledger.events import Event
from pysynthdp.io.sql.address import Address, begun, faults_of_database

__all__ = [
    "PostgresStorage",
    "SQLiteStorage",
    "Storage",
    "Tables",
    "add_event",
    "add_source",
    "key_of",
    "read_events",
    "sources_in",
    "take_key",
]

LAYOUT: Final = (
    "1"  # to be raised when tables or digests change, so that earlier programs refuse them by name
)
_PATIENCE: Final = 120.0  # seconds to wait for the writer before
_EVENTS: Final = "source, seq, kind, at, body, previous, digest"
_TABLES: Final = (
    "CREATE TABLE pysynthdp_ledger_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE pysynthdp_ledger_sources (source TEXT PRIMARY KEY)",
    (
        "CREATE TABLE pysynthdp_ledger (source TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, "
        "at TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL, "
        "PRIMARY KEY (source, seq))"
    ),
)
_ONLY_ADDED_SQLITE: Final = tuple(
    f"CREATE TRIGGER pysynthdp_ledger_no_{verb.lower()} BEFORE {verb} ON pysynthdp_ledger "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are added only'); END"
    for verb in ("UPDATE", "DELETE")
)
_ONLY_ADDED_POSTGRES: Final = (
    (
        "CREATE FUNCTION pysynthdp_ledger_keep() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'entries of a ledger are added only'; END $$"
    ),
    (
        "CREATE TRIGGER pysynthdp_ledger_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON pysynthdp_ledger "
        "EXECUTE FUNCTION pysynthdp_ledger_keep()"
    ),
)


class Tables(Protocol):
    """A connection within a transaction."""

    def ask(self, statement: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement, with ``:name`` for values; give its rows."""
        ...


class Storage(Protocol):
    """A place for a ledger.

    Notes
    -----
    Privacy: holds settings, prices and keyed digests; no value of a record. Its key lies in it: keep it where
    the confidential tables are.
    """

    @property
    def name(self) -> str:
        """Where it lies, in words that hold no password."""
        ...

    def create(self) -> None:
        """Make the tables, where they are not there yet."""
        ...

    def reading(self) -> AbstractContextManager[Tables]:
        """Give a context with the tables as they are now."""
        ...

    def writing(self, source: str) -> AbstractContextManager[Tables]:
        """Give a context that is alone with the account of a source, and commits at its end."""
        ...


def read_events(tables: Tables, source: str) -> list[Event]:
    """Read the account of a source, in order."""
    query = f"SELECT {_EVENTS} FROM pysynthdp_ledger WHERE source = :source ORDER BY seq"  # noqa: S608 -- names of ours
    return [Event.read(row) for row in tables.ask(query, {"source": source})]


def add_event(tables: Tables, event: Event) -> None:
    """Add an entry."""
    names = [name.strip() for name in _EVENTS.split(",")]
    marks = ", ".join(f":{name}" for name in names)
    tables.ask(f"INSERT INTO pysynthdp_ledger ({_EVENTS}) VALUES ({marks})", event.written())  # noqa: S608 -- names of ours


def add_source(tables: Tables, source: str) -> None:
    """Open an account."""
    tables.ask(
        "INSERT INTO pysynthdp_ledger_sources (source) VALUES (:source) ON CONFLICT DO NOTHING",
        {"source": source},
    )


def sources_in(tables: Tables) -> list[str]:
    """Name all sources: those with an account, and those of which there are entries."""
    opened, named = "SELECT source FROM pysynthdp_ledger_sources", "SELECT source FROM pysynthdp_ledger"
    return sorted(str(source) for (source,) in tables.ask(f"{opened} UNION {named}"))


def key_of(tables: Tables) -> bytes:
    """Give the key of digests of files, which never leaves the ledger."""
    return bytes.fromhex(_facts(tables)["key"])


def take_key(tables: Tables, key: bytes) -> None:
    """Take the key of another ledger, whose accounts are moved here."""
    tables.ask("UPDATE pysynthdp_ledger_facts SET value = :key WHERE name = 'key'", {"key": key.hex()})


def _facts(tables: Tables) -> dict[str, str]:
    """Read what is true of the whole ledger."""
    return dict(tables.ask("SELECT name, value FROM pysynthdp_ledger_facts"))


def _check_layout(tables: Tables, name: str) -> None:
    """Refuse tables of another version of this package."""
    layout = _facts(tables).get("layout")
    if layout != LAYOUT:
        raise ReleaseError(
            f"{name} has layout {layout!r}, and this version reads {LAYOUT!r}",
            kind="ledger",
            remedy="use the version of pysynthdp that made it",
        )


def _first_facts(tables: Tables) -> None:
    """Write what is true of a new ledger."""
    for fact, value in (("layout", LAYOUT), ("key", secrets.token_hex(32))):
        tables.ask(
            "INSERT INTO pysynthdp_ledger_facts (name, value) VALUES (:name, :value)",
            {"name": fact, "value": value},
        )


class SQLiteStorage:
    """A ledger in a file of its own, for its owner alone (mode 0600).

    Parameters
    ----------
    path : path
        On a disk of this computer: file systems of networks often have no locks that hold.

    Notes
    -----
    Privacy: as :class:`Storage`. ``synchronous=FULL`` and the rollback journal: what was committed survives a
    loss of power; a transaction that was killed is rolled back by the next to open the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def name(self) -> str:
        """The file."""
        return f"the ledger {self.path}"

    def create(self) -> None:
        """Make file and tables; a file with tables is left as it is."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise PlanError(
                f"{self.path} cannot be written: {error.strerror or type(error).__name__}", kind="ledger"
            ) from error
        with self._faults(), closing(self._connect()) as connection:
            tables = _LiteTables(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not tables.ask("SELECT 1 FROM sqlite_master WHERE name = 'pysynthdp_ledger'"):
                for statement in (*_TABLES, *_ONLY_ADDED_SQLITE):
                    tables.ask(statement)
                _first_facts(tables)
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """See the tables as they are now."""
        with self._faults(), closing(self._opened()) as connection:
            connection.execute("BEGIN")
            yield _LiteTables(connection)

    @contextmanager
    def writing(self, source: str) -> Iterator[Tables]:
        """Be alone with the whole file; what is not committed at the end never was."""
        del source
        with self._faults(), closing(self._opened()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield _LiteTables(connection)
            connection.execute("COMMIT")

    def _opened(self) -> sqlite3.Connection:
        """Open a ledger that is there."""
        if not self.path.is_file():
            raise PrivacyError(
                f"there is no ledger {self.path}",
                kind="ledger approval",
                remedy="whoever approves spending makes it: pysynthdp ledger init",
            )
        connection = self._connect()
        try:
            _check_layout(_LiteTables(connection), self.name)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        """Connect, with every commit on disk before it returns."""
        connection = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None
        )
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Say in a sentence that the file could not be read or written."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorname", type(error).__name__)
            busy = code.startswith("SQLITE_BUSY")
            what = "is being written by others" if busy else f"cannot be used ({code})"
            mend = "try again" if busy else "see that it is a ledger, whole, and may be written"
            full = OSError(errno.ENOSPC, "no space left") if code == "SQLITE_FULL" else None
            raise ReleaseError(f"{self.name} {what}", kind="ledger", remedy=mend) from full


class _LiteTables:
    """Tables in SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ask(self, statement: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement."""
        return self._connection.execute(statement, values or {}).fetchall()


class PostgresStorage:
    """A ledger in PostgreSQL, through SQLAlchemy, for several computers; each source is locked by its row.

    Parameters
    ----------
    address : Address
        Name of the environment variable that holds the URL.

    Notes
    -----
    Privacy: as :class:`Storage`; the database's own rights say who may read it.
    """

    def __init__(self, address: Address) -> None:
        self.address = address

    @property
    def name(self) -> str:
        """The variable."""
        return f"the ledger in the database that {self.address.url_env} names"

    def create(self) -> None:
        """Make the tables; those that are there are left as they are."""
        with self._begun() as tables:
            tables.ask("SELECT pg_advisory_xact_lock(7926330)")
            if not tables.ask("SELECT to_regclass('pysynthdp_ledger')::text")[0][0]:
                for statement in (*_TABLES, *_ONLY_ADDED_POSTGRES):
                    tables.ask(statement)
                _first_facts(tables)

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """See the tables as they are now."""
        with self._begun() as tables:
            self._check(tables)
            yield tables

    @contextmanager
    def writing(self, source: str) -> Iterator[Tables]:
        """Be alone with the account of a source: its row is locked until the commit."""
        with self._begun() as tables:
            self._check(tables)
            query = "SELECT source FROM pysynthdp_ledger_sources WHERE source = :source FOR UPDATE"
            tables.ask(query, {"source": source})
            yield tables

    def _check(self, tables: Tables) -> None:
        """Refuse a database without a ledger."""
        if not tables.ask("SELECT to_regclass('pysynthdp_ledger')::text")[0][0]:
            raise PrivacyError(
                f"there is no ledger in the database that {self.address.url_env} names",
                kind="ledger approval",
                remedy="whoever approves spending makes it: pysynthdp ledger init",
            )
        _check_layout(tables, self.name)

    @contextmanager
    def _begun(self) -> Iterator[Tables]:
        """Connect and begin; commit at the end, roll back after a fault."""
        with faults_of_database(self.address, "used as a ledger"), begun(self.address) as ask:
            yield _PostgresTables(ask)


class _PostgresTables:
    """Tables in PostgreSQL."""

    def __init__(self, ask: Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]) -> None:
        self._ask = ask

    def ask(self, statement: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement."""
        return self._ask(statement, values or {})
