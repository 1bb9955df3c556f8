"""How often pooled 95 % intervals of copied households cover what they estimate.

Run: ``python -m benchmarks.units.coverage FILE RUNS [--m 5] [--first 1] [--log LOG] [--write]`` from the root
of the repository; ``--write`` appends to ``results/households_coverage.csv``. FILE is the table ``eusilc`` of
R's package laeken as CSV. ``--log`` names a file to which each run is added, and whose runs are not done
again, so that a study can be stopped.

The 6,000 households of the table are the population: each run draws 1,000 of them with replacement, fits
them, draws m copies and pools by the rule that the release's tags ask for. Kept are eight columns, and an
equivalised income made of them, so that a run takes seconds.

``mean, poor, gini``: of equivalised income over persons: the mean, the share below 60 % of the population's
median, the Gini index. ``age, female``: slopes of a regression of it on both, over persons. Errors are of
households as clusters, by default. A run whose interval is undefined counts as uncovered. Goal: .93 to .97.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import pysynthdp as sdp
from benchmarks.units.households import SCALE
from pysynthdp.analysis import apply, gini_of, mean_of

RESULT = Path(__file__).parents[1] / "results" / "households_coverage.csv"
HOUSEHOLDS = 1000
KEPT = ("db030", "hsize", "db040", "age", "rb090", "py010n", "py100n", "hy050n")
INCOME = "(sum(py010n + py100n) + hy050n) / eqSS"
NAMES = ("mean", "poor", "gini", "age", "female")
Found = tuple[float, float, float]  # an estimate, and the ends of its interval
Runs = dict[int, dict[str, Found]]  # what was found, by seed
FORMULA = "eqIncome ~ age + C(rb090, Treatment('male'))"


def population(path: Path) -> pd.DataFrame:
    """Read the population, with the income that is studied."""
    table = pd.read_csv(path, keep_default_na=False, na_values=["NA"])[[*KEPT, "eqSS"]]
    own = table[["py010n", "py100n"]].sum(axis=1).groupby(table["db030"]).transform("sum")
    return table.assign(eqIncome=(own + table["hy050n"]) / table["eqSS"])


def estimates(data: sdp.SyntheticRelease | pd.DataFrame, line: float) -> dict[str, Found]:
    """Give each estimate with the ends of its interval, of copies; of a table the truth alone."""

    def poor(frame: pd.DataFrame) -> pd.Series:
        return (frame["eqIncome"] < line).astype(float)

    if isinstance(data, pd.DataFrame):
        fit = sdp.analysis.wrappers.smf.ols(FORMULA, data).fit().params
        gini = gini_of("eqIncome")(data).values[0]  # noqa: PD011 -- of estimates
        found = [data["eqIncome"].mean(), poor(data).mean(), gini, fit["age"], fit.iloc[1]]
        return {name: (float(value),) * 3 for name, value in zip(NAMES, found, strict=True)}
    tables = [apply(mean_of("eqIncome"), data), sdp.ols(f"I(eqIncome < {line!r}) ~ 1", data)]
    tables += [apply(gini_of("eqIncome"), data), sdp.ols(FORMULA, data)]
    rows = [(table, 0) for table in tables[:3]] + [(tables[3], "age"), (tables[3], 1)]
    found = {}
    for name, (table, term) in zip(NAMES, rows, strict=True):
        at = table.params.index[term] if isinstance(term, int) else term
        low, high = table.conf_int().loc[at]
        found[name] = (float(table.params[at]), float(low), float(high))
    return found


def run(table: pd.DataFrame, seed: int, m: int, line: float) -> dict[str, Found]:
    """Draw a sample of households, copy it, and estimate."""
    rng = np.random.default_rng(seed)
    rows = table.groupby("db030").indices
    ids = rng.choice(table["db030"].unique(), HOUSEHOLDS)
    sample = table.iloc[np.concatenate([rows[own] for own in ids])].reset_index(drop=True)
    sample["db030"] = np.repeat(np.arange(HOUSEHOLDS) + 1, [len(rows[own]) for own in ids])
    asked = dict.fromkeys(("py010n", "py100n"), "age >= 16")
    synthesizer = sdp.Synthesizer(
        units=sdp.Units(id="db030", size="hsize", order="age desc"),
        derive={"eqSS": SCALE, "eqIncome": INCOME},
        universe=asked,
        progress=False,
        workers=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimates(synthesizer.fit(sample).draw(m=m, rng=seed), line)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("runs", type=int)
    parser.add_argument("--m", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = population(asked.file)
    line = 0.6 * float(table["eqIncome"].median())
    truth = {name: value for name, (value, _, _) in estimates(table, line).items()}
    runs = _logged(asked.log)
    for seed in range(asked.first, asked.first + asked.runs):
        if seed not in runs:
            runs[seed] = run(table, seed, asked.m, line)
            _log(asked.log, seed, runs[seed])
        if seed % 10 == 0:
            print(seed, {name: _covered(runs, name, truth) for name in NAMES}, flush=True)
    found = pd.DataFrame([_row(runs, name, truth, asked.m) for name in NAMES])
    print(found.to_string(index=False))
    if asked.write:
        found.to_csv(RESULT, mode="a", header=not RESULT.exists(), index=False)


def _row(runs: Runs, name: str, truth: dict[str, float], m: int) -> dict[str, object]:
    """Sum up the runs of one estimate."""
    hits, values = _covered(runs, name, truth), np.array([run[name] for run in runs.values()])
    low, high = binomtest(hits, len(runs)).proportion_ci(method="exact")
    spread = values[:, 0].std()
    return {
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "estimand": name,
        "m": m,
        "runs": len(runs),
        "covered": round(hits / len(runs), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "bias_in_sd": round((values[:, 0].mean() - truth[name]) / spread, 3),
        "length_over_sd": round(np.mean(values[:, 2] - values[:, 1]) / spread / 3.92, 3),
    }


def _covered(runs: Runs, name: str, truth: dict[str, float]) -> int:
    """Count the intervals that hold the truth; undefined ones do not."""
    return sum(run[name][1] <= truth[name] <= run[name][2] for run in runs.values())


def _logged(log: Path | None) -> Runs:
    """Read the runs of a log."""
    if log is None or not log.exists():
        return {}
    lines = map(json.loads, log.read_text("utf-8").splitlines())
    return {each["seed"]: {name: tuple(each[name]) for name in NAMES} for each in lines}


def _log(log: Path | None, seed: int, found: dict[str, Found]) -> None:
    """Add a run to a log."""
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"seed": seed, **found}) + "\n")


if __name__ == "__main__":
    main()
