"""How often does a fit look at its rows? Passes over all rows and over samples, by what they are for.

Run: python -m benchmarks.speed.passes [--rows 1000000] [--write]     (about half a minute)

Twelve columns as a survey has them, all defaults. A pass is one reading of the encoded rows, of all or of
every s-th; ``asked`` are the sums that steps asked for, of which several are answered by one pass.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.curator.drive import StepFit
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.models.ask import RowSum

RESULTS = Path(__file__).parents[1] / "results" / "passes.csv"
COLUMNS = ("date", "rows", "what", "all_rows", "sample")


def table(rows: int) -> pd.DataFrame:
    """Strings of 2, 16 and 5 levels, dates, few-valued numbers, counts, skewed numbers, missing values."""
    rng = np.random.default_rng(12)
    health = rng.standard_normal(rows)
    age = rng.integers(18, 90, rows)
    edu = np.clip(np.round(2 + 0.6 * health - (age - 50) / 60 + rng.standard_normal(rows)), 0, 4).astype(int)
    income = np.round(np.exp(7 + 0.3 * edu + 0.1 * health + 0.8 * rng.standard_normal(rows)), 2)
    score = np.clip(np.round(1.5 + 0.7 * health + 0.5 * rng.standard_normal(rows)), 0, 3)
    rent = np.round(0.3 * income * rng.gamma(4, 0.25, rows))
    smoke = rng.random(rows) < 1 / (1 + np.exp(1 + 0.5 * health))
    frame = pd.DataFrame(
        {
            "sex": np.array(["female", "male"], dtype=object)[rng.integers(0, 2, rows)],
            "age": age,
            "region": np.array([f"region {i}" for i in range(16)], dtype=object)[
                np.minimum(rng.geometric(0.15, rows) - 1, 15)
            ],
            "edu": np.array(["none", "low", "middle", "high", "top"], dtype=object)[edu],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, rows), "D"),
            "children": np.minimum(rng.poisson(0.5 + age / 60), 8),
            "score": score.astype(int),
            "visits": rng.negative_binomial(2, 1 / (1 + np.exp(0.8 - 0.5 * health))),
            "income": income,
            "rent": np.where(rng.random(rows) < 0.35, 0.0, rent),
            "hours": np.round(np.clip(38 + 8 * rng.standard_normal(rows), 0, 80), 1),
            "smoke": np.where(smoke, "yes", "no").astype(object),
        }
    )
    frame.loc[rng.random(rows) < 0.05, "edu"] = None
    frame.loc[rng.random(rows) < 0.12, "income"] = np.nan
    return frame


@contextmanager
def counted() -> Iterator[tuple[Counter[tuple[str, bool]], Counter[tuple[str, bool]]]]:
    """Count passes by who made them, and sums asked by step; each with whether of all rows."""
    passes: Counter[tuple[str, bool]] = Counter()
    asked: Counter[tuple[str, bool]] = Counter()
    blocks, advance = EncodedRows.blocks, StepFit.advance

    def reading(rows: EncodedRows, every: int = 1) -> object:
        passes[caller(), every == 1] += 1
        return blocks(rows, every)

    def asking(fit: StepFit, answer: object) -> None:
        advance(fit, answer)  # type: ignore[arg-type]
        if fit.query is not None:
            every = fit.query.every if isinstance(fit.query, RowSum) else 1
            name = f"{fit.task.target.name} ({type(fit.model).__name__})"
            asked[name, every == 1] += 1

    with patch.object(EncodedRows, "blocks", reading), patch.object(StepFit, "advance", asking):
        yield passes, asked


def caller() -> str:
    """Name the module that asks for a pass."""
    import inspect

    for frame in inspect.stack(0)[2:]:
        path = Path(frame.filename)
        if path.name not in {"encoded.py", "contextlib.py"}:
            return f"{path.parent.name}/{path.stem} {frame.function}"
    return "?"


def main() -> None:
    """Count and print, or store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    given = parser.parse_args()
    frame = table(given.rows)
    settings = sdp.Synthesizer(workers=1, progress=False)
    settings.fit(frame.head(3000))
    start = time.process_time()
    with counted() as (passes, asked):
        settings.fit(frame)
    print(f"{time.process_time() - start:.2f} CPU s")
    rows = [*listed("pass", passes), *listed("asked", asked)]
    for row in rows:
        print(f"{row[2]:>4} of all, {row[3]:>4} of a sample: {row[0]} {row[1]}")
    if given.write:
        date = datetime.now(UTC).date().isoformat()
        with RESULTS.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows((date, given.rows, f"{kind}: {what}", a, s) for kind, what, a, s in rows)


def listed(kind: str, counts: Counter[tuple[str, bool]]) -> list[tuple[str, str, int, int]]:
    """One line a name, and their sum."""
    names = list(dict.fromkeys(name for name, _ in counts))
    rows = [(kind, name, counts[name, True], counts[name, False]) for name in names]
    return [*rows, (kind, "in all", sum(r[2] for r in rows), sum(r[3] for r in rows))]


if __name__ == "__main__":
    main()
