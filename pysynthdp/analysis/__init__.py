"""Pooled analyses of synthetic copies; names are loaded when first used, so tags cost no model library."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pysynthdp.analysis.combining import Combined, combine
    from pysynthdp.analysis.crosstab import Crosstab, crosstab_of
    from pysynthdp.analysis.design_based import svyglm, svymean, svyratio, svytotal
    from pysynthdp.analysis.estimands import gini_of, mean_of, quantile_of, share_of
    from pysynthdp.analysis.estimates import Estimates
    from pysynthdp.analysis.pooling import pool
    from pysynthdp.analysis.results import PooledResults
    from pysynthdp.analysis.survey import survey_copies
    from pysynthdp.analysis.wrappers import apply, fit_copies, glm, logit, ols
    from pysynthdp.tags import AnalysableRelease, ReleaseTags

_WHERE = {
    "combining": ("Combined", "combine"),
    "design_based": ("svyglm", "svymean", "svyratio", "svytotal"),
    "crosstab": ("Crosstab", "crosstab_of"),
    "estimands": ("gini_of", "mean_of", "quantile_of", "share_of"),
    "estimates": ("Estimates",),
    "pooling": ("pool",),
    "results": ("PooledResults",),
    "survey": ("survey_copies",),
    "..tags": ("AnalysableRelease", "ReleaseTags"),  # below this room, since plans and releases know tags too
    "wrappers": ("apply", "fit_copies", "glm", "logit", "ols"),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AnalysableRelease",
    "Combined",
    "Crosstab",
    "Estimates",
    "PooledResults",
    "ReleaseTags",
    "apply",
    "combine",
    "crosstab_of",
    "fit_copies",
    "gini_of",
    "glm",
    "logit",
    "mean_of",
    "ols",
    "pool",
    "quantile_of",
    "share_of",
    "survey_copies",
    "svyglm",
    "svymean",
    "svyratio",
    "svytotal",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    where = _HOME[name]
    return getattr(import_module(where if where.startswith("..") else f".{where}", __name__), name)
