"""How often planted leaks raise an alarm of ``disclosure_risk``, and safe copies do.

``python -m benchmarks.attacks.planted [rows] [runs]`` appends to ``results/planted.csv``.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp

RESULTS = Path(__file__).parents[1] / "results" / "planted.csv"
KEYS = {"neighbour": ["sex", "age", "region"], "work": ["sex", "edu", "region"]}


def people(n, rng):
    """People with heaped and smooth numbers, and some levels."""
    age = rng.integers(18, 90, n)
    edu = np.clip((age / 30 + rng.normal(0, 1, n)).round(), 0, 4).astype(int)
    income = np.exp(7 + 0.3 * edu + 0.01 * (age - 50) + rng.normal(0, 0.6, n)).round()
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": age,
            "region": rng.choice(list("ABCDE"), n, p=[0.4, 0.2, 0.2, 0.1, 0.1]),
            "edu": edu.astype(str),
            "income": np.where(rng.random(n) < 0.4, (income / 100).round() * 100, income),
            "bmi": (25 + 0.05 * (age - 50) + rng.normal(0, 4, n)).round(1),
            "tax": (income * 0.2 + rng.normal(0, 50, n)).round(),
            "smoke": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
        }
    )


def planted(kind, table, copies, rng):
    """Put a leak into copies."""
    n = len(table)
    out = [copy.copy() for copy in copies]
    for copy in out if kind == "copied records, 5 %" else []:
        copy.iloc[rng.permutation(n)[: n // 20]] = table.iloc[rng.permutation(n)[: n // 20]].to_numpy()
    if kind == "remembered outlier":
        out[rng.integers(len(out))].iloc[rng.integers(n)] = table.iloc[
            int(table["income"].argmax())
        ].to_numpy()
    if kind == "one person's value in a cell of 40":
        own = float(rng.choice(table["bmi"].drop_duplicates(keep=False)))
        for copy in out:
            copy.loc[copy.index[:40], "bmi"] = own
    if kind == "shifted table":
        moved = table.assign(**{name: table[name] + 1 for name in ("age", "income", "bmi", "tax")})
        out = [moved.iloc[rng.permutation(n)].reset_index(drop=True) for _ in out]
    return out


KINDS = (
    "safe",
    "safe, hold-out",
    "copied records, 5 %",
    "remembered outlier",
    "one person's value in a cell of 40",
    "shifted table",
)


def main(n, runs):
    raised = Counter()
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        both = people(2 * n, rng)
        table, fresh = both.iloc[:n].reset_index(drop=True), both.iloc[n:].reset_index(drop=True)
        copies = sdp.synthesize(table, m=3, rng=seed, terms="main").copies
        for kind in KINDS:
            found = sdp.disclosure_risk(
                table,
                planted(kind, table, copies, rng),
                keys=KEYS,
                targets=["income", "smoke"],
                ngroups={"income": 8},
                attacks=100,
                holdout=fresh if kind == "safe, hold-out" else None,
            )
            raised[kind] += bool(found.alarms)
    today = datetime.now(UTC).date().isoformat()
    rows = pd.DataFrame([(today, kind, n, runs, raised[kind]) for kind in KINDS],
                        columns=["date", "copies", "rows", "evaluations", "with_alarm"])  # fmt: skip
    print(rows.to_string(index=False))
    rows.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False, lineterminator="\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*(int(each) for each in (sys.argv[1:] or (400, 100))))
