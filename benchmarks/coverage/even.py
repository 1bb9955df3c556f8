"""Coverage of pooled 95 % intervals of copies with even and with independent draws, on the same fits.

Run: ``python -m benchmarks.coverage.even [runs] [label]`` from the root of the repository; appends to
``results/even_coverage.csv``.

Populations are known: 400 records of sex, region (four levels, by sex), age, score (straight in age and sex)
and ill (logit of age, sex, score). Every run draws a sample, fits it once, plug-in and proper, and draws
copies both ways. Estimands: a mean, a share, two straight slopes, a logit slope, a median, and a mean and a
share within a subgroup of about a fifth. With two copies or more T = f ubar + b/m, as ``pool`` chooses; with
one copy ubar (f + 1/m) or ubar (f + (1 + f)/m). "width" is the mean half-width over that of the confidential
sample.

Rule, written before the first run: even draws keep coverage if no estimand's coverage is below the
confidential sample's by more than 0.02 and two standard errors of the paired difference. With one copy the
rule counts the copy's own sampling as if rows were independent, and is too wide by construction.
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
from scipy import stats

import pysynthdp as sdp
from pysynthdp.analysis.rules.base import RULES, Sums

RESULT = Path(__file__).parents[1] / "results" / "even_coverage.csv"
N = 400
NAMES = ("mean", "share", "slope age", "slope sex", "logit slope", "median", "subgroup mean")
NAMES += ("subgroup share",)
SETTINGS = ((False, 1.0, (1, 2, 5, 20)), (False, 0.5, (5,)), (False, 2.0, (5,)), (True, 1.0, (1, 2, 5)))
LARGE = 4_000_000
HEADS = (
    "date",
    "code",
    "runs",
    "draws",
    "proper",
    "k/n",
    "m",
    "estimand",
    "confidential",
    "covered",
    "error",
)
HEADS += ("width", "b_over_ubar", "kept")


def sample(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw records of the population."""
    sex = rng.random(n) < 0.45
    region = (rng.random((n, 1)) > np.where(sex[:, None], [0.2, 0.5, 0.8], [0.4, 0.7, 0.9])).sum(axis=1)
    age = np.round(rng.normal(50 + 2 * sex, 12), 1)
    score = np.round(10 + 0.1 * age + 2 * sex + rng.normal(0, 3, n), 2)
    ill = rng.random(n) < 1 / (1 + np.exp(1 - 0.04 * (age - 50) - 0.5 * sex - 0.05 * (score - 16)))
    return pd.DataFrame(
        {
            "sex": np.where(sex, "m", "f"),
            "region": np.array(list("abcd"))[region],
            "age": age,
            "score": score,
            "ill": np.where(ill, "yes", "no"),
        }
    )


def straight(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least squares: coefficients, variances."""
    inverse = np.linalg.inv(X.T @ X)
    beta = inverse @ (X.T @ y)
    return beta, np.diag(inverse) * ((y - X @ beta) ** 2).sum() / (len(y) - X.shape[1])


def logistic(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximum likelihood by Newton's steps: coefficients, variances."""
    beta = np.zeros(X.shape[1])
    for _ in range(8):
        p = 1 / (1 + np.exp(-X @ beta))
        inverse = np.linalg.inv((X.T * (p * (1 - p))) @ X)
        beta = beta + inverse @ (X.T @ (y - p))
    return beta, np.diag(inverse)


def estimates(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Give estimates and variances of the estimands."""
    sex, ill = (frame["sex"] == "m").to_numpy(float), (frame["ill"] == "yes").to_numpy(float)
    age, score = frame["age"].to_numpy(float), frame["score"].to_numpy(float)
    one = np.ones(len(frame))
    own = (frame["region"].isin(["b", "c"]) & (frame["sex"] == "m")).to_numpy()
    ols, ols_var = straight(np.column_stack([one, age - 50, sex]), score)
    logit, logit_var = logistic(np.column_stack([one, age - 50, sex, score - 16]), ill)
    width = 0.1
    low, high = np.quantile(score, [0.5 - width, 0.5 + width])
    q = [
        score.mean(),
        ill.mean(),
        ols[1],
        ols[2],
        logit[1],
        np.median(score),
        score[own].mean(),
        ill[own].mean(),
    ]
    u = [
        score.var(ddof=1) / len(score),
        ill.var(ddof=1) / len(score),
        ols_var[1],
        ols_var[2],
        logit_var[1],
        ((high - low) / (2 * width)) ** 2 / (4 * len(score)),
        score[own].var(ddof=1) / own.sum(),
        ill[own].var(ddof=1) / own.sum(),
    ]
    return np.array(q), np.array(u)


def pooled(q: np.ndarray, u: np.ndarray, *, f: float, proper: bool) -> tuple[np.ndarray, np.ndarray]:
    """Give the pooled estimates and half-widths."""
    m = len(q)
    name = "partial_size_adjusted" if m > 1 else "raab_proper" if proper else "raab_simple"
    between = q.var(axis=0, ddof=1) if m > 1 else None
    sums = Sums(m, u.mean(axis=0), between, N * f, float(N))
    return q.mean(axis=0), RULES[name]().interval(sums, 0.95)


def one_run(
    seed: int, truth: np.ndarray
) -> Iterator[tuple[tuple[Any, ...], np.ndarray, np.ndarray, np.ndarray]]:
    """Give each setting with hits, half-widths over the confidential ones, and b over ubar."""
    real = sample(np.random.default_rng([seed, 20261129]), N)
    q, u = estimates(real)
    own = stats.norm.ppf(0.975) * np.sqrt(u)
    yield ("confidential", False, 1.0, 1), np.abs(q - truth) < own, np.ones(len(truth)), np.zeros(len(truth))
    for proper in (False, True):
        for draws in ("independent", "even"):
            fitted = sdp.Synthesizer(progress=False, workers=1, draws=draws, proper=proper).fit(real)  # type: ignore[arg-type]
            for as_proper, f, sizes in SETTINGS:
                if as_proper is not proper:
                    continue
                copies = fitted.draw(m=max(sizes), k=int(f * N), rng=seed)
                found = [estimates(copy) for copy in copies]
                Q, U = (np.array(part) for part in zip(*found, strict=True))
                ratio = Q.var(axis=0, ddof=1) / U.mean(axis=0)
                for m in sizes:
                    middle, half = pooled(Q[:m], U[:m], f=f, proper=proper)
                    yield (draws, proper, f, m), np.abs(middle - truth) < half, half / own, ratio


def main(runs: int = 250, label: str = sdp.__version__, out: Path = RESULT) -> None:
    """Run, append the table, and print what falls short."""
    truth = estimates(sample(np.random.default_rng(1), LARGE))[0]
    found: dict[tuple[Any, ...], list[tuple[np.ndarray, ...]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(runs):
            for setting, *values in one_run(seed, truth):
                found.setdefault(setting, []).append(tuple(values))
            print(seed, end=" ", flush=True)
    hits = {setting: np.array([value[0] for value in values], float) for setting, values in found.items()}
    own = hits.pop(("confidential", False, 1.0, 1))
    new = not out.exists()
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(HEADS)
        for setting, hit in hits.items():
            gap = hit - own
            error = gap.std(axis=0, ddof=1) / np.sqrt(runs)
            kept = gap.mean(axis=0) > -0.02 - 2 * error
            widths, ratios = (
                np.array([value[part] for value in found[setting]]).mean(axis=0) for part in (1, 2)
            )
            for place, name in enumerate(NAMES):
                numbers = (
                    own[:, place].mean(),
                    hit[:, place].mean(),
                    error[place],
                    widths[place],
                    ratios[place],
                )
                today = dt.datetime.now(tz=dt.UTC).date().isoformat()
                row = (today, label, runs, *setting, name, *(f"{x:.4f}" for x in numbers), bool(kept[place]))
                writer.writerow(row)
                print(*row)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 250,
        *sys.argv[2:3],
        *(Path(path) for path in sys.argv[3:4]),
    )
