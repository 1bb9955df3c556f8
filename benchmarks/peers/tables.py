"""Coded tables for tools that know categories only, and their copies back as numbers; for run.py.

The numbers get the eight bins that the score uses, with edges from the real table: a gift to the peers, who
would have to pay for them or take wider ones from the codebook. A value is drawn uniformly within its bin.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.noise.quality import BINS, binned
from benchmarks.noise.tables import Public

SEED = 20261128
N = 5_000  # rows of a sample where the table is the population


def sample(public: Public, kind: str, seed: int) -> pd.DataFrame:
    """Give the table itself for 'quality'; rows of it drawn with replacement for 'coverage'."""
    if kind == "quality":
        return public.table
    rng = np.random.default_rng([SEED, seed])
    return public.table.iloc[rng.integers(0, len(public.table), N)].reset_index(drop=True)


def domain(public: Public) -> dict[str, int]:
    """Give the number of codes of each column."""
    return {
        name: BINS if name in public.numbers else len(public.table[name].cat.categories)
        for name in public.table
    }


def coded(public: Public, frame: pd.DataFrame) -> pd.DataFrame:
    """Give codes for levels and bins."""
    cut = binned(public, frame)
    return pd.DataFrame({name: cut.get(name, frame[name]).cat.codes for name in public.table})


def decoded(public: Public, codes: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Give levels, and numbers uniform within their bins."""
    columns = {}
    for name in public.table:
        if name in public.numbers:
            low, high = public.table[name].min(), public.table[name].max()
            columns[name] = low + (codes[name] + rng.random(len(codes))) * (high - low) / BINS
        else:
            dtype = public.table[name].dtype
            columns[name] = pd.Categorical.from_codes(codes[name], dtype=dtype)
    return pd.DataFrame(columns)


def write_job(public: Public, folder: Path, *, kind: str, rho: float, seeds: int) -> None:
    """Lay out the input of a peer's program."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = len(public.table) if kind == "quality" else N
    (folder / "job.json").write_text(json.dumps({"domain": domain(public), "rho": rho, "rows": rows}))
    for seed in range(seeds):
        coded(public, sample(public, kind, seed)).to_csv(folder / f"in-{seed}.csv", index=False)


def read_copies(public: Public, folder: Path, seeds: int) -> dict[int, pd.DataFrame]:
    """Read the copies that a peer's program has written, by seed."""
    paths = {seed: folder / f"out-{seed}.csv" for seed in range(seeds)}
    return {
        seed: decoded(public, pd.read_csv(path), np.random.default_rng([SEED, seed, 1]))
        for seed, path in paths.items()
        if path.exists()
    }
