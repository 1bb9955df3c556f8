"""How time grows with the number of households.

Run: ``python -m benchmarks.units.speed [PERSONS ...] [--write]`` from the root of the repository; ``--write``
appends to ``results/households_speed.csv``. Persons by default: 10,000, 30,000 and 100,000; five persons in
two households, fifteen columns, made by fixed rules.

``fit, draw``: seconds of CPU of a fit, and of one copy; ``slope``: of the logarithm of both together on that
of the number of persons, from the size before: 1 is linear.
"""

from __future__ import annotations

import argparse
import datetime as dt
import math
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp

RESULT = Path(__file__).parents[1] / "results" / "households_speed.csv"
SIZES = (10_000, 30_000, 100_000)
SHARES = (0.30, 0.32, 0.16, 0.14, 0.05, 0.03)


def people(persons: int, seed: int = 1) -> pd.DataFrame:
    """Make a table of fifteen columns: seven of households, seven of persons, and an id."""
    rng = np.random.default_rng(seed)
    n = int(persons * 0.4)
    size = rng.choice(np.arange(1, 7), n, p=SHARES)
    home = {
        "hid": np.arange(n) + 1_000_001,
        "hsize": size,
        "region": rng.choice(list("abcdefgh"), n),
        "tenure": rng.choice(["owner", "tenant", "other"], n, p=[0.6, 0.35, 0.05]),
        "rooms": np.minimum(size + rng.poisson(1.5, n), 9),
        "rent": np.round(rng.gamma(3, 150, n), 0),
        "benefit": np.where(rng.random(n) < 0.7, 0.0, np.round(rng.gamma(2, 400, n), 0)),
    }
    unit = np.repeat(np.arange(n), size)
    place = np.arange(len(unit)) - np.repeat(np.cumsum(size) - size, size)
    head = rng.integers(22, 85, n)[unit]
    child = np.clip(head - rng.integers(22, 40, len(unit)), 0, None)
    age = np.where(
        place == 0, head, np.where(place == 1, np.maximum(head - rng.integers(0, 8, len(unit)), 18), child)
    )
    pay = np.round(rng.lognormal(9.5, 0.5, len(unit)) * (0.6 + home["rent"][unit] / 900), 0)
    found = pd.DataFrame({name: values[unit] for name, values in home.items()})
    found["age"] = age
    found["sex"] = rng.choice(["f", "m"], len(unit))
    found["school"] = rng.choice(["low", "middle", "high"], len(unit))
    found["work"] = np.where(age < 16, "child", rng.choice(["employed", "home", "retired"], len(unit)))
    found["pay"] = np.where(found["work"] == "employed", pay, 0.0)
    found["hours"] = np.where(found["work"] == "employed", rng.integers(10, 50, len(unit)), 0)
    found["health"] = rng.integers(1, 6, len(unit))
    found["eqPay"] = found.groupby("hid")["pay"].transform("sum") / found["hsize"]
    return found


def run(persons: int) -> dict[str, float]:
    """Measure one size."""
    table = people(persons)
    synthesizer = sdp.Synthesizer(
        units=sdp.Units(id="hid", size="hsize", order="age desc"),
        derive={"eqPay": "sum(pay) / hsize"},
        progress=False,
        workers=1,
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = synthesizer.fit(table)
    middle = time.process_time()
    copy = fitted.draw(m=1, rng=1)[0]
    end = time.process_time()
    exact = copy.groupby("hid")["age"].transform("size") == copy["hsize"]
    assert exact.all()
    return {
        "persons": len(table),
        "households": int(table["hid"].nunique()),
        "fit": round(middle - start, 2),
        "draw": round(end - middle, 2),
    }


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("persons", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows: list[dict[str, object]] = []
    for persons in asked.persons:
        found: dict[str, object] = {"date": dt.datetime.now(tz=dt.UTC).date().isoformat(), **run(persons)}
        if rows:
            both = [float(each["fit"]) + float(each["draw"]) for each in (rows[-1], found)]
            counts = [float(each["persons"]) for each in (rows[-1], found)]
            found["slope"] = round(math.log(both[1] / both[0]) / math.log(counts[1] / counts[0]), 3)
        rows.append(found)
        print(found, flush=True)
    if asked.write:
        pd.DataFrame(rows).to_csv(RESULT, mode="a", header=not RESULT.exists(), index=False)


if __name__ == "__main__":
    main()
