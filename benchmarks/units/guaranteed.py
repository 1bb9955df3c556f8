"""How often pooled 95 % intervals cover, of households copied under noise in the answers.

Run: ``python -m benchmarks.units.guaranteed RUNS [--rho 2] [--m 20] [--households 4000] [--write]``
from the root; ``--write`` appends to ``results/households_guaranteed.csv``.

Each run generates a table of households by a law that the models hold (levels, and numbers straight in what
stands before), copies it under rho-zCDP for one household, and pools by the rule that the tags ask for.

``age``, ``women``, ``work``: means over persons; ``south``: of persons in one region; ``size``: mean rows of
a household; ``slope``: of age on sex over persons, errors by household. The truth is the mean over a table of
a million households. A run whose interval is undefined counts as uncovered. Goal: .93 to 1, since intervals
count noise.
"""

from __future__ import annotations

import argparse
import datetime as dt
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import pysynthdp as sdp

RESULT = Path(__file__).parents[1] / "results" / "households_guaranteed.csv"
NAMES = ("age", "women", "work", "south", "size", "slope")
MOST = 4
Found = tuple[float, float, float]


def households(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Generate n households."""
    region = rng.integers(0, 3, n)
    shares = np.array([[0.2, 0.4, 0.2, 0.2], [0.3, 0.3, 0.2, 0.2], [0.4, 0.3, 0.2, 0.1]])[region]
    size = 1 + (rng.random(n)[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    woman = rng.random(n) < 0.35 + 0.1 * (size == 1)
    age = 55 - 4.0 * size + 5 * woman + 3 * region + 11 * rng.standard_normal(n)
    house = np.repeat(np.arange(n), size)
    line = np.arange(len(house)) - np.repeat(np.cumsum(size) - size, size) + 1
    partner, child = line == 2, line > 2
    sex = np.where(line == 1, woman[house], rng.random(len(house)) < np.where(woman[house], 0.3, 0.6))
    drawn = 8 + 0.8 * age[house] - 25 * child - 3 * partner * sex + 6 * rng.standard_normal(len(house))
    works = rng.random(len(house)) < np.where(line == 1, 0.7, np.where(sex, 0.4, 0.6))
    return pd.DataFrame(
        {
            "hid": house + 1,
            "line": line,
            "region": np.array(["north", "east", "south"])[region[house]],
            "sex": np.where(sex, "f", "m"),
            "work": np.where(works, "yes", "no"),
            "age": np.where(line == 1, age[house], drawn),
        }
    )


def synthesizer(rho: float) -> sdp.Synthesizer:
    """Declare everything that is not to be learned."""
    levels = {"region": ("north", "east", "south"), "sex": ("f", "m"), "work": ("yes", "no")}
    columns = [
        sdp.CategoricalColumn(name, own, other=own[0], may_be_missing=False) for name, own in levels.items()
    ]
    age = sdp.NumericColumn("age", lower=-60, upper=140, fallback=40, may_be_missing=False)
    return sdp.Synthesizer(
        schema=sdp.Schema((*columns, age)),
        units=sdp.Units(
            id="hid",
            size="rows",
            member="line",
            max_size=MOST,
            larger="truncate",
            order="line asc",
            shared=["region"],
        ),
        guarantee=sdp.ByNoise(sdp.ZCDP(rho), unit=sdp.PrivacyUnit(name="household"), hints={"age": (40, 18)}),
        progress=False,
        workers=1,
    )


def estimates(release: sdp.SyntheticRelease) -> dict[str, Found]:
    """Give each estimate with the ends of its interval."""
    formulas = {
        "age": ("age ~ 1", 0),
        "women": ("I(sex == 'f') ~ 1", 0),
        "work": ("I(work == 'yes') ~ 1", 0),
        "south": ("I(region == 'south') ~ 1", 0),
        "slope": ("age ~ C(sex)", 1),
    }
    found = {}
    for name, (formula, at) in formulas.items():
        table = sdp.ols(formula, release)
        found[name] = _found(table, at)
    found["size"] = _found(sdp.ols("rows ~ 1", release.units()), 0)
    return {name: found[name] for name in NAMES}


def _found(table: object, at: int) -> Found:
    """Take one estimate of a pooled table."""
    low, high = table.conf_int().iloc[at]  # type: ignore[attr-defined]
    return float(table.params.iloc[at]), float(low), float(high)  # type: ignore[attr-defined]


def truth(table: pd.DataFrame) -> dict[str, float]:
    """Give what is estimated, in a table."""
    ages = table.groupby("sex")["age"].mean()
    return {
        "age": table["age"].mean(),
        "women": (table["sex"] == "f").mean(),
        "work": (table["work"] == "yes").mean(),
        "south": (table["region"] == "south").mean(),
        "size": len(table) / table["hid"].nunique(),
        "slope": ages["m"] - ages["f"],
    }


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--rho", type=float, default=2.0)
    parser.add_argument("--m", type=int, default=20)
    parser.add_argument("--households", type=int, default=4000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    true = truth(households(1_000_000, np.random.default_rng(0)))
    found: dict[str, list[Found]] = {name: [] for name in NAMES}
    for seed in range(asked.first, asked.first + asked.runs):
        table = households(asked.households, np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = synthesizer(asked.rho).fit(table).draw(m=asked.m, rng=seed)
            for name, own in estimates(release).items():
                found[name].append(own)
        if seed % 10 == 0:
            print(seed, {name: _covered(own, true[name]) for name, own in found.items()}, flush=True)
    rows = [_row(name, own, true[name], asked) for name, own in found.items()]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    if asked.write:
        table.to_csv(RESULT, mode="a", header=not RESULT.exists(), index=False)


def _covered(found: list[Found], true: float) -> int:
    """Count the intervals that hold the truth; those that are undefined do not."""
    return sum(low <= true <= high for _, low, high in found)


def _row(name: str, own: list[Found], true: float, asked: argparse.Namespace) -> dict[str, object]:
    """Write what was found of one estimand."""
    hits, values = _covered(own, true), np.array(own)
    low, high = binomtest(hits, len(own)).proportion_ci(method="exact")
    return {
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "estimand": name,
        "rho": asked.rho,
        "households": asked.households,
        "m": asked.m,
        "runs": len(own),
        "covered": round(hits / len(own), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "bias_in_sd": round((values[:, 0].mean() - true) / values[:, 0].std(), 3),
        "half_width": round(float(np.median(values[:, 2] - values[:, 1])) / 2, 4),
        "sd_of_estimates": round(float(values[:, 0].std()), 4),
    }


if __name__ == "__main__":
    main()
