"""What copies of real tables tell of the records that they were fitted to, beside records that nobody saw.

Run: ``python -m benchmarks.attacks.held_out FOLDER [--methods default cart] [--seeds 3] [--label WORDS]
[--write]`` from the root of the repository; ``--write`` appends to ``results/held_out.csv``. FOLDER holds
tables as CSV files, such as those of ``benchmarks.defaults.bank``; none is confidential.

The attacks are those of ``even.py``, on five copies of half A of each table of 300 rows or more; half B
nobody saw: ``auc`` and ``tpr`` (membership by the nearest record of any copy; the second where one in a
hundred false positives is allowed), ``repu`` (replicated uniques of A less those of B); and of
``rare_levels.py`` on twelve villages of one record, ten tables a seed and five copies: ``rare`` (correlation
of guessed and true income) and ``ill`` (the ill who are found less the others who are called ill). All are
larger where more is told; .5, .01 and 0 for nothing.

Rule: a change of the defaults raises none of them by more than two standard errors of the mean difference
over tables and seeds, against the code before it, run with the same seeds under another ``--label``:
``--against LABEL`` prints that.
"""

from __future__ import annotations

import argparse
import datetime as dt
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pysynthdp as sdp
from benchmarks.attacks.even import halves, membership, replicated
from benchmarks.attacks.rare_levels import attack, table

RESULT = Path(__file__).parents[1] / "results" / "held_out.csv"
M = 5
VILLAGES = 10  # tables a seed


def copies_of(real: pd.DataFrame, method: str, seed: int) -> list[pd.DataFrame]:
    """Fit and draw by the defaults, or all columns by one method."""
    settings: dict[str, Any] = {} if method == "default" else {"method": method}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(sdp.Synthesizer(progress=False, workers=1, **settings).fit(real).draw(m=M, rng=seed))


def of_tables(folder: Path, method: str, seed: int) -> Iterator[tuple[str, int, str, float]]:
    """Attack the halves of every table."""
    for name, half, other in halves(folder, seed):
        copies = copies_of(half, method, seed)
        found = dict(membership(half, other, copies)) | {"repu": replicated(half, other, copies, seed)}
        yield from ((name, len(half), what, value) for what, value in found.items())


def of_villages(method: str, seed: int) -> Iterator[tuple[str, int, str, float]]:
    """Attack villages of one record."""
    for number in range(VILLAGES * (seed - 1), VILLAGES * seed):
        real = table(number)
        found = map(np.array, zip(*attack(real, copies_of(real, method, number)), strict=True))
        income, guess, ill, called = found
        alike = float(np.corrcoef(income, guess)[0, 1]) if guess.std() > 0 else 0.0
        told = float(called[ill].mean() - called[~ill].mean()) if 0 < ill.sum() < ill.size else 0.0
        yield from (
            (f"villages {number}", len(real), what, value) for what, value in (("rare", alike), ("ill", told))
        )


def against(made: pd.DataFrame, label: str) -> str:
    """Compare measures with those that were stored under a label, table by table and seed by seed."""
    stored = pd.read_csv(RESULT)
    keys = ["method", "table", "seed", "measure"]
    both = made.merge(stored[stored["code"] == label], on=keys, suffixes=("", "_before"))
    lines = []
    for (method, what), own in both.groupby(["method", "measure"]):
        gap = own["value"] - own["value_before"]
        error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
        verdict = "RISES" if gap.mean() > 2 * error else "does not rise"
        lines.append(
            f"{method} {what}: difference {gap.mean():+.4f} (error {error:.4f}, {len(gap)}) {verdict}"
        )
    return "\n".join(lines)


def main() -> None:
    """Attack every table by every method."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--methods", nargs="+", default=["default", "cart"])
    asked.add_argument("--seeds", type=int, default=3)
    asked.add_argument("--label", default=sdp.__version__)
    asked.add_argument("--against")
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    today, rows = dt.datetime.now(tz=dt.UTC).date().isoformat(), []
    for method in given.methods:
        for seed in range(1, given.seeds + 1):
            found = (*of_tables(given.folder, method, seed), *of_villages(method, seed))
            rows += [(today, given.label, method, name, n, seed, what, v) for name, n, what, v in found]
    heads = ["date", "code", "method", "table", "n", "seed", "measure", "value"]
    made = pd.DataFrame(rows, columns=heads).round(4)
    print(made.groupby(["method", "measure"])["value"].agg(["mean", "sem", "count"]).round(4).to_string())
    if given.against:
        print(against(made, given.against))
    if given.write:
        made.to_csv(RESULT, mode="a", header=not RESULT.exists(), index=False)


if __name__ == "__main__":
    main()
