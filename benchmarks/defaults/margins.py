"""Mean, variance and upper tail of a drawn number beside those of the table it was fitted to.

Run: python -m benchmarks.defaults.margins [--tables 1000] [--write]     (about a quarter of an hour)

Each law is drawn by ``sample`` (a column by itself) and by ``normrank`` (after a category of three levels
that moves it a little), plug-in and ``proper``. Bias: mean over the tables of the mean of four copies less
the mean of the table, over the mean standard error of a mean. Rule: within .1, for n = 300 and n = 1,000,
give or take three times its own noise. Tail: share of ten copies above the table's own 99.9 % point, over
.001, for one table of 200,000 rows; rule: between .8 and 1.2. Variance: median over tables of copy over
table; not ruled, since the largest record enters no fit.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

import pysynthdp as sdp

RESULTS = Path(__file__).parents[1] / "results" / "margins.csv"
LAWS = {
    "normal": lambda z: z,
    "exponential": lambda z: -np.log1p(-_uniform(z)),
    "lognormal .8": lambda z: np.exp(0.8 * z),
    "lognormal 1": np.exp,
    "lognormal 1.2": lambda z: np.exp(1.2 * z),
    "lognormal 1.5": lambda z: np.exp(1.5 * z),
}
SHORT = ("normal", "exponential", "lognormal 1", "lognormal 1.5")
LONG = ("normal", "exponential", "lognormal .8", "lognormal 1.2")
COLUMNS = ("date", "law", "n", "tables", "model", "proper", "measure", "value", "noise", "met")
COPIES = 4


def _uniform(z: np.ndarray) -> np.ndarray:
    """Probabilities of normal numbers."""
    return np.clip(ndtr(z), 0.0, 1 - 1e-16)


def table(law: str, n: int, rng: np.random.Generator, model: str) -> pd.DataFrame:
    """Make one table."""
    g = rng.integers(0, 3, n)
    lift = 0.3 * (g - 1) / np.sqrt(1 + 0.06) if model == "normrank" else 0.0
    y = LAWS[law](lift + rng.normal(size=n) / (np.sqrt(1.06) if model == "normrank" else 1.0))
    frame = pd.DataFrame({"g": np.array(list("abc"))[g], "y": y})
    return frame if model == "normrank" else frame[["y"]]


def drawn(frame: pd.DataFrame, *, proper: bool, m: int, seed: int) -> list[np.ndarray]:
    """Draw copies of y by the defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sdp.Synthesizer(progress=False, proper=proper).fit(frame)
    return [copy["y"].to_numpy() for copy in fit.draw(m=m, rng=seed)]


def short(law: str, n: int, tables: int, model: str, *, proper: bool) -> list[tuple[Any, ...]]:
    """Bias of the mean and ratio of the variance."""
    shifts, errors, ratios = [], [], []
    for number in range(tables):
        frame = table(law, n, np.random.default_rng((n, number)), model)
        copies = drawn(frame, proper=proper, m=COPIES, seed=number)
        shifts.append(np.mean([copy.mean() for copy in copies]) - frame["y"].mean())
        errors.append(frame["y"].std() / np.sqrt(n))
        ratios.append(np.mean([copy.var() for copy in copies]) / frame["y"].var())
    noise = float(np.std(shifts) / np.mean(errors) / np.sqrt(tables))
    bias = float(np.mean(shifts) / np.mean(errors))
    head = (law, n, tables, model, proper)
    met = abs(bias) <= 0.1 + 3 * noise
    ratio = round(float(np.median(ratios)), 3)
    return [(*head, "bias", round(bias, 3), round(noise, 3), met), (*head, "variance", ratio, "", "")]


def long(law: str, model: str, *, proper: bool) -> tuple[Any, ...]:
    """Share above the table's own 99.9 % point."""
    frame = table(law, 200_000, np.random.default_rng(1), model)
    point = frame["y"].quantile(0.999)
    shares = [float((copy > point).mean()) / 0.001 for copy in drawn(frame, proper=proper, m=10, seed=1)]
    noise = float(np.std(shares) / np.sqrt(len(shares)))
    value = float(np.mean(shares))
    return (law, 200_000, 1, model, proper, "tail", round(value, 3), round(noise, 3), 0.8 <= value <= 1.2)


def main() -> None:
    """Run all and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    settings = parser.parse_args()
    rows = []
    for model in ("sample", "normrank"):
        for proper in (False, True):
            found = [long(law, model, proper=proper) for law in LONG]
            for law in SHORT:
                for n in (300, 1_000):
                    found += short(law, n, settings.tables, model, proper=proper)
            rows += [(datetime.now(UTC).date().isoformat(), *row) for row in found]
            print(*rows[-len(found) :], sep="\n", flush=True)
    if settings.write:
        with RESULTS.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    assert all(row[-1] in ("", True) for row in rows)


if __name__ == "__main__":
    main()
