"""Private linear statistics on SD2011: two-way marginals of ten columns, measured error beside the bound.

Run: python -m benchmarks.noise.linear_statistics PATH_TO_FOLDER_WITH_SD2011 [epsilon ...]

The table is not ours to give away: the folder must hold ``sd2011.csv`` and ``sd2011_levels.json``.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.models.joint.linear_statistics import LinearStatistics
from pysynthdp.protection.sampling.by_sampling import BySampling

TEN = [
    *("sex", "agegr", "edu", "marital", "smoke", "sport", "alcabuse", "workab", "englang", "ls"),
]
MISSING = "(missing)"
POINTS = 20_000
FAILURE = 0.05


def read(folder: Path) -> pd.DataFrame:
    """Read ten columns as text; a missing value is a level of its own."""
    frame = pd.read_csv(folder / "sd2011.csv", keep_default_na=False, na_values=["NA"], dtype=str)
    return frame[TEN].fillna(MISSING)


def declared(folder: Path) -> sdp.Schema:
    """Declare the levels from the survey's code book."""
    book = json.loads((folder / "sd2011_levels.json").read_text())
    columns = [
        sdp.CategoricalColumn(name, [*book[name], MISSING], other=MISSING, may_be_missing=False, dtype="str")
        for name in TEN
    ]
    return sdp.Schema(columns)


def shares(frame: pd.DataFrame, schema: sdp.Schema) -> np.ndarray:
    """Shares of all cells of all two-way marginals."""
    codes = {name: pd.Categorical(frame[name], categories=list(schema[name].levels)).codes for name in TEN}
    found = []
    for one, two in itertools.combinations(TEN, 2):
        width = len(schema[two].levels)
        place = codes[one].astype(int) * width + codes[two]
        found.append(np.bincount(place, minlength=len(schema[one].levels) * width) / len(frame))
    return np.concatenate(found)


def bounds(scale: float, statistics: int, k: int) -> tuple[float, float]:
    """Largest errors that noise and bootstrap leave with probability 95 % each (union bounds).

    P(max of F Laplace > scale log(F/gamma)) <= gamma; Hoeffding for shares: sqrt(log(2F/gamma)/(2k)).
    """
    noise = scale * math.log(statistics / FAILURE)
    return noise, math.sqrt(math.log(2 * statistics / FAILURE) / (2 * k))


def run(frame: pd.DataFrame, schema: sdp.Schema, epsilon: float) -> None:
    """Fit, draw and compare once."""
    model = LinearStatistics(epsilon=epsilon, ways=2, space=POINTS)
    start = time.perf_counter()
    fitted = sdp.Synthesizer(schema=schema, joint=[(TEN, model)], guarantee=BySampling(), progress=False).fit(
        frame
    )
    release = fitted.draw(m=1, k=len(frame))
    seconds = time.perf_counter() - start
    params = fitted._machine.fit.steps[0].params  # noqa: SLF001 -- what no release shows
    real = shares(frame, schema)
    error = np.abs(shares(release[0], schema) - real)
    noise, bootstrap = bounds(params.scale, params.functions, len(frame))
    print(
        f"epsilon {epsilon:g}: {seconds:.1f} s, {params.functions} statistics, "
        f"{len(params.weights)} of {POINTS} points used\n"
        f"  noise scale {params.scale:.5f}; largest noise, 95 % bound {noise:.4f}\n"
        f"  distance of the reweighted points from the noisy shares {params.distance:.4f}\n"
        f"  largest error of a released share {error.max():.4f}, mean {error.mean():.5f}\n"
        f"  bound: noise + distance + bootstrap {noise + params.distance + bootstrap:.4f}\n"
        f"  a release of uniform records would err by {np.abs(real - uniform(schema)).max():.4f}"
    )


def uniform(schema: sdp.Schema) -> np.ndarray:
    """Shares of the two-way marginals under independent uniform levels."""
    sizes = [len(schema[one].levels) * len(schema[two].levels) for one, two in itertools.combinations(TEN, 2)]
    return np.concatenate([np.full(size, 1 / size) for size in sizes])


if __name__ == "__main__":
    where = Path(sys.argv[1])
    table, facts = read(where), declared(where)
    for asked in map(float, sys.argv[2:] or ("1", "4", "16")):
        run(table, facts, asked)
