"""Analyses of rows that belong together: variances count that rows of a unit are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pysynthdp.analysis.fitting import model_kind
from pysynthdp.tags import AnalysableRelease

__all__ = ["by_unit", "estimand_by_unit"]

_CLUSTERED: Final = frozenset(
    {"OLS", "WLS", "GLM", "binomial", "Logit", "Probit", "Poisson", "NegativeBinomial", "MNLogit"}
)
_MIXED: Final = frozenset({"GEE", "MixedLM", "NominalGEE", "OrdinalGEE"})


def by_unit(
    release: AnalysableRelease, model: Any, options: Mapping[str, Any], fit_options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]:
    """Take covariances of clusters, the units, where rows belong together and nothing else is asked for.

    Returns
    -------
    options, fit_options : dict
        Of the model, and of its fit.
    notes : tuple of str
        What the table says of it.

    Notes
    -----
    Privacy: post-processing.
    """
    unit, asked, fit = release.tags.unit, dict(options), dict(fit_options)
    kind = model_kind(model, options)
    if unit is None or "cov_type" in fit or "groups" in asked or kind in _MIXED:
        return asked, fit, ()
    if kind not in _CLUSTERED:
        return asked, fit, (_unheeded(unit),)
    clusters = {"cov_type": "cluster", "cov_kwds": {"groups": unit, **(fit.get("cov_kwds") or {})}}
    return asked, {**fit, **clusters}, (_heeded(unit),)


def estimand_by_unit(
    release: AnalysableRelease, function: Callable[..., Any]
) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Take an estimand's variance over units, where rows belong together; beside it what the table says.

    Notes
    -----
    Privacy: post-processing.
    """
    unit = release.tags.unit
    if unit is None:
        return function, ()
    over = getattr(function, "over_units", None)
    return (function, (_unheeded(unit),)) if over is None else (over(unit), (_heeded(unit),))


def _heeded(unit: str) -> str:
    """Say that variances are of units."""
    return f"standard errors are of clusters: rows of one {unit} are alike, and f counts units"


def _unheeded(unit: str) -> str:
    """Say that variances may be of rows."""
    return (
        f"rows of one {unit} are alike; unless its own variance counts that, intervals are too short: take "
        "ols, logit or glm, an estimand of pysynthdp.analysis, or units(), which has one row a unit"
    )
