"""What copies tell of the one record that a level stands for: an attack on rare levels.

Run: ``python -m benchmarks.attacks.rare_levels [tables] [label]`` from the root of the repository; appends to
``results/rare_levels.csv``. No confidential data.

A table has 600 records: 588 in two towns, and 12 in villages of one person each; ``income`` is lognormal
(median 1,808, log sd 0.6), ``ill`` is 20 % yes, neither depends on the place. The attacker sees the copies
alone and knows who lives in each village. Of a village he takes the rows of all copies that name it: their
median income is his guess of the person's income, and more than half of them ill his guess of ``ill``. Where
no row names it he guesses as for anybody: the median of all rows, and not ill.

Reported over all villages of all tables: the correlation of guess and income, overall and about the means of
each table (within); the median of the guess's absolute error, and of the error of who guesses the median of
all rows for everybody (blind); the share of the ill who are found, and of the others who are called ill
(false alarm). ``order`` is "first" where the place is drawn first, so that it predicts the others, and "last"
where it is drawn from them.

Rule: with nothing learned of one person, the correlation within tables stays below 0.25 (its standard error
over 120 villages is 0.09), the error is not below 0.9 of the blind one, and the ill are not found more than
0.15 oftener than others are called ill. The twelve together are an average of twelve records, which has a
correlation of 1 / sqrt(12) = 0.29 with each of them: so much may be seen overall.
"""

from __future__ import annotations

import csv
import datetime as dt
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pysynthdp as sdp

RESULT = Path(__file__).parents[1] / "results" / "rare_levels.csv"
VILLAGES = 12
ROWS = 600
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "norm": {"method": {"income": "norm"}},
    "proper": {"proper": True},
    "sample": {"method": {"income": "sample", "ill": "sample", "town": "sample"}},
}
HEADS = ("date", "code", "order", "method", "m")
MEASURES = ("villages", "correlation", "within", "error", "blind", "found", "false_alarm")


def table(seed: int) -> pd.DataFrame:
    """Two towns, and villages of one record."""
    rng = np.random.default_rng(seed)
    towns = np.where(rng.random(ROWS) < 0.5, "Aston", "Bury").astype(object)
    towns[rng.permutation(ROWS)[:VILLAGES]] = [f"village {number:02}" for number in range(VILLAGES)]
    return pd.DataFrame(
        {
            "town": towns,
            "income": np.round(np.exp(rng.normal(7.5, 0.6, ROWS))),
            "ill": rng.choice(["no", "yes"], ROWS, p=[0.8, 0.2]),
        }
    )


def attack(real: pd.DataFrame, copies: list[pd.DataFrame]) -> Iterator[tuple[float, float, bool, bool]]:
    """Give each village's income, its guess, whether the person is ill, and whether the attacker says so."""
    rows = pd.concat(copies)
    blind = float(rows["income"].median())
    own = rows.groupby(rows["town"].astype(str))
    median, ill = own["income"].median(), own["ill"].agg(lambda cells: (cells == "yes").mean())
    for _, person in real[real["town"].str.startswith("village")].iterrows():
        place = person["town"]
        yield (
            float(person["income"]),
            float(median.get(place, blind)),
            person["ill"] == "yes",
            bool(ill.get(place, 0.0) > 0.5),
        )


def measure(method: str, m: int, tables: int, *, last: bool) -> dict[str, Any]:
    """Attack several tables."""
    found: list[tuple[float, float, bool, bool]] = []
    blind: list[float] = []
    for seed in range(tables):
        real = table(seed)
        order = list(real.columns)[::-1] if last else list(real.columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            synthesizer = sdp.Synthesizer(visit_sequence=order, progress=False, **SETTINGS[method])
            release = synthesizer.fit(real).draw(m=m, rng=seed)
        found += list(attack(real, list(release)))
        persons = real[real["town"].str.startswith("village")]
        blind += (persons["income"] - real["income"].median()).abs().tolist()
    income, guess, ill, called = (np.array(column) for column in zip(*found, strict=True))
    apart = [values.reshape(tables, -1) for values in (income, guess)]
    own = [(values - values.mean(axis=1, keepdims=True)).ravel() for values in apart]
    return {
        "villages": len(found),
        "correlation": round(float(np.corrcoef(income, guess)[0, 1]), 3),
        "within": round(float(np.corrcoef(*own)[0, 1]), 3),
        "error": round(float(np.median(np.abs(income - guess)))),
        "blind": round(float(np.median(blind))),
        "found": round(float(called[ill].mean()), 3),
        "false_alarm": round(float(called[~ill].mean()), 3),
    }


def main(tables: int = 10, label: str = sdp.__version__) -> None:
    """Measure every setting and append the rows."""
    new = not RESULT.exists()
    with RESULT.open("a", newline="") as file:
        writer = csv.DictWriter(file, HEADS + MEASURES)
        if new:
            writer.writeheader()
        for last in (False, True):
            for method in SETTINGS:
                for m in (5, 20):
                    row = {
                        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
                        "code": label,
                        "order": "last" if last else "first",
                        "method": method,
                        "m": m,
                        **measure(method, m, tables, last=last),
                    }
                    writer.writerow(row)
                    file.flush()
                    print(row)


if __name__ == "__main__":
    main(*(int(sys.argv[1]) if len(sys.argv) > 1 else 10,), *sys.argv[2:3])
