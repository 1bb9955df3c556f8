"""What a comparison of copies with the confidential table costs.

    python -m benchmarks.speed.compare SD2011.csv

A real survey of 5,000 rows and 35 columns, five copies by the defaults: bar 6 CPU seconds. A generated table
of a million rows and 20 columns, and a second one as its copy: bar 120 CPU seconds, and memory beside both
tables below twice the table. Bars were written down before the first run.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp

RESULTS = Path(__file__).parents[1] / "results" / "compare.csv"
ROWS = 1_000_000


def million(seed: int) -> pd.DataFrame:
    """Ten numbers, seven columns of levels and three of text."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((ROWS, 3))
    found = {f"x{j}": np.round(z[:, j % 3] * (j + 1) + rng.standard_normal(ROWS), 2) for j in range(10)}
    found |= {f"c{j}": _levels(z[:, j % 3] + 0.7 * rng.standard_normal(ROWS), 5 + j % 3) for j in range(7)}
    found |= {f"b{j}": np.where(z[:, j] + rng.standard_normal(ROWS) > 0, "yes", "no") for j in range(3)}
    return pd.DataFrame(found)


def _levels(score: np.ndarray, size: int) -> pd.Categorical:
    """Cut a score into levels."""
    codes = np.clip(np.floor(score + size / 2), 0, size - 1).astype(int)
    return pd.Categorical.from_codes(codes, [f"level {at}" for at in range(size)])


def resident() -> int:
    """Bytes of the process in memory."""
    return int(Path("/proc/self/statm").read_text("utf-8").split()[1]) * 4096


class Peak(threading.Thread):
    """The most memory while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.start_at, self.most, self.stop = resident(), 0, threading.Event()

    def run(self) -> None:
        """Look fifty times a second."""
        while not self.stop.wait(0.02):
            self.most = max(self.most, resident() - self.start_at)


def of_case(name: str, table: pd.DataFrame, copies: object) -> dict[str, object]:
    """Compare once."""
    size = table.memory_usage(deep=True).sum()
    peak, start = Peak(), time.process_time()
    peak.start()
    sdp.compare(table, copies)
    took = time.process_time() - start
    peak.stop.set()
    peak.join()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "table": name,
        "rows": len(table),
        "columns": table.shape[1],
        "cpu_s": round(took, 1),
        "memory_over_table": round(peak.most / size, 2),
    }


def main() -> None:
    """Run both cases and store them."""
    warnings.simplefilter("ignore", sdp.PysynthdpWarning)
    survey = pd.read_csv(sys.argv[1])
    codes = {name: {-8: "not asked"} for name in ("income", "nociga", "bmi") if name in survey}
    release = sdp.Synthesizer(progress=False, missing=codes).fit(survey).draw(m=5, rng=1)
    sdp.compare(survey.iloc[:200], survey.iloc[200:400])  # libraries are loaded
    rows = [
        of_case("survey, 5 copies", survey, release),
        of_case("generated, 1 copy", million(1), million(2)),
    ]
    found = pd.DataFrame(rows)
    print(found.to_string(index=False))
    found.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
