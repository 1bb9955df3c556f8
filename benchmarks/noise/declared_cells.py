"""Coverage where a number is drawn in declared cells under noise, beside ``norm`` and ``normrank``.

Run: python -m benchmarks.noise.declared_cells run FOLDER [--runs 80] [--rho 0.5]   (a file a method)
     python -m benchmarks.noise.declared_cells table FOLDER           (writes results/noised_cells.csv)

A made-up population of 200,000: sex, four regions, age, an income that is skewed, twice as spread for one sex
and given in full hundreds by a fifth, and hours of work, which depend on all of them. Cells twice:
``narrow`` has 15, down to five in ten thousand rows; a few runs showed that noise in counts of nearly empty
cells, cut at zero, then moves the slope of sex, so ``cells`` was made by a rule: a cell has about ten times
the noise of a count (3 rows at rho = 0.5) or more. A run draws n = 2,000 rows, fits with zCDP, draws m = 20
copies and pools by ``noise_floored``; truth is the same analysis of the population. ``later`` is a slope of a
column that is drawn after the income: given its cell, it does not depend on what is inside.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.analysis.stack import stack
from pysynthdp.models import Cells
from pysynthdp.privacy.guarantees.zcdp import ZCDP

RESULTS = Path(__file__).parents[1] / "results" / "noised_cells.csv"
N, M = 2_000, 20
EDGES = (750, 1_000, 1_250, 1_500, 1_750, 2_000, 2_500, 3_000, 4_000, 5_500)
NARROW = (250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000, 2_500, 3_000, 3_500, 4_000, 5_000, 6_500)
ABOVE = (1_000, 2_000, 4_000)
METHODS: dict[str, Any] = {
    "cells": Cells(edges=EDGES),
    "narrow": Cells(edges=NARROW),
    "norm": "norm",
    "normrank": "normrank",
}
SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        CategoricalColumn("region", ["n", "e", "s", "w"], other="n", may_be_missing=False),
        NumericColumn("age", lower=18, upper=90, decimals=0, may_be_missing=False, fallback=50),
        NumericColumn("income", lower=50, upper=10_000, decimals=0, may_be_missing=False, fallback=1_500),
        NumericColumn("hours", lower=0, upper=80, may_be_missing=False, fallback=35),
    ]
)
COLUMNS = ("date", "method", "rho", "n", "runs", "kind", "estimand", "coverage", "length", "bias", "plain")


def population() -> pd.DataFrame:
    """Make the population."""
    rng, size = np.random.default_rng(2_024), 200_000
    sex, region = rng.random(size) < 0.5, rng.choice(4, size, p=[0.4, 0.3, 0.2, 0.1])
    age = np.clip(rng.normal(48, 15, size), 18, 90).round()
    spread = np.where(sex, 0.6, 0.3)
    income = np.exp(7.1 + 0.25 * sex + 0.1 * region + 0.006 * (age - 48) + rng.normal(0, 1, size) * spread)
    income = np.where(rng.random(size) < 0.2, np.round(income, -2), np.round(income))
    income = np.clip(income, 50, 10_000)
    hours = np.clip(28 + 2 * sex + 0.002 * income + rng.normal(0, 8, size), 0, 80)
    names = {"sex": np.where(sex, "M", "F"), "region": np.array(list("nesw"))[region]}
    return pd.DataFrame({**names, "age": age, "income": income, "hours": hours})


def estimates(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Estimates, variances and labels 'kind: term'."""
    income, n = frame["income"].to_numpy(float), len(frame)
    q, u, labels = [income.mean()], [income.var(ddof=1) / n], ["mean: income"]
    for edge in ABOVE:
        p = float((income > edge).mean())
        q, u = [*q, p], [*u, max(p * (1 - p), 1 / n) / n]
        labels.append(f"share: above {edge}")
    sex = (frame["sex"] == "M").to_numpy(float)
    dummies = [(frame["region"] == level).to_numpy(float) for level in "esw"]
    given = {
        "sex": sex,
        "e": dummies[0],
        "s": dummies[1],
        "w": dummies[2],
        "age": frame["age"].to_numpy(float),
    }
    X = np.column_stack([np.ones(n), *given.values()])
    low = np.maximum(income, 1.0)  # norm may draw below nought
    for kind, y, design, names in (
        ("ols", income, X, [*given]),
        ("ols of log", np.log(low), X, [*given]),
        ("later", frame["hours"].to_numpy(float), np.column_stack([X, income]), [*given, "income"]),
    ):
        inverse = np.linalg.inv(design.T @ design)
        beta = inverse @ (design.T @ y)
        rest = y - design @ beta
        variance = inverse.diagonal() * float(rest @ rest) / (n - len(beta))
        chosen = [1 + names.index(name) for name in names if kind != "later" or name in ("sex", "income")]
        q, u = [*q, *beta[chosen]], [*u, *variance[chosen]]
        labels += [f"{kind}: {names[at - 1]}" for at in chosen]
    return np.array(q), np.array(u), labels


def run(method: str, *, runs: int, rho: float) -> dict[str, Any]:
    """Simulate one method; the same rows for each."""
    table, rng = population(), np.random.default_rng(77)
    truth, _, labels = estimates(table)
    synthesizer = Synthesizer(
        schema=SCHEMA, guarantee=ZCDP(rho), method={"income": METHODS[method]}, workers=1, progress=False
    )
    hits, lengths, gaps, plain, started = [], [], [], [], time.perf_counter()
    for _ in range(runs):
        sample = table.iloc[rng.integers(0, len(table), N)].reset_index(drop=True)
        release = synthesizer.fit(sample).draw(M, rng=int(rng.integers(2**31)))
        q, u, _ = zip(*(estimates(copy) for copy in release), strict=True)
        done = combine_stack(stack(np.array(q), np.array(u), n_syn=N, n_org=N), RULES["noise_floored"]())
        low, high = done.conf_int().T
        own, variance, _ = estimates(sample)
        hits.append((low <= truth) & (truth <= high))
        lengths.append((high - low) / (2 * 1.96 * np.sqrt(variance)))
        gaps.append((np.mean(q, axis=0) - truth) / np.sqrt(variance))
        plain.append(np.abs(own - truth) <= 1.96 * np.sqrt(variance))
    found = {
        "coverage": np.mean(hits, axis=0),
        "length": np.median(lengths, axis=0),
        "bias": np.mean(gaps, axis=0),
        "plain": np.mean(plain, axis=0),
    }
    facts = {"method": method, "rho": rho, "n": N, "runs": runs, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    seconds = round((time.perf_counter() - started) / runs, 2)
    return {"facts": facts, "labels": labels, "seconds": seconds, **{k: v.tolist() for k, v in found.items()}}


def table(folder: Path) -> None:
    """Write the stored table from every method that is there; bias is in standard errors of the table."""
    rows = []
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        for at, label in enumerate(found["labels"]):
            kind, _, term = label.partition(": ")
            numbers = {name: f"{found[name][at]:.3f}" for name in ("coverage", "length", "bias", "plain")}
            rows.append({**found["facts"], "kind": kind, "estimand": term, **numbers})
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*row.values())


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--rho", type=float, default=0.5)
    asked = parser.parse_args()
    if asked.command == "table":
        table(asked.folder)
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    for method in METHODS:
        found = run(method, runs=asked.runs, rho=asked.rho)
        (asked.folder / f"{method}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
