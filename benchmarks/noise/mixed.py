"""Coverage of pooled 95 % intervals from noised answers on a mixed public table, taken as the population.

Run: python -m benchmarks.noise.mixed TABLE RUNS [--n 5000] [--rho 0.1] [--seed 1] [--shape] [--out FILE]

Each run draws n rows with replacement, fits with guarantee=ZCDP(rho) from the codebook's bounds and hints,
draws m = 20 copies of n rows, analyses each and pools by 'noise_floored'. Truth is the same analysis of the
whole table. Kinds: proportions, two-way cells, means, one linear and one logistic regression; with --shape,
numbers are drawn by 'normrank' and the shares of rows below a quarter, half and three quarters of their usual
range are asked for too.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.noise import tables as noised_tables
from pysynthdp import Synthesizer
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.analysis.stack import stack
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.protection.noise.by_noise import ByNoise

CELLS = 16


@dataclass(frozen=True)
class Analysis:
    """Names and kinds of all estimands, and how to estimate them."""

    public: noised_tables.Public
    cells: tuple[tuple[str, str, str, str], ...]
    shape: bool = False

    @classmethod
    def of(cls, public: noised_tables.Public, *, shape: bool = False) -> Analysis:
        """Pick the cells by a fixed stride through all two-way tables of the categorical columns."""
        table = public.table
        names = [name for name in table if name not in public.numbers]
        every = [
            (a, b, x, y)
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            for x in table[a].cat.categories
            for y in table[b].cat.categories
        ]
        return cls(public, tuple(every[:: max(1, len(every) // CELLS)][:CELLS]), shape)

    def dummies(self, frame: pd.DataFrame, names: tuple[str, ...]) -> tuple[np.ndarray, list[str]]:
        """Intercept, dummies of levels but the first, numbers."""
        columns, labels = [np.ones(len(frame))], ["Intercept"]
        for name in names:
            if name in self.public.numbers:
                columns.append(frame[name].to_numpy(float))
                labels.append(name)
                continue
            codes = frame[name].cat.codes.to_numpy()
            for code, level in enumerate(frame[name].cat.categories[1:], start=1):
                columns.append((codes == code).astype(float))
                labels.append(f"{name}[{level}]")
        return np.column_stack(columns), labels

    def __call__(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Estimates, variances and labels 'kind: term'."""
        n, q, u, labels = len(frame), [], [], []

        def share(values: np.ndarray, label: str) -> None:
            p = float(np.mean(values))
            q.append(p)
            u.append(max(p * (1 - p), 1 / n) / n)
            labels.append(label)

        for name in self.public.table:
            if name in self.public.numbers:
                values = frame[name].dropna().to_numpy(float)
                q.append(float(values.mean()))
                u.append(float(values.var(ddof=1)) / len(values))
                labels.append(f"mean: {name}")
            else:
                for code, level in enumerate(frame[name].cat.categories):
                    share(frame[name].cat.codes.to_numpy() == code, f"proportion: {name}[{level}]")
        for a, b, x, y in self.cells:
            share(((frame[a] == x) & (frame[b] == y)).to_numpy(), f"cell: {a}[{x}] {b}[{y}]")
        for name, number in self.public.numbers.items() if self.shape else ():
            low, high = number.usual
            for part in (0.25, 0.5, 0.75):
                values = frame[name].dropna().to_numpy(float)
                share(values < low + part * (high - low), f"below: {name} at {part}")
        for kind, (beta, variance, terms) in (("ols", self.ols(frame)), ("logit", self.logit(frame))):
            q += list(beta[1:])
            u += list(variance[1:])
            labels += [f"{kind}: {term}" for term in terms[1:]]
        return np.array(q), np.array(u), labels

    def ols(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Least squares on complete rows."""
        target, names = self.public.ols
        frame = frame.dropna(subset=[target, *names])
        X, terms = self.dummies(frame, names)
        y = frame[target].to_numpy(float)
        # a rare level may be in no row of a copy
        inverse = np.linalg.inv(X.T @ X + 1e-9 * np.eye(X.shape[1]))
        beta = inverse @ (X.T @ y)
        rest = y - X @ beta
        return beta, inverse.diagonal() * float(rest @ rest) / (len(y) - len(beta)), terms

    def logit(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Logistic regression by Newton."""
        target, level, names = self.public.logit
        frame = frame.dropna(subset=[target, *names])
        X, terms = self.dummies(frame, names)
        y = (frame[target] == level).to_numpy(float)
        beta = np.zeros(X.shape[1])
        for _ in range(30):
            p = 1 / (1 + np.exp(-X @ beta))
            information = (X.T * (p * (1 - p))) @ X + 1e-9 * np.eye(len(beta))
            step = np.linalg.solve(information, X.T @ (y - p))
            beta = beta + step
            if np.abs(step).max() < 1e-9:
                break
        return beta, np.linalg.inv(information).diagonal(), terms


def run(
    public: noised_tables.Public, *, runs: int, n: int, rho: float, m: int, seed: int, shape: bool = False
) -> dict:
    """Simulate, and summarise by kind."""
    rng = np.random.default_rng(seed)
    analysis = Analysis.of(public, shape=shape)
    truth, _, labels = analysis(public.table)
    settings = {"schema": public.schema, "guarantee": ByNoise(ZCDP(rho), hints=public.hints)}
    method = dict.fromkeys(public.numbers, "normrank") if shape else {}
    synthesizer = Synthesizer(**settings, method=method, workers=1, progress=False)
    rule, hits, lengths, plain, seconds, tags = RULES["noise_floored"](), [], [], [], [], []
    for _ in range(runs):
        sample = public.table.iloc[rng.integers(0, len(public.table), n)].reset_index(drop=True)
        started = time.perf_counter()
        release = synthesizer.fit(sample).draw(m, rng=int(rng.integers(2**31)))
        seconds.append(time.perf_counter() - started)
        q, u, _ = zip(*(analysis(copy) for copy in release), strict=True)
        done = combine_stack(stack(np.array(q), np.array(u), n_syn=n, n_org=n), rule)
        low, high = done.conf_int().T
        own, variance, _ = analysis(sample)
        hits.append((low <= truth) & (truth <= high))
        plain.append(np.abs(own - truth) <= 1.96 * np.sqrt(variance))
        lengths.append((high - low) / (2 * 1.96 * np.sqrt(variance)))
        tags.append(release.tags.details)
    return _summary(labels, np.array(hits), np.array(plain), np.array(lengths)) | {
        "table": public.name,
        "runs": runs,
        "n": n,
        "rho": rho,
        "m": m,
        "seed": seed,
        "seconds": float(np.median(seconds)),
        "acceptance": float(np.mean([each["acceptance"] for each in tags])),
        "clipped": float(np.mean([each["clipped"] for each in tags])),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def _summary(labels: list[str], hits: np.ndarray, plain: np.ndarray, lengths: np.ndarray) -> dict:
    """Coverage and median length by kind, the worst estimands, and the non-private coverage."""
    kinds = np.array([label.split(":")[0] for label in labels])
    by_kind = {
        str(kind): {
            "coverage": float(hits[:, kinds == kind].mean()),
            "length": float(np.median(lengths[:, kinds == kind])),
            "non-private coverage": float(plain[:, kinds == kind].mean()),
            "worst": float(hits[:, kinds == kind].mean(axis=0).min()),
        }
        for kind in dict.fromkeys(kinds)
    }
    each = hits.mean(axis=0)
    order = np.argsort(each)[:5]
    return {
        "kinds": by_kind,
        "worst": {labels[i]: float(each[i]) for i in order},
        "estimands": {label: float(rate) for label, rate in zip(labels, each, strict=True)},
    }


def main() -> None:
    """Read the arguments, run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["sd2011", "fair", "eusilc", "randhie"])
    parser.add_argument("runs", type=int)
    parser.add_argument("--n", type=int, default=5_000)
    parser.add_argument("--rho", type=float, default=0.1)
    parser.add_argument("--m", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shape", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    public = getattr(noised_tables, asked.table)()
    found = run(
        public, runs=asked.runs, n=asked.n, rho=asked.rho, m=asked.m, seed=asked.seed, shape=asked.shape
    )
    text = json.dumps(found, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
