"""Memory, time and disk of a fit from Parquet and a streamed copy, by rows, and what that says of 10^8 rows.

Run: python -m benchmarks.scale.curve [ROWS,ROWS,...] [COLUMNS] [FOLDER] [--write]

Every size runs in a process of its own; the table is made by another one before. Stored in results/scale.csv;
without --write it is only shown, beside what the sizes together say of 10^8 rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.scale.memory import Peak

RESULTS = Path(__file__).parents[1] / "results" / "scale.csv"
ASKED = 1e8
GROWING = ("fit_cpu_s", "draw_cpu_s", "peak_mb", "scratch_mb", "copy_mb")


class Mapped:
    """Largest sum of nameless files that this process maps, in MB: what lies in scratch."""

    def __init__(self) -> None:
        self.mb, self._done = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Mapped:  # noqa: PYI034 -- a study's own
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.mb = max(self.mb, mapped_mb())


def mapped_mb() -> float:
    """Sum of nameless mapped files now, each once."""
    sizes: dict[str, int] = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("(deleted)"):
            first, last = (int(place, 16) for place in line.split()[0].split("-"))
            sizes[line.split()[4]] = last - first
    return sum(sizes.values()) / 2**20


def one_size(path: Path, rows: int, columns: int) -> dict[str, float]:
    """Fit a file and stream a copy of it, watched."""
    import pysynthdp as sdp

    warnings.simplefilter("ignore")
    sdp.synthesize(pd.DataFrame({"x": np.arange(99) % 7 + 0.5}), m=1)  # loads what a fit needs
    home = path.parent
    settings = sdp.Synthesizer(workers=1, progress=False, scratch=home)
    start, wall = time.process_time(), time.perf_counter()
    with Peak() as fitting, Mapped() as scratch:
        fitted = settings.fit(path)
    fit, fit_wall = time.process_time() - start, time.perf_counter() - wall
    start = time.process_time()
    with Peak() as drawing:
        folder = fitted.draw_to(home / "release", m=1, rng=1)
    return {
        "rows": rows,
        "columns": columns,
        "file_mb": path.stat().st_size / 2**20,
        "fit_cpu_s": fit,
        "fit_wall_s": fit_wall,
        "draw_cpu_s": time.process_time() - start,
        "before_mb": fitting.before,
        "peak_mb": max(fitting.mb, drawing.mb),
        "peak_draw_mb": drawing.mb,
        "scratch_mb": scratch.mb,
        "copy_mb": (folder / "synthetic_1.parquet").stat().st_size / 2**20,
    }


def measured(rows: int, columns: int, home: Path) -> dict[str, float]:
    """Make a table in one process and measure in another."""
    with tempfile.TemporaryDirectory(dir=home) as folder:
        path = Path(folder) / "people.parquet"
        command = [sys.executable, "-m", "benchmarks.scale.tables", str(path), str(rows), str(columns)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- ours
        command = [sys.executable, "-m", "benchmarks.scale.curve", "one", str(path), str(rows), str(columns)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 -- ours
    return dict(json.loads(done.stdout))


def foreseen(table: pd.DataFrame, rows: float = ASKED) -> pd.DataFrame:
    """Extend what grows with rows by a line with constant, weighted by size; with its standard error.

    Parameters
    ----------
    table : DataFrame
        Three sizes or more of one number of columns.
    rows : float
        Where to extend it to.

    Returns
    -------
    DataFrame
        A row a quantity: at so many rows, with its standard error, and by a million rows.
    """
    sizes = table["rows"].to_numpy(dtype=float)
    X = np.column_stack([np.ones(len(sizes)), sizes / 1e6]) / sizes[:, None]
    at = np.array([1.0, rows / 1e6])
    found = {}
    for name in GROWING:
        y = table[name].to_numpy(dtype=float) / sizes
        beta = np.linalg.lstsq(X, y, rcond=None)[0]
        s2 = float(((y - X @ beta) ** 2).sum() / max(len(y) - 2, 1))
        error = np.sqrt(s2 * at @ np.linalg.inv(X.T @ X) @ at)
        found[name] = {f"at {rows:.0e} rows": at @ beta, "standard error": error, "a million": beta[1]}
    return pd.DataFrame(found).T


def main(words: list[str]) -> None:
    """Measure each size, show it, and store it if asked."""
    plain = [word for word in words if word != "--write"]
    sizes, columns, home = (*plain, *("100000,300000,1000000", "15", tempfile.gettempdir())[len(plain) :])
    rows = [int(float(size)) for size in sizes.split(",")]
    found = pd.DataFrame([measured(each, int(columns), Path(home)) for each in rows]).round(2)
    found.insert(0, "date", datetime.now(UTC).date().isoformat())
    print(found.to_string(index=False))
    if "--write" in words:
        found.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)
    if len(found) > 2:
        print(foreseen(found).round(1).to_string())


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(one_size(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main(sys.argv[1:])
