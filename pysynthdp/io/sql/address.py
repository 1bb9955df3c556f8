"""Where a database is: an address that is read from the environment when it is needed, and never shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pysynthdp.base.errors import PlanError, PysynthdpError, SchemaError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

__all__ = ["Address", "begun", "faults_of_database", "snapshot"]

_NO_SUCH = {
    "42P01": "has no such table", "42703": "has no such column", "3F000": "has no such schema",
    "42P07": "has such a table already", "42501": "does not let this user do that",
    "25006": "lets nobody write now",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """A database, by the name of the environment variable that holds its URL.

    Parameters
    ----------
    url_env : str
        Name of the variable.

    Raises
    ------
    PlanError
        If this is a URL itself.

    Examples
    --------
    >>> Address("PEOPLE_URL")
    Address(url_env='PEOPLE_URL')
    """

    url_env: str

    def __post_init__(self) -> None:
        if not isinstance(self.url_env, str) or not self.url_env.isidentifier():
            raise PlanError(
                "url_env must be the name of an environment variable that holds the URL of the database: a "
                "URL has a password in it, which belongs in no program and no file",
                kind="database",
            )

    def url(self) -> URL:
        """Read the URL.

        Raises
        ------
        PlanError
            If the variable is not set, holds no URL, or a package is missing.
        """
        _need("sqlalchemy", "sql")
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        text = os.environ.get(self.url_env)
        if not text:
            what = f"the environment variable {self.url_env} is not set"
            raise PlanError(
                what, kind="database", remedy="let it hold the URL, such as postgresql://host/base"
            )
        try:
            return make_url(text)
        except (ArgumentError, ValueError):  # may hold the text
            raise PlanError(
                f"the environment variable {self.url_env} holds no URL of a database",
                kind="database",
                remedy="write it as postgresql://user:password@host/base or sqlite:////path/of.db",
            ) from None

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL, which is read and written through Arrow."""
        return self.url().get_backend_name() == "postgresql"

    def quoted(self, name: str) -> str:
        """Write a name as the database takes it."""
        return str(self.url().get_dialect()().identifier_preparer.quote(name))

    def arrow(self) -> Any:
        """Connect to PostgreSQL through ADBC."""
        _need("adbc_driver_postgresql", "postgres")
        import adbc_driver_postgresql.dbapi as adbc

        plain = self.url().set(drivername="postgresql").render_as_string(hide_password=False)
        return adbc.connect(plain)

    def engine(self) -> Any:
        """Make an engine of SQLAlchemy that opens a connection each time; texts of no encoding are read."""
        from sqlalchemy import create_engine, event
        from sqlalchemy.pool import NullPool

        url = self.url()
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            raise PlanError(f"there is no database where {self.url_env} says", kind="database")
        if url.drivername == "postgresql" and find_spec("psycopg2") is None:
            url = url.set(drivername="postgresql+psycopg")
        try:
            engine = create_engine(url, poolclass=NullPool, hide_parameters=True)
        except Exception:  # noqa: BLE001 -- a driver that is absent, or an option that it does not know
            raise PlanError(
                f"the database that {self.url_env} names is of a kind that cannot be opened here",
                kind="database",
                remedy=f"install the driver of SQLAlchemy for {url.get_backend_name()}",
            ) from None
        if url.get_backend_name() == "sqlite":
            event.listen(engine, "connect", _lenient)
        return engine


@contextmanager
def begun(address: Address) -> Iterator[Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]]:
    """Begin a transaction, give what runs a statement in it, and commit; after a fault roll back."""
    from sqlalchemy import text

    def ask(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        found = connection.execute(text(statement), dict(values))
        return [tuple(row) for row in found] if found.returns_rows else []

    engine = address.engine()
    try:
        with engine.begin() as connection:
            yield ask
    finally:
        engine.dispose()


@contextmanager
def snapshot(address: Address) -> Iterator[Any]:
    """Open a connection that sees the database as it is now, and changes nothing there."""
    engine = address.engine()
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":  # whose driver begins no transaction to read
                lasting = connection.execution_options(isolation_level="AUTOCOMMIT")
                lasting.exec_driver_sql("PRAGMA query_only = ON")
                lasting.exec_driver_sql("BEGIN")
            else:
                repeatable = engine.dialect.name in ("mysql", "mariadb")
                level = "REPEATABLE READ" if repeatable else "SERIALIZABLE"
                lasting = connection.execution_options(isolation_level=level)
            yield lasting
            lasting.rollback()
    finally:
        engine.dispose()


def _lenient(connection: Any, _: Any) -> None:
    """Let no byte of a text end the reading."""
    connection.text_factory = lambda content: content.decode("utf-8", "replace")


def _need(module: str, extra: str) -> None:
    """Refuse what needs a package that is not there."""
    if find_spec(module) is None:
        raise PlanError(
            f"a table in such a database needs the package {module}",
            kind="package",
            remedy=f"install pysynthdp[{extra}]",
        )


@contextmanager
def faults_of_database(address: Address, doing: str) -> Iterator[None]:
    """Say in a sentence that a database failed; its own message may hold a cell or a password.

    Parameters
    ----------
    address : Address
        Which database.
    doing : str
        What failed: ``"read"``, ``"written to"``.

    Raises
    ------
    PlanError
        If there is no such table or column.
    SchemaError
        If the connection was lost, or never made.
    """
    try:
        yield
    except PysynthdpError:
        raise
    except Exception as error:
        code = _state_of(error)
        what = f"the database that {address.url_env} names "
        if code in _NO_SUCH:
            raise PlanError(what + _NO_SUCH[code], kind="database", remedy="check the names") from None
        if not _is_of_database(error):
            raise
        shown = f" (SQLSTATE {code})" if code else ""
        raise SchemaError(
            f"{what}could not be reached, or broke off while it was {doing}{shown}",
            kind="database",
            remedy="nothing was kept; see whether it runs, and start again",
        ) from None


def _state_of(error: BaseException) -> str:
    """Give the code of the fault in the SQL standard, which names no value; empty without one."""
    original = getattr(error, "orig", None) or error
    return str(getattr(original, "sqlstate", None) or "")


def _is_of_database(error: Exception) -> bool:
    """Whether a fault comes from a database or the way to it."""
    rooms = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return bool(rooms & {"sqlalchemy", "adbc_driver_manager", "pyarrow", "sqlite3", "psycopg"}) or (
        isinstance(error, OSError) and error.errno is None
    )
