"""Time and memory of a fit to noised answers on long and wide tables, as ratios to the plain fit in one run.

Run: python -m benchmarks.noise.scale [--rows 1000000] [--write]     (a quiet machine; about four minutes)

Each fit runs in a process of its own, so that peak memory is its own; the table is made before the clock
starts and its memory is taken off (read from Linux's /proc). CPU seconds, one thread. Both roads have one
declared schema and the same methods: ``norm`` for numbers, ``polyreg`` or ``logreg`` for levels.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp

RESULTS = Path(__file__).parents[1] / "results" / "noised_scale.csv"
BAR = 4.0
TABLES = {  # columns of numbers, and levels of each column of levels
    "20 numbers": (20, ()),
    "10 numbers, 10 of levels": (10, (2, 2, 3, 4, 5, 6, 7, 8, 10, 12)),
    "30 columns, 200 features": (15, (2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 20, 20, 20, 22)),
}
COLUMNS = ("date", "table", "rows", "features", "road", "cpu_seconds", "peak_mb", "cpu_ratio", "bar", "met")


def table(numbers: int, levels: tuple[int, ...], rows: int) -> pd.DataFrame:
    """Correlated numbers within [-4, 4], and levels that depend on the first."""
    rng = np.random.default_rng(1)
    mix = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(range(numbers), range(numbers))))
    values = np.clip(rng.standard_normal((rows, numbers)) @ mix.T, -4, 4)
    frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(numbers)])
    for index, size in enumerate(levels):
        moved = frame["x0"].to_numpy() + 2 * rng.standard_normal(rows)
        codes = np.clip(np.digitize(moved, np.linspace(-3, 3, size - 1)), 0, size - 1)
        frame[f"c{index}"] = pd.Categorical.from_codes(codes, [f"level {code}" for code in range(size)])
    return frame


def schema(numbers: int, levels: tuple[int, ...]) -> sdp.Schema:
    """Declare the columns."""
    columns: list[sdp.NumericColumn | sdp.CategoricalColumn] = [
        sdp.NumericColumn(f"x{i}", lower=-4, upper=4, may_be_missing=False, fallback=0)
        for i in range(numbers)
    ]
    for index, size in enumerate(levels):
        own = [f"level {code}" for code in range(size)]
        columns.append(sdp.CategoricalColumn(f"c{index}", own, other=own[0], may_be_missing=False))
    return sdp.Schema(columns)


def memory(what: str) -> float:
    """Memory of this process in MB: ``VmRSS`` now, or ``VmHWM``, its peak since the last reset (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def one(name: str, road: str, rows: int) -> dict[str, float]:
    """Fit once in this process."""
    numbers, levels = TABLES[name]
    frame, declared = table(numbers, levels, rows), schema(numbers, levels)
    guarantee = sdp.ZCDP(0.1) if road == "noised" else None
    method = dict.fromkeys([f"x{i}" for i in range(numbers)], "norm")
    settings = sdp.Synthesizer(schema=declared, method=method, guarantee=guarantee, workers=1, progress=False)
    settings.fit(frame.head(5_000))  # imports, and OpenDP's start
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = memory("VmRSS"), time.process_time()
    settings.fit(frame)
    return {"cpu": time.process_time() - start, "peak": memory("VmHWM") - before}


def in_process(name: str, road: str, rows: int) -> dict[str, float]:
    """Fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.noise.scale", "--one", name, road, "--rows", str(rows)]
    found: dict[str, float] = json.loads(subprocess.check_output(command, text=True))  # noqa: S603  # this file
    return found


def measured(name: str, rows: int) -> list[dict[str, object]]:
    """Both roads on one table."""
    numbers, levels = TABLES[name]
    found = {road: in_process(name, road, rows) for road in ("plain", "noised")}
    made = []
    for road, each in found.items():
        ratio = each["cpu"] / found["plain"]["cpu"]
        row: dict[str, object] = {
            "date": datetime.now(UTC).date().isoformat(),
            "table": name,
            "rows": rows,
            "features": numbers + sum(levels),
            "road": road,
            "cpu_seconds": f"{each['cpu']:.2f}",
            "peak_mb": f"{each['peak']:.0f}",
            "cpu_ratio": f"{ratio:.2f}",
            "bar": BAR if road == "noised" and name == "20 numbers" else "",
        }
        row["met"] = ratio <= BAR if row["bar"] else ""
        made.append(row)
        print(*row.values(), flush=True)
    return made


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--one", nargs=2, metavar=("TABLE", "ROAD"))
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(*given.one, given.rows)))
        return
    rows = [row for name in TABLES for row in measured(name, given.rows)]
    if given.write:
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
