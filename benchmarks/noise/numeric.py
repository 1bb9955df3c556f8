"""Coverage of pooled 95 % intervals from noised answers on tables of normal numbers.

Run: python -m benchmarks.noise.numeric RUNS [--n 10000] [--p 10] [--rho 0.1] [--seed 1] [--out FILE.json]

Columns are normal with AR(1) correlation 0.5, unit variance and mean 0.4; bounds -4 and 4, hints (0, 1).
Copies: m = 20 of 5n rows, pooled by 'noise_floored' and by effective rows; and one copy from a shared fit.
Discrete noise, all stages and counts paid.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from pysynthdp import NumericColumn, Schema, Synthesizer
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.analysis.stack import stack
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.protection.noise.by_noise import ByNoise

MEAN = 0.4


def estimates(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means, log variances, one Fisher-transformed correlation, slopes of the last column on the rest."""
    n, p = X.shape
    covariance = np.cov(X.T)
    Z = np.column_stack([np.ones(n), X[:, :-1]])
    inverse = np.linalg.inv(Z.T @ Z)
    beta = inverse @ (Z.T @ X[:, -1])
    rest = X[:, -1] - Z @ beta
    variances = covariance.diagonal()
    correlation = covariance[0, 1] / np.sqrt(variances[0] * variances[1])
    q = np.concatenate([X.mean(axis=0), np.log(variances), [np.arctanh(correlation)], beta[1:]])
    slopes = inverse.diagonal()[1:] * float(rest @ rest) / (n - p)
    return q, np.concatenate([variances / n, np.full(p, 2 / n), [1 / n], slopes])


def run(*, runs: int, n: int, p: int, rho: float, seed: int) -> dict:
    """Simulate, and summarise by rule and kind of estimand."""
    S = 0.5 ** np.abs(np.subtract.outer(range(p), range(p)))
    slopes = np.linalg.solve(S[:-1, :-1], S[:-1, -1])
    truth = np.concatenate([np.full(p, MEAN), np.zeros(p), [np.arctanh(0.5)], slopes])
    kinds = np.array(["means"] * p + ["variances"] * p + ["correlations"] + ["slopes"] * (p - 1))
    names = [f"x{i}" for i in range(p)]
    columns = [NumericColumn(name, lower=-4, upper=4, may_be_missing=False, fallback=0) for name in names]
    synthesizer = Synthesizer(
        schema=Schema(columns),
        guarantee=ByNoise(ZCDP(rho), hints=dict.fromkeys(names, (0.0, 1.0))),
        workers=1,
        progress=False,
    )
    rng, root, found, tags = np.random.default_rng(seed), np.linalg.cholesky(S), {}, []
    started = time.perf_counter()
    for _ in range(runs):
        X = MEAN + rng.standard_normal((n, p)) @ root.T
        fitted = synthesizer.fit(pd.DataFrame(X, columns=names))
        own, variance = estimates(X)
        release = fitted.draw(20, k=5 * n, rng=int(rng.integers(2**31)))
        single = fitted.draw(1, k=5 * n, rng=int(rng.integers(2**31)), parameters="fitted")
        tags.append(release.tags.details)
        for name, copies in (("noise_floored", release), ("effective_rows_drawn", release)):
            _add(found, name, copies, tags[-1], n, truth, variance)
        _add(found, "effective_rows_fitted", single, tags[-1], n, truth, variance)
        low, high = own - 1.96 * np.sqrt(variance), own + 1.96 * np.sqrt(variance)
        found.setdefault("non-private", []).append(((low <= truth) & (truth <= high), np.ones(len(truth))))
    return {
        "rules": {name: _by_kind(rows, kinds) for name, rows in found.items()},
        "runs": runs,
        "n": n,
        "p": p,
        "rho": rho,
        "seed": seed,
        "snr": float(np.mean([each["snr"] for each in tags])),
        "acceptance": float(np.mean([each["acceptance"] for each in tags])),
        "seconds a run": (time.perf_counter() - started) / runs,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def _add(
    found: dict, name: str, copies: object, tags: dict, n: int, truth: np.ndarray, variance: np.ndarray
) -> None:
    """Pool by one rule, where the release allows it."""
    if name.startswith("effective") and "n_eff" not in tags:
        return
    q, u = zip(*(estimates(copy.to_numpy()) for copy in copies), strict=True)
    stacked = stack(np.array(q), np.array(u), n_syn=5 * n, n_org=n)
    low, high = combine_stack(replace(stacked, n_eff=tags.get("n_eff")), RULES[name]()).conf_int().T
    hit = (low <= truth) & (truth <= high)
    found.setdefault(name, []).append((hit, (high - low) / (2 * 1.96 * np.sqrt(variance))))


def _by_kind(rows: list, kinds: np.ndarray) -> dict:
    """Coverage and median length over the non-private one."""
    hits, lengths = np.array([hit for hit, _ in rows]), np.array([length for _, length in rows])
    return {
        str(kind): {
            "coverage": float(hits[:, kinds == kind].mean()),
            "length": float(np.median(lengths[:, kinds == kind])),
            "worst": float(hits[:, kinds == kind].mean(axis=0).min()),
            "each": hits[:, kinds == kind].mean(axis=0).tolist(),
        }
        for kind in dict.fromkeys(kinds)
    } | {"runs": len(rows)}


def main() -> None:
    """Read the arguments, run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--p", type=int, default=10)
    parser.add_argument("--rho", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    text = json.dumps(run(runs=asked.runs, n=asked.n, p=asked.p, rho=asked.rho, seed=asked.seed), indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
