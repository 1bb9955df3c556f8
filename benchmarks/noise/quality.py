"""How near the copies of a noised release are to the real table: total variation, and regressions.

Run: python -m benchmarks.noise.quality TABLE SEEDS [--rho 0.1] [--out FILE.json]

Add-or-remove neighbours. Total variation is the mean over all one-, two- and three-way tables of the
categorical columns, and over one-way tables of the numbers in eight bins of equal width; z is the distance
of the synthetic from the real estimate over the non-private standard error (0.8 is pure resampling). One
copy from the shared fit, as other tools give.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.noise import tables as noised_tables
from benchmarks.noise.mixed import Analysis
from pysynthdp import Synthesizer
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.by_noise import ByNoise

BINS = 8


def variation(real: pd.DataFrame, made: pd.DataFrame, names: list[str], ways: int) -> float:
    """Mean total variation over all tables of so many columns."""

    def shares(frame: pd.DataFrame, chosen: tuple[str, ...]) -> pd.Series:
        return frame.groupby(list(chosen), observed=False).size() / len(frame)

    gaps = [
        0.5 * shares(real, chosen).sub(shares(made, chosen), fill_value=0).abs().sum()
        for chosen in itertools.combinations(names, ways)
    ]
    return float(np.mean(gaps))


def binned(public: noised_tables.Public, frame: pd.DataFrame) -> pd.DataFrame:
    """Cut numbers into bins of equal width over the real range."""
    cut = {}
    for name in public.numbers:
        low, high = public.table[name].min(), public.table[name].max()
        place = np.floor((frame[name] - low) / (high - low) * BINS).clip(0, BINS - 1)
        cut[name] = pd.Categorical(place, categories=range(BINS))
    return pd.DataFrame(cut)


def main() -> None:
    """Read the arguments, run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["sd2011", "fair"])
    parser.add_argument("seeds", type=int)
    parser.add_argument("--rho", type=float, default=0.1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    public = getattr(noised_tables, asked.table)()
    analysis = Analysis.of(public)
    names = [name for name in public.table if name not in public.numbers]
    synthesizer = Synthesizer(
        schema=public.schema,
        guarantee=ByNoise(ZCDP(asked.rho), hints=public.hints, unit=PrivacyUnit("add_remove")),
        progress=False,
    )
    own, variance, labels = analysis(public.table)
    kinds = np.array([label.split(":")[0] for label in labels])
    rows = []
    for seed in range(asked.seeds):
        started = time.perf_counter()
        fitted = synthesizer.fit(public.table)
        made = fitted.draw(1, k=len(public.table), rng=seed, parameters="fitted")[0]
        seconds = time.perf_counter() - started
        z = np.abs(analysis(made)[0] - own) / np.sqrt(variance)
        one = {f"tv{ways}cat": variation(public.table, made, names, ways) for ways in (1, 2, 3)}
        numbers = variation(binned(public, public.table), binned(public, made), list(public.numbers), 1)
        scores = {f"z_{kind}": float(z[kinds == kind].mean()) for kind in ("mean", "ols", "logit")}
        rows.append({**one, "tv1num": numbers, **scores, "seconds": seconds})
    found = pd.DataFrame(rows).mean().round(4).to_dict() | {
        "table": asked.table,
        "seeds": asked.seeds,
        "rho": asked.rho,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
