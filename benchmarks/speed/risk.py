"""Seconds and memory of ``disclosure_risk``: a questionnaire of 5,000 people, and a table of a million.

``python -m benchmarks.speed.risk [rows]`` appends to ``results/risk.csv``. Copies are shuffled column by
column within one half of the others, as what is counted does not depend on how they were made.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp
from benchmarks.scale.memory import Peak

RESULTS = Path(__file__).parents[1] / "results" / "risk.csv"


def people(n, columns, rng):
    """Half of the columns levels, a quarter counts, a quarter amounts."""
    out = {"sex": pd.Categorical(rng.choice(["F", "M"], n)), "age": rng.integers(16, 97, n)}
    out["region"] = pd.Categorical.from_codes(rng.integers(0, 16, n), [f"r{at}" for at in range(16)])
    out["size"] = pd.Categorical.from_codes(rng.integers(0, 6, n), [f"s{at}" for at in range(6)])
    for at in range(columns - len(out)):
        if at % 4 < 2:
            out[f"c{at}"] = pd.Categorical.from_codes(rng.integers(0, 2 + at % 9, n), list(range(2 + at % 9)))
        elif at % 4 == 2:
            out[f"c{at}"] = rng.poisson(5 + out["age"] / 20)
        else:
            out[f"c{at}"] = np.exp(rng.normal(7, 1, n)).round(0 if n < 10_000 else 2)
    return pd.DataFrame(out)


def main(n, columns):
    rng = np.random.default_rng(1)
    table = people(n, columns, rng)
    copies = [people(n, columns, rng) for _ in range(5)]
    held = sum(int(each.memory_usage(deep=False).sum()) for each in (table, *copies)) / 2**20
    keys = {
        "neighbour": ["sex", "age", "region", "size"],
        "employer": ["sex", "age", "c0", "c1"],
        "small": ["sex", "region", "c0"],
    }
    start = time.process_time()
    with Peak() as peak:
        found = sdp.disclosure_risk(table, copies, keys=keys, targets=["c2", "c4", "c5"])
    took = time.process_time() - start
    today = datetime.now(UTC).date().isoformat()
    row = (
        today,
        n,
        columns,
        5,
        round(took, 2),
        round(held, 1),
        round(peak.mb - peak.before, 1),
        len(found.alarms),
    )
    frame = pd.DataFrame(
        [row], columns=["date", "rows", "columns", "copies", "cpu_s", "frames_mb", "grown_mb", "alarms"]
    )
    print(frame.to_string(index=False))
    frame.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False, lineterminator="\n")


if __name__ == "__main__":
    asked = int(sys.argv[1]) if sys.argv[1:] else 5_000
    main(asked, 35 if asked == 5_000 else 20)
