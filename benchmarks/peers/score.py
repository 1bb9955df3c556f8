"""Scores of a synthetic copy against its real table, and how often a naive interval from one copy covers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.noise.mixed import Analysis
from benchmarks.noise.quality import binned, variation
from benchmarks.noise.tables import Public

KINDS = ("proportion", "cell", "mean", "ols", "logit")


def by_kind(values: np.ndarray, labels: list[str]) -> dict[str, float]:
    """Average over the estimands of each kind."""
    kinds = np.array([label.split(":")[0] for label in labels])
    return {kind: float(np.mean(values[..., kinds == kind])) for kind in KINDS}


def quality(public: Public, copies: list[pd.DataFrame]) -> dict[str, float]:
    """Average the total variation and |z| of copies of the table itself."""
    analysis = Analysis.of(public)
    own, variance, labels = analysis(public.table)
    names = [name for name in public.table if name not in public.numbers]
    real, rows = binned(public, public.table), []
    for made in copies:
        z = by_kind(np.abs(analysis(made)[0] - own) / np.sqrt(variance), labels)
        one = {f"tv{ways}cat": variation(public.table, made, names, ways) for ways in (1, 2, 3)}
        one["tv1num"] = variation(real, binned(public, made), list(public.numbers), 1)
        rows.append(one | {f"z_{kind}": z[kind] for kind in ("mean", "ols", "logit")})
    return pd.DataFrame(rows).mean().to_dict()


def naive_coverage(public: Public, copies: list[pd.DataFrame]) -> dict[str, float]:
    """Share of 95 % intervals, each from one copy read as if real, that hold the value in the population."""
    analysis = Analysis.of(public)
    truth, _, labels = analysis(public.table)
    hits = []
    for made in copies:
        estimates, variance, _ = analysis(made)
        hits.append(np.abs(estimates - truth) <= 1.96 * np.sqrt(variance))
    return {f"covered_{kind}": rate for kind, rate in by_kind(np.array(hits), labels).items()}


def pooled_coverage(public: Public, limits: list[np.ndarray]) -> dict[str, float]:
    """Share of pooled intervals (two rows: low, high) that hold the value in the population."""
    truth, _, labels = Analysis.of(public)(public.table)
    hits = np.array([(low <= truth) & (truth <= high) for low, high in limits])
    return {f"covered_{kind}": rate for kind, rate in by_kind(hits, labels).items()}
