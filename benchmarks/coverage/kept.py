"""Coverage of products by whether their pooled table is flagged, from the table to the pooled interval.

Run: python -m benchmarks.coverage.kept [runs] [result.csv]

A table of 1,000 rows: two categories, two correlated numbers, and a number y drawn last, straight in all of
them but for two products, ``x1:x2`` and ``sex:x1``, each of 0 to 5 of its confidential standard errors. It is
synthesised with every setting at its default (five copies, evenly drawn); terms are screened at the fit. The
product's interval stands in a pooled table that says, or does not say, that it was tested and not kept.

Screening keeps what chance made large, so intervals of what is not flagged lie too far out where a true
effect is near the threshold, and no variation between copies shows it. Rule, written before the first run:
where an effect's unflagged intervals cover less than 0.90 in more than a tenth of the runs, README and the
pooled table must say so.
"""

from __future__ import annotations

import csv
import sys
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import pysynthdp as sdp

RESULTS = Path(__file__).parents[1] / "results" / "kept.csv"
N = 1000
EFFECTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
TERMS = ("x1:x2", "C(sex)[T.m]:x1")
WORDS = ("x1:x2", "C(sex):x1")
FORMULA = "y ~ C(region) + x1 + x2 + C(sex) + x1:x2 + C(sex):x1"
HEAD = ("date", "runs", "effect", "term", "confidential", "covered", "flagged", "covered_unflagged")
HEAD += ("covered_flagged", "unflagged", "shift_unflagged")


def predictors(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw two categories and two numbers."""
    x1 = rng.standard_normal(n)
    sex, region = rng.random(n) < 0.4, rng.integers(0, 3, n)
    frame = {"sex": np.where(sex, "m", "f"), "region": np.array(list("abc"))[region], "x1": x1}
    return pd.DataFrame(frame | {"x2": 0.5 * x1 + np.sqrt(0.75) * rng.standard_normal(n)}).round(3)


def table(rng: np.random.Generator, slopes: np.ndarray, n: int = N) -> pd.DataFrame:
    """Make a table whose products have these slopes."""
    frame = predictors(rng, n)
    male, x1, x2 = frame["sex"].eq("m"), frame["x1"], frame["x2"]
    mean = 0.4 * x1 - 0.3 * x2 + 0.3 * male + 0.1 * frame["region"].eq("b")
    mean += slopes[0] * x1 * x2 + slopes[1] * male * x1
    return frame.assign(y=(mean + rng.standard_normal(n)).round(3))


def standard_errors() -> np.ndarray:
    """Confidential standard errors of the products where there is no effect."""
    fit = smf.ols(FORMULA, table(np.random.default_rng(1), np.zeros(2), 200_000)).fit()
    return np.asarray(fit.bse[list(TERMS)] * np.sqrt(200_000 / N))


def one_run(seed: int, effect: float, errors: np.ndarray) -> np.ndarray:
    """For each product: own interval covers, pooled one does, flagged, estimate less truth in errors."""
    truth = effect * errors
    real = table(np.random.default_rng([20261130, seed, int(effect * 10)]), truth)
    own = smf.ols(FORMULA, real).fit().conf_int().loc[list(TERMS)].to_numpy()
    release = sdp.Synthesizer(workers=1, progress=False).fit(real).draw(m=5, rng=seed)
    pooled = sdp.ols(FORMULA, release)
    made = pooled.conf_int().loc[list(TERMS)].to_numpy()
    covered = [(limits[:, 0] <= truth) & (truth <= limits[:, 1]) for limits in (own, made)]
    flagged = [any(word in flag for flag in pooled.flags) for word in WORDS]
    return np.array([*covered, flagged, (made.mean(axis=1) - truth) / errors], dtype=float).T


def row(effect: float, term: str, found: np.ndarray) -> dict[str, object]:
    """Write what the runs of one effect say of one product."""
    own, hit, flagged, shift = found.T
    plain = flagged == 0
    part = [float(x[w].mean()) if w.any() else np.nan for x, w in ((hit, plain), (hit, ~plain))]
    away = float(shift[plain].mean()) if plain.any() else np.nan
    numbers = (own.mean(), hit.mean(), flagged.mean(), *part)
    today = datetime.now(UTC).date().isoformat()
    shown = (*(f"{x:.3f}" for x in numbers), int(plain.sum()), f"{away:.2f}")
    return dict(zip(HEAD, (today, len(found), effect, term, *shown), strict=True))


def main() -> None:
    """Run all effects, store and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    errors, rows = standard_errors(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for effect in EFFECTS:
            found = np.array([one_run(seed, effect, errors) for seed in range(runs)])
            rows += [row(effect, term, found[:, place]) for place, term in enumerate(TERMS)]
            print(pd.DataFrame(rows[-2:])[list(HEAD[2:])].to_string(index=False), flush=True)
    with (Path(sys.argv[2]) if len(sys.argv) > 2 else RESULTS).open("w", newline="") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
