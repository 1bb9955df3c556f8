"""How near copied households are to the half of the households that no model saw.

Run: ``python -m benchmarks.units.households FILE [--seeds 10] [--resampled] [--write]`` from the root of the
repository; ``--write`` appends to ``results/households.csv``. FILE is the table ``eusilc`` of R's package
laeken as CSV. With ``--resampled`` the households of half A, drawn with replacement, stand in the place of
copies (``results/households_resampled.csv``): how near are real households that were seen?

Households are halved, anew for each seed; models see half A, five copies of as many households are drawn.

``exact``: the least share of rows, over copies, in which ``hsize`` is the number of members, all columns of
the household are the same in all its rows, and ``eqSS`` and ``eqIncome`` are what they are computed from.
``spouses, children, types, incomes``: total variation distance of copies to half B over that of half A to
half B. Of the difference of ages of the two oldest members, both of age, and whether they are of one sex;
of the number of members under 18 by age of the oldest; of the type of household by region; of equivalised
income in fifths by type. 1 is what a fresh sample reaches. Goal: at most 1.2 as the mean over seeds, and
``exact`` 1.
``cpu``: seconds of fit and draw.
"""

from __future__ import annotations

import argparse
import datetime as dt
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

import pysynthdp as sdp

RESULT = Path(__file__).parents[1] / "results" / "households.csv"
RESAMPLED = RESULT.with_name("households_resampled.csv")
M = 5
TIMES = 40  # samples of half A in the place of copies
PERSONAL = ("py010n", "py050n", "py090n", "py100n", "py110n", "py120n", "py130n", "py140n")
SCALE = "1 + 0.5 * (count(age >= 14) - 1) + 0.3 * count(age < 14)"
INCOME = (
    f"(sum({' + '.join(PERSONAL)}) + hy040n + hy050n + hy070n + hy080n + hy090n + hy110n - hy130n - hy145n)"
    " / eqSS"
)
SHARED = ("db040", "hy040n", "hy050n", "hy070n", "hy080n", "hy090n", "hy110n", "hy130n", "hy145n")


def read(path: Path) -> pd.DataFrame:
    """Read the table; weights are left out, which are of the design and not of households."""
    table = pd.read_csv(path, keep_default_na=False, na_values=["NA"])
    return table.drop(columns=["db090", "rb050"])


def synthesizer(**settings: object) -> sdp.Synthesizer:
    """Say what households are: the settings of the study."""
    asked = dict.fromkeys(("pl030", "pb220a", *PERSONAL), "age >= 16")
    return sdp.Synthesizer(
        units=sdp.Units(id="db030", size="hsize", order="age desc", member="rb030"),
        derive={"eqSS": SCALE, "eqIncome": INCOME},
        universe=asked,
        progress=False,
        workers=1,
        **settings,
    )


def exact(copy: pd.DataFrame) -> float:
    """Give the least share of rows that are as households have to be."""
    unit = copy.groupby("db030", sort=False)
    held = [unit["age"].transform("size") == copy["hsize"]]
    held += [unit[name].transform("nunique") <= 1 for name in (*SHARED, "hsize", "eqSS", "eqIncome")]
    old = (copy["age"] >= 14).groupby(copy["db030"]).transform("sum")
    scale = 1 + 0.5 * (old - 1) + 0.3 * (copy["hsize"] - old)
    held.append((scale - copy["eqSS"]).abs() < 1e-9)
    own = copy[list(PERSONAL)].sum(axis=1).groupby(copy["db030"]).transform("sum")
    household = copy[list(SHARED[1:7])].sum(axis=1) - copy["hy130n"] - copy["hy145n"]
    held.append(((own + household) / scale - copy["eqIncome"]).abs() < 1e-6)
    return min(float(each.mean()) for each in held)


def households(table: pd.DataFrame) -> pd.DataFrame:
    """Make one row a household: what the measures are of."""
    rows = table.sort_values(["db030", "age"], ascending=[True, False], kind="stable")
    unit = rows.groupby("db030", sort=False)
    found = unit[["hsize", "db040", "eqIncome"]].first()
    found["oldest"] = unit["age"].first()
    second = rows[unit.cumcount() == 1].set_index("db030")
    first = rows[unit.cumcount() == 0].set_index("db030")
    found["apart"] = (first["age"] - second["age"]).where(second["age"] >= 18)
    found["same"] = first["rb090"] == second["rb090"].reindex(first.index)
    found["children"] = (rows["age"] < 18).groupby(rows["db030"]).sum()
    adults = found["hsize"] - found["children"]
    kinds = [
        (adults <= 1) & (found["children"] > 0),
        (adults == 1) & (found["oldest"] < 65),
        adults == 1,
        (adults == 2) & (found["children"] == 0),
        (adults == 2),
        found["children"] == 0,
    ]
    found["type"] = np.select(kinds, range(len(kinds)), len(kinds))
    return found


def cells(found: pd.DataFrame, fifths: np.ndarray, ages: np.ndarray) -> dict[str, pd.Series]:
    """Give the cell of each household in each measure."""
    gaps = pd.cut(found["apart"], [-1, 0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 25, 30, 35, 120]).cat.codes
    old = np.searchsorted(ages, found["oldest"])
    income = np.searchsorted(fifths, found["eqIncome"])
    couples = found["apart"].notna()
    return {
        "spouses": (gaps * 2 + found["same"])[couples],
        "children": found["children"].clip(upper=4) * 10 + old,
        "types": found["db040"].astype(str) + found["type"].astype(str),
        "incomes": pd.Series(income * 10, index=found.index) + found["type"],
    }


def distance(one: pd.Series, other: pd.Series) -> float:
    """Total variation distance of two columns of cells."""
    shares = [each.value_counts(normalize=True) for each in (one, other)]
    return float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)


def run(table: pd.DataFrame, seed: int, *, resampled: bool = False) -> dict[str, float]:
    """Measure one split."""
    rng = np.random.default_rng(seed)
    ids = table["db030"].unique()
    seen = table["db030"].isin(rng.permutation(ids)[: len(ids) // 2])
    half, other = households(table[seen]), households(table[~seen])
    cuts = [np.quantile(half[name], [0.2, 0.4, 0.6, 0.8]) for name in ("eqIncome", "oldest")]
    ours, theirs = cells(half, *cuts), cells(other, *cuts)
    if resampled:
        samples = [half.sample(len(half), replace=True, random_state=rng) for _ in range(TIMES)]
        return ratios([cells(sample, *cuts) for sample in samples], ours, theirs)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = synthesizer().fit(table[seen].reset_index(drop=True)).draw(m=M, rng=seed)
    cpu = time.process_time() - start
    found = ratios([cells(households(copy), *cuts) for copy in release], ours, theirs)
    return {"exact": min(exact(copy) for copy in release), **found, "cpu": cpu}


def ratios(
    copies: list[dict[str, pd.Series]], ours: dict[str, pd.Series], theirs: dict[str, pd.Series]
) -> dict[str, float]:
    """Give the mean distance of copies to half B over that of half A, for each measure."""
    return {
        name: float(np.mean([distance(copy[name], theirs[name]) for copy in copies]))
        / distance(ours[name], theirs[name])
        for name in theirs
    }


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--resampled", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = read(asked.file)
    rows = []
    for seed in range(1, asked.seeds + 1):
        rows.append({"seed": seed, **run(table, seed, resampled=asked.resampled)})
        print(rows[-1], flush=True)
    found = pd.DataFrame(rows).round(4)
    print(found.to_string(index=False))
    print(summary(found.drop(columns="seed")).to_string())
    if asked.write:
        result = RESAMPLED if asked.resampled else RESULT
        found.insert(0, "date", dt.datetime.now(tz=dt.UTC).date().isoformat())
        found.to_csv(result, mode="a", header=not result.exists(), index=False)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Give the mean over splits of each measure, and a 95 % interval of it by Student's t."""
    half = t.ppf(0.975, len(found) - 1) * found.std() / np.sqrt(len(found))
    return pd.DataFrame(
        {"mean": found.mean(), "low": found.mean() - half, "high": found.mean() + half}
    ).round(3)


if __name__ == "__main__":
    main()
