"""Pooled analyses of synthetic copies."""

from __future__ import annotations

from pysynthdp.analysis.combine import Combined, combine
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.analysis.pool import pool
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.tags import AnalysableRelease, ReleaseTags
from pysynthdp.analysis.wrappers import apply, fit_copies, glm, logit, ols

__all__ = [
    "AnalysableRelease",
    "Combined",
    "Estimates",
    "PooledResults",
    "ReleaseTags",
    "apply",
    "combine",
    "fit_copies",
    "glm",
    "logit",
    "ols",
    "pool",
]
