"""How near copies of real tables are to the half of each table that no model saw.

Run: ``python -m benchmarks.defaults.bank FOLDER [--system default|cart|COPIES] [--seeds 5] [--write]
[--label WORDS]`` from the root of the repository; ``--write`` appends to ``results/bank.csv``. Needs
scikit-learn. FOLDER holds tables as CSV files (at most 3,000 rows and 24 columns, no identifiers, no free
text); they are not ours to give away. COPIES is a folder with ``TABLE_1.csv`` to ``TABLE_5.csv``, made by
another program from the halves that ``python -m benchmarks.defaults.bank FOLDER --halves PATH`` writes.

A table of 600 rows or more is halved, always in the same way; models see half A, five copies are drawn.

``h1, h2, h3``: total variation distance of the one-, two- and three-way tables of copies to half B, over that
of half A to half B (numbers in fifths of A, missing a cell, sixty three-way tables). 1 is what a fresh sample
reaches: copying records does not help.
``hp``: propensity ratio of a classification tree (copies against B) to its mean under permuted labels;
``hp0``: the same for A.
``z``: mean distance of five pooled copies from the estimate in A, in standard errors of A, over regressions
chosen by a fixed rule; ``far``: share of terms above 3; ``overlap``: mean overlap of 95 % intervals, pooled
by ubar + b/m. Smaller tables are fitted whole and have these three alone.
``announced``: of the terms above 3, the share of which a column was named in a warning at the fit.
``cpu``: seconds of fit and draw.

Rule: a goal is judged by the mean over tables of the median over seeds, every table is reported, and no
constant is chosen by a single table.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import itertools
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

import pysynthdp as sdp

RESULT = Path(__file__).parents[1] / "results" / "bank.csv"
M = 5
SPLIT = 600
MEASURES = ("h1", "h2", "h3", "hp", "hp0", "z", "far", "overlap", "announced", "cpu")
NUMBERS, MISSING, UNKNOWN = 12, 99, 98
LARGEST = 20.0  # a term that some copy cannot give, or farther off


@dataclass(frozen=True)
class Half:
    """A table to fit to, the rest of it where it was halved, and which columns are numbers."""

    name: str
    seen: pd.DataFrame
    unseen: pd.DataFrame | None
    numbers: frozenset[str] = field(default_factory=frozenset)


def halves(folder: Path) -> Iterator[Half]:
    """Read the tables of a folder, in alphabetical order."""
    for path in sorted(folder.glob("*.csv")):
        if path.stem.endswith("_scores"):
            continue
        whole = pd.read_csv(path)
        large = len(whole) >= SPLIT
        seen = whole.sample(frac=0.5, random_state=7) if large else whole
        rest = whole.drop(seen.index).reset_index(drop=True) if large else None
        seen = seen.reset_index(drop=True)
        numeric = (name for name in seen if pd.api.types.is_numeric_dtype(seen[name]))
        numbers = frozenset(name for name in numeric if seen[name].nunique() > NUMBERS)
        yield Half(path.stem, seen, rest, numbers)


# -- tables ------------------------------------------------------------------------------------------------


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Write levels alike, whether they are numbers or texts."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float).map(lambda x: "NA" if np.isnan(x) else f"{x:g}")
    return column.astype(object).map(lambda x: "NA" if pd.isna(x) else str(x))


def as_number(column: pd.Series[Any]) -> np.ndarray:
    """Read numbers; what is none is missing."""
    return pd.to_numeric(column, errors="coerce").to_numpy(float)


def cells(frame: pd.DataFrame, half: Half) -> np.ndarray:
    """Code each cell: fifths of numbers, levels as in the half."""
    made = []
    for name, own in half.seen.items():
        if name in half.numbers:
            values = as_number(frame[name])
            edges = np.unique(np.nanquantile(own, [0.2, 0.4, 0.6, 0.8]))
            made.append(np.where(np.isnan(values), MISSING, np.searchsorted(edges, values)))
        else:
            levels = {level: code for code, level in enumerate(pd.unique(as_text(own)))}
            made.append(as_text(frame[name]).map(lambda level, at=levels: at.get(level, UNKNOWN)).to_numpy())
    return np.stack(made, axis=1).astype(np.int64)


def distance(one: np.ndarray, other: np.ndarray, columns: Sequence[int]) -> float:
    """Total variation distance of two tables of counts."""
    weights = 1_000 ** np.arange(len(columns))
    joint = np.concatenate([one[:, columns] @ weights, other[:, columns] @ weights])
    _, at = np.unique(joint, return_inverse=True)
    first, second = np.bincount(at[: len(one)], minlength=at.max() + 1), np.bincount(at[len(one) :])
    second = np.pad(second, (0, first.size - second.size))
    return float(np.abs(first / len(one) - second / len(other)).sum() / 2)


def nearness(half: Half, copies: Sequence[pd.DataFrame]) -> dict[str, float]:
    """Compare copies and the seen half with the unseen one."""
    assert half.unseen is not None
    a, b = cells(half.seen, half), cells(half.unseen, half)
    drawn = [cells(copy, half) for copy in copies]
    places = range(a.shape[1])
    triples = list(itertools.combinations(places, 3))
    triples = [triples[at] for at in np.random.default_rng(0).permutation(len(triples))[:60]]
    sets = (
        ("h1", [(place,) for place in places], M),
        ("h2", list(itertools.combinations(places, 2)), 3),
        ("h3", triples, 2),
    )
    found = {}
    for name, chosen, m in sets:
        own = np.mean([distance(copy, b, each) for copy in drawn[:m] for each in chosen])
        found[name] = float(own / np.mean([distance(a, b, each) for each in chosen]))
    found["hp"] = float(np.mean([propensity(copy, half) for copy in copies[:3]]))
    return found | {"hp0": propensity(half.seen, half)}


def features(frame: pd.DataFrame, half: Half) -> np.ndarray:
    """Write a table for a classifier."""
    made = []
    for name, own in half.seen.items():
        if name in half.numbers:
            values = as_number(frame[name])
            made.append(np.where(np.isnan(values), -9.9e6, values)[:, None])
        else:
            levels = np.array(list(as_text(own).value_counts().index[:15]))
            made.append((as_text(frame[name]).to_numpy()[:, None] == levels[None]).astype(float))
    return np.concatenate(made, axis=1)


def propensity(frame: pd.DataFrame, half: Half) -> float:
    """Ratio of a tree's propensity score against the unseen half to that under permuted labels."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(min_samples_leaf=max(10, len(half.seen) // 50), random_state=0)
    X = np.concatenate([features(frame, half), features(half.unseen, half)])
    labels = np.repeat([0.0, 1.0], [len(frame), len(half.unseen)])
    mixed = np.random.default_rng(1)

    def score(y: np.ndarray) -> float:
        return float(((tree.fit(X, y).predict_proba(X)[:, 1] - 0.5) ** 2).mean())

    return score(labels) / float(np.mean([score(mixed.permutation(labels)) for _ in range(3)]))


# -- regressions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Regression:
    """A response, its predictors, and whether it is logistic."""

    response: str
    predictors: tuple[str, ...]
    logistic: bool


def chosen(half: Half) -> Iterator[Regression]:
    """Choose up to five regressions of a table by its name alone."""
    seed = int(hashlib.md5(half.name.encode(), usedforsecurity=False).hexdigest()[:8], 16)
    rng, seen = np.random.default_rng(seed), half.seen
    numbers = [name for name in seen if name in half.numbers and seen[name].notna().sum() > 50]
    pairs = [name for name in seen if seen[name].nunique() == 2]
    for response in [*rng.permutation(numbers)[:3], *rng.permutation(pairs)[:2]]:
        others = [name for name in seen if name != response]
        usable = [
            name
            for name in others
            if seen[name].notna().mean() > 0.6 and len(seen[name].dropna().unique()) > 1
        ]
        predictors = tuple(map(str, rng.permutation(usable)[:3]))
        if len(predictors) >= 2:
            yield Regression(str(response), predictors, response not in half.numbers)


def design(frame: pd.DataFrame, half: Half, predictors: Sequence[str]) -> np.ndarray:
    """Intercept, standardised numbers, and dummies of the five most frequent levels but the first."""
    made = [np.ones(len(frame))]
    for name in predictors:
        own = half.seen[name]
        if name in half.numbers:
            made.append((as_number(frame[name]) - own.mean()) / own.std())
        else:
            levels = [level for level in as_text(own).value_counts().index if level != "NA"][:5]
            text = as_text(frame[name])
            made += [np.where(text == "NA", np.nan, (text == level).astype(float)) for level in levels[1:]]
    return np.stack(made, axis=1)


def fit(frame: pd.DataFrame, half: Half, asked: Regression) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and standard errors."""
    X = design(frame, half, asked.predictors)
    if asked.logistic:
        low, high = sorted({*as_text(half.seen[asked.response])} - {"NA"})[:2]
        text = as_text(frame[asked.response])
        y = np.where(text == high, 1.0, np.where(text == low, 0.0, np.nan))
    else:
        y = as_number(frame[asked.response])
    there = ~np.isnan(y) & ~np.isnan(X).any(axis=1)
    model = sm.Logit if asked.logistic else sm.OLS
    done = model(y[there], X[there]).fit(**({"disp": 0, "maxiter": 60} if asked.logistic else {}))
    return done.params, done.bse


def regressions(half: Half, copies: Sequence[pd.DataFrame], named: frozenset[str]) -> dict[str, float]:
    """Pool the regressions of the copies, and hold them against those of the half."""
    z: list[float] = []
    overlap: list[float] = []
    told: list[bool] = []
    for asked in chosen(half):
        try:
            b0, s0 = fit(half.seen, half, asked)
        except (ValueError, np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
            continue
        if not np.isfinite(s0).all() or s0.max() > LARGEST:
            continue
        own_z, own_overlap = compared(b0, s0, half, copies, asked)
        z += own_z
        overlap += own_overlap
        told += [bool(named & {asked.response, *asked.predictors})] * sum(each > 3 for each in own_z)
    far = float(np.mean(np.array(z) > 3)) if z else np.nan
    return {
        "z": float(np.mean(z)) if z else np.nan,
        "far": far,
        "overlap": float(np.mean(overlap)) if overlap else np.nan,
        "announced": float(np.mean(told)) if told else np.nan,
    }


def compared(
    b0: np.ndarray, s0: np.ndarray, half: Half, copies: Sequence[pd.DataFrame], asked: Regression
) -> tuple[list[float], list[float]]:
    """Distances and overlaps of the terms of one regression; the worst where a copy has none."""
    try:
        fits = [fit(copy, half, asked) for copy in copies]
    except (ValueError, np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
        return [LARGEST], [-1.0]
    values, variances = np.array([b for b, _ in fits]), np.array([s**2 for _, s in fits])
    pooled = values.mean(axis=0)
    se = np.sqrt(variances.mean(axis=0) + values.var(axis=0, ddof=1) / len(fits))
    both = np.minimum(b0 + 1.96 * s0, pooled + 1.96 * se) - np.maximum(b0 - 1.96 * s0, pooled - 1.96 * se)
    overlap = np.maximum((both / (3.92 * s0) + both / (3.92 * se)) / 2, -1)
    return np.minimum(np.abs(pooled - b0) / s0, LARGEST).tolist(), overlap.tolist()


# -- systems -----------------------------------------------------------------------------------------------


def copies_of(half: Half, system: str, seed: int) -> tuple[list[pd.DataFrame], frozenset[str], float]:
    """Make or read copies; say which columns warnings named, and the CPU seconds."""
    start = time.process_time()
    if system not in {"default", "cart"}:
        return (
            [pd.read_csv(f"{system}/{half.name}_{number}.csv") for number in range(1, M + 1)],
            frozenset(),
            0.0,
        )
    settings: dict[str, Any] = {} if system == "default" else {"method": system}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = sdp.Synthesizer(progress=False, workers=1, **settings).fit(half.seen).draw(m=M, rng=seed)
    text = " ".join(str(one.message) for one in said if issubclass(one.category, sdp.PysynthdpWarning))
    names = frozenset(name for name in half.seen if re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", text))
    return list(made), names, time.process_time() - start


def scored(half: Half, system: str, seed: int) -> dict[str, Any]:
    """Score one table."""
    copies, named, cpu = copies_of(half, system, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = regressions(half, copies, named)
        found |= nearness(half, copies) if half.unseen is not None else {}
    return {"table": half.name, "n": len(half.seen), "seed": seed, **found, "cpu": cpu}


def summary(made: pd.DataFrame) -> str:
    """Write medians over seeds of every table, and means of these."""
    tables = made.groupby("table")[list(MEASURES)].median()
    split = tables[tables["h2"].notna()]
    heads = {"halved tables": split.mean(), "all tables": tables[["z", "far", "overlap", "announced"]].mean()}
    lines = [tables.round(3).to_string(na_rep="")]
    lines += [f"{name}: {mean.dropna().round(3).to_dict()}" for name, mean in heads.items()]
    return "\n".join([*lines, f"CPU s of all tables: {tables['cpu'].sum():.1f}"])


def main() -> None:
    """Score a system on every table of a folder."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--system", default="default")
    asked.add_argument("--seeds", type=int, default=5)
    asked.add_argument("--label", default=sdp.__version__)
    asked.add_argument("--halves", type=Path)
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    if given.halves:
        given.halves.mkdir(parents=True, exist_ok=True)
        for half in halves(given.folder):
            half.seen.to_csv(given.halves / f"{half.name}.csv", index=False)
        return
    rows = [
        scored(half, given.system, seed)
        for seed in range(1, given.seeds + 1)
        for half in halves(given.folder)
    ]
    made = pd.DataFrame(rows).reindex(columns=["table", "n", "seed", *MEASURES])
    print(summary(made))
    if given.write:
        system = given.system if given.system in {"default", "cart"} else Path(given.system).name
        made = made.round(4)
        made.insert(0, "system", system)
        made.insert(0, "code", given.label)
        made.insert(0, "date", dt.datetime.now(tz=dt.UTC).date().isoformat())
        made.to_csv(RESULT, mode="a", header=not RESULT.exists(), index=False)


if __name__ == "__main__":
    main()
