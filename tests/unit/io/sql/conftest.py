"""A PostgreSQL of its own, on a socket in a folder that goes when the tests are done."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MUST_RUN = os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") == "yes"
PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


def as_postgres(*command: str | Path) -> None:
    subprocess.run(["runuser", "-u", "postgres", "--", *map(str, command)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A URL."""
    if not MUST_RUN:
        pytest.importorskip("adbc_driver_postgresql")
        if PROGRAMS is None or os.geteuid() or shutil.which("runuser") is None:
            pytest.skip("needs the server of Debian's package postgresql, and to be root, which starts it")
    home = Path(tempfile.mkdtemp(prefix="pg"))  # its socket needs a short path
    shutil.chown(home, "postgres", "postgres")
    data, quiet = home / "data", f"-c listen_addresses='' -k {home} -c fsync=off"
    as_postgres(PROGRAMS / "initdb", "-D", data, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    as_postgres(PROGRAMS / "pg_ctl", "-D", data, "-w", "-l", home / "log", "-o", quiet, "start")
    try:
        yield f"postgresql://postgres@/postgres?host={home}"
    finally:
        as_postgres(PROGRAMS / "pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(home)


@pytest.fixture
def postgres(server, monkeypatch):
    """Run statements in an empty schema; the variable that names the database."""
    import adbc_driver_postgresql.dbapi as adbc

    def run(*statements: str) -> None:
        with adbc.connect(server) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def ask(query: str) -> list[tuple[object, ...]]:
        with adbc.connect(server) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            rows = cursor.fetchall() if query.startswith("SELECT") else []
            connection.commit()
            return rows

    def kill() -> None:
        ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )

    run.ask, run.kill = ask, kill
    ask.__name__ = "ask_postgres"
    run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    monkeypatch.setenv("PEOPLE_URL", server)
    return run
