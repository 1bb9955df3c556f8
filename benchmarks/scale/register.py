"""The register's job of the operators' page, from PostgreSQL to a folder, at its size: CPU and memory.

Run: python -m benchmarks.scale.register [PERSONS] [--write]

It starts a server of its own (Debian's package postgresql; as root) and runs ``pysynthdp job run`` in a
process of its own, with the job as the page has it: three copies of a million rows each, as Parquet and CSV.
The bars, written down before the first run at a million persons: at most 4 GB, and exit code 0. Stored in
results/register.csv, a line a size. The bar is about its own memory (RssAnon and RssShmem); the peak is
of all pages, those of nameless files on disk too, which the system takes back when it needs them.
"""

from __future__ import annotations

import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
VIGNETTE = ROOT / "vignettes" / "11-night-run"
RESULTS = Path(__file__).parents[1] / "results" / "register.csv"
OPEN = ("--source", "REG-2026Q1", "--unit", "person", "--relation", "add_remove", "--rho", "0.25")


@contextmanager
def server() -> Iterator[str]:
    """Start PostgreSQL on a socket in a folder of its own; give its URL."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    home = Path(tempfile.mkdtemp(prefix="pg"))
    shutil.chown(home, "postgres", "postgres")

    def run(program: str, *words: str) -> None:
        command = [
            "runuser",
            "-u",
            "postgres",
            "--",
            str(programs / program),
            "-D",
            str(home / "data"),
            *words,
        ]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- ours

    run("initdb", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    run(
        "pg_ctl",
        "-w",
        "-l",
        str(home / "log"),
        "-o",
        f"-c listen_addresses='' -k {home} -c fsync=off",
        "start",
    )
    try:
        yield f"postgresql://postgres@/postgres?host={home}"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(home)


def tables() -> Any:
    """Load what makes the register."""
    spec = importlib.util.spec_from_file_location("night_tables", VIGNETTE / "tables.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(VIGNETTE)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def own_memory(command: list[str], folder: str, environment: dict[str, str]) -> int:
    """Run a command; give the most that it held itself, in MB, without pages of files."""
    most = 0
    with subprocess.Popen(  # noqa: S603 -- ours
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            with suppress(OSError):  # it may end meanwhile
                status = Path(f"/proc/{process.pid}/status").read_text("ascii")
                held = re.findall(r"Rss(?:Anon|Shmem):\s+(\d+)", status)
                most = max(most, sum(map(int, held)) // 1024)
            time.sleep(0.05)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return most


def measured(persons: int) -> dict[str, object]:
    """Make the register and run its job."""
    with server() as url, tempfile.TemporaryDirectory() as folder:
        made = tables()
        table = made.register(persons)
        made.write_register(table, url.replace("postgresql:", "postgresql+psycopg:"))
        rows = len(table)
        del table
        for name in ("sql", "meta"):
            shutil.copytree(VIGNETTE / name, Path(folder) / name)
        for name in ("ledger", "scratch"):
            (Path(folder) / name).mkdir()
        shutil.copy(VIGNETTE / "register.toml", folder)
        here = {**os.environ, "REGISTER_URL": url, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}

        def shell(*words: str) -> None:
            command = [sys.executable, "-m", "pysynthdp", *words]
            subprocess.run(command, check=True, cwd=folder, env=here, capture_output=True)  # noqa: S603 -- ours

        shell("ledger", "init", "ledger/register.db", *OPEN, "--approval", "bench")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = own_memory([sys.executable, "-m", "pysynthdp", "job", "run", "register.toml"], folder, here)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sizes = {"persons": persons, "rows": rows, "copies": "3 x 1,000,000"}
    return {**sizes, "cpu_s": round(spent, 1), "own_mb": own, "peak_mb": after.ru_maxrss // 1024}


def main() -> None:
    """Run it, print the line, and store it if asked to."""
    numbers = [word for word in sys.argv[1:] if not word.startswith("--")]
    found = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        **measured(int(float(numbers[0])) if numbers else 1_000_000),
    }
    head, line = ",".join(found), ",".join(f'"{value}"' for value in found.values())
    print(f"{head}\n{line}")
    if "--write" in sys.argv:
        others = RESULTS.read_text("utf-8").splitlines()[1:] if RESULTS.exists() else []
        kept = [each for each in others if f',"{found["persons"]}",' not in each]
        RESULTS.write_text("\n".join([head, *kept, line]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
