"""One table fitted from its file and from memory: CPU, memory, and whether the copies are the same bytes.

Run: python -m benchmarks.scale.beside_memory [ROWS] [COLUMNS] [FOLDER] [--write]

Each road runs in a process of its own, one after the other, twice in turns; CPU is that of the fit and of one
streamed copy, reading too, by the smaller of the two runs. The bars, written down before the first run at ten
million rows and fifteen columns: at most 600 MB that no file backs, CPU at most 1.15 times that of memory,
equal bytes. Stored in results/beside_memory.csv.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.scale.memory import Peak

RESULTS = Path(__file__).parents[1] / "results" / "beside_memory.csv"
ROADS = ("file", "memory")
MODULE = "benchmarks.scale.beside_memory"


def one_road(road: str, path: Path, home: Path) -> dict[str, float | str]:
    """Fit and stream one copy, watched."""
    import pysynthdp as sdp

    warnings.simplefilter("ignore")
    sdp.synthesize(pd.DataFrame({"x": np.arange(99) % 7 + 0.5}), m=1)  # loads what a fit needs
    start = time.process_time()
    with Peak() as peak:
        table = path if road == "file" else sdp.read_table(path)
        own = {"scratch": home} if road == "file" else {}
        fitted = sdp.Synthesizer(workers=1, progress=False, **own).fit(table)
        folder = fitted.draw_to(home / f"release-{road}", m=1, rng=1)
    copy = (folder / "synthetic_1.parquet").read_bytes()
    spent = time.process_time() - start
    return {"cpu_s": spent, "peak_mb": peak.mb, "copy": hashlib.sha256(copy).hexdigest()}


def measured(rows: int, columns: int, home: Path) -> dict[str, object]:
    """Make the table, run both roads in turns, and put them side by side."""
    found: dict[str, list[dict[str, float | str]]] = {road: [] for road in ROADS}
    with tempfile.TemporaryDirectory(dir=home) as folder:
        path = Path(folder) / "people.parquet"
        command = [sys.executable, "-m", "benchmarks.scale.tables", str(path), str(rows), str(columns)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- ours
        for road in ROADS * 2:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks.scale.beside_memory",
                    "one",
                    road,
                    str(path),
                    own,
                ]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 -- ours
            found[road].append(json.loads(done.stdout))
    cpu = {road: min(float(run["cpu_s"]) for run in runs) for road, runs in found.items()}
    peak = {road: max(float(run["peak_mb"]) for run in runs) for road, runs in found.items()}
    copies = {run["copy"] for runs in found.values() for run in runs}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "rows": rows,
        "columns": columns,
        **{f"{road}_cpu_s": round(cpu[road], 1) for road in ROADS},
        "cpu_ratio": round(cpu["file"] / cpu["memory"], 3),
        **{f"{road}_peak_mb": round(peak[road]) for road in ROADS},
        "same_bytes": len(copies) == 1,
    }


def main(words: list[str]) -> None:
    """Measure, show, and store if asked."""
    plain = [word for word in words if word != "--write"]
    rows, columns, home = (*plain, *("1000000", "15", tempfile.gettempdir())[len(plain) :])
    found = pd.DataFrame([measured(int(float(rows)), int(columns), Path(home))])
    print(found.to_string(index=False))
    if "--write" in words:
        found.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(one_road(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))))
    else:
        main(sys.argv[1:])
