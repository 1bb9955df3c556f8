"""Coverage of pooled 95 % intervals, and sizes of joint tests, for a list fixed before the runs.

Run: python -m benchmarks.coverage.inference {means,joint,tables,defaults} RUNS [OUT.csv]

A group's rows in OUT.csv are replaced; other rows stay. One process, so that it can run beside other work.
`covered` counts a run without an interval as a miss; for tests it is one less the size at 5 %.
"""

from __future__ import annotations

import csv
import sys
import warnings
from datetime import UTC, datetime
from itertools import groupby, product
from pathlib import Path

import numpy as np

from benchmarks.coverage.defaults import COLUMNS, N
from benchmarks.coverage.defaults import one_run as default_run
from benchmarks.coverage.joint import ratio_pvalues, wald_pvalues
from benchmarks.coverage.means import limits, make
from benchmarks.coverage.situations import JOINT, MEANS, TABLES, Situation
from benchmarks.coverage.tables import TRUTH, one_run
from pysynthdp.base.errors import PysynthdpWarning

SEED = 20261128
HEAD = ("group", "date", "runs", "made", "n_org", "m", "r", "n_syn", "analysis", "rule", "expect", "covered")
HEAD += ("undefined", "median_length", "bar", "within_bar")


def row(group: str, s: Situation, hit: np.ndarray, missing: np.ndarray, length: float) -> dict[str, object]:
    """One line of the result."""
    runs = hit.size
    rate = float(hit.mean())
    bar = 0.015 + 3 * np.sqrt(0.95 * 0.05 / runs)
    inside = str(abs(rate - 0.95) < bar) if s.has_bar else "no bar"
    today = datetime.now(UTC).date().isoformat()
    values = (group, today, runs, s.made, s.n, s.m, s.r, s.k, s.analysis, s.rule, s.expect, f"{rate:.4f}")
    values += (f"{missing.mean():.4f}", f"{length:.4g}", f"{bar:.4f}", inside)
    return dict(zip(HEAD, values, strict=True))


def of_limits(group: str, s: Situation, found: np.ndarray, truth: np.ndarray | float) -> dict[str, object]:
    """Count the intervals (runs, 2) that hold the truth."""
    low, high = found.T
    with np.errstate(invalid="ignore"):
        hit = (low <= truth) & (truth <= high)
    missing = ~np.isfinite(high - low)
    length = float(np.median((high - low)[~missing])) if not missing.all() else np.nan
    return row(group, s, hit, missing, length)


def of_pvalues(group: str, s: Situation, found: np.ndarray) -> dict[str, object]:
    """Count the tests that do not reject."""
    with np.errstate(invalid="ignore"):
        return row(group, s, found >= 0.05, ~np.isfinite(found), np.nan)


def means(runs: int) -> list[dict[str, object]]:
    """Run the normal means, all runs of a situation at once; ten times as many, since they cost little."""
    rows = []
    for number, s in enumerate(MEANS):
        copies = make(s, np.random.default_rng([SEED, number]), 10 * runs)
        truth = np.broadcast_to(copies.truth, (10 * runs, 1))[:, 0]
        rows.append(of_limits("means", s, limits(s, copies), truth))
    return rows


def joint(runs: int) -> list[dict[str, object]]:
    """Run the joint tests."""
    rows = []
    for number, s in enumerate(JOINT):
        seed = SEED + 1 + number
        if s.analysis == "logistic":
            found = ratio_pvalues(s, seed, runs)
        else:
            found = wald_pvalues(s, np.random.default_rng(seed), runs)
        rows.append(of_pvalues("joint", s, found))
        print(rows[-1], flush=True)
    return rows


def tables(runs: int) -> list[dict[str, object]]:
    """Run the tables; situations that share the copies' making share the runs."""
    rows = []
    for (made, n), same in groupby(TABLES, key=lambda s: (s.made, s.n)):
        some = tuple(same)
        found = np.array([one_run(seed, made, n, some) for seed in range(runs)])
        rows += [of_limits("tables", s, found[:, i], TRUTH[s.analysis]) for i, s in enumerate(some)]
        print(*rows[-len(some) :], sep="\n", flush=True)
    return rows


def defaults(runs: int) -> list[dict[str, object]]:
    """Run default methods on real tables; `rule` gives the sample's coverage, `expect` held or flagged."""
    rows = []
    for table, m, proper in product(COLUMNS, (5,), (False, True)):
        found = [default_run(seed, table, m=m, proper=proper) for seed in range(runs)]
        for term in found[0]:
            own, hit, flagged = np.array([run[term] for run in found]).T
            rows.append(_default_row(table, term, (own, hit, flagged), m=m, proper=proper))
        print(*rows[-len(found[0]) :], sep="\n", flush=True)
    return rows


def _default_row(
    table: str, term: str, found: tuple[np.ndarray, np.ndarray, np.ndarray], *, m: int, proper: bool
) -> dict[str, object]:
    """Write one term of one table: the bar is one-sided, from the sample's own coverage."""
    own, hit, flagged = found
    held = bool(flagged.mean() < 0.5)
    bar = 0.015 + 3 * np.sqrt(0.95 * 0.05 / hit.size)
    inside = str(hit.mean() > min(own.mean(), 0.95) - bar) if held else "no bar"
    today = datetime.now(UTC).date().isoformat()
    made = f"{table}, defaults, {'drawn' if proper else 'fitted'}"
    values = ("defaults", today, hit.size, made, N, m, 1, N, term, f"sample {own.mean():.4f}")
    values += ("held" if held else "flagged", f"{hit.mean():.4f}", "", "", f"{bar:.4f}", inside)
    return dict(zip(HEAD, values, strict=True))


def store(group: str, rows: list[dict[str, object]], path: Path) -> None:
    """Replace the rows of a group."""
    old = []
    if path.exists():
        with path.open(newline="") as file:
            old = [line for line in csv.DictReader(file) if line["group"] != group]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEAD)
        writer.writeheader()
        writer.writerows([*old, *rows])


def main() -> None:
    """Run one group and store or print it."""
    group, runs = sys.argv[1], int(sys.argv[2])
    warnings.simplefilter("ignore", PysynthdpWarning)  # few copies under T_f: that is what is measured
    rows = {"means": means, "joint": joint, "tables": tables, "defaults": defaults}[group](runs)
    if len(sys.argv) > 3:
        store(group, rows, Path(sys.argv[3]))
    else:
        print(*rows, sep="\n")


if __name__ == "__main__":
    main()
