"""The analyses that a report shows: models by formula, and indicators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd

from pysynthdp.analysis import glm, logit, ols
from pysynthdp.analysis.formula import plain_name
from pysynthdp.analysis.results import PooledResults
from pysynthdp.base.errors import PlanError, PysynthdpError
from pysynthdp.base.words import Setting, Words
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import CategoricalColumn

__all__ = ["Analysis", "Indicators", "Models", "analyses_of"]

Models = Sequence[str] | Mapping[str, str | tuple[str, str]]
Indicators = Mapping[str, Callable[[pd.DataFrame], Any]]
_KINDS: Final[Mapping[str, Callable[..., PooledResults]]] = {"ols": ols, "logit": logit, "glm": glm}


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis, pooled over the copies, or the reason why it is not there.

    Parameters
    ----------
    name : str
        As the user calls it.
    what : str
        The formula, or the name.
    pooled : PooledResults or None
        None where it cannot be computed.
    failed : str
        Why not.
    """

    name: str
    what: str
    pooled: PooledResults | None
    failed: str = ""


def analyses_of(release: SyntheticRelease, models: Models, indicators: Indicators) -> tuple[Analysis, ...]:
    """Pool every model and indicator over the copies; one that fails says why, and stops no other.

    Parameters
    ----------
    release : SyntheticRelease
        The copies.
    models : sequence of formulas, or mapping name -> formula or (formula, kind)
        Kinds are ``"ols"`` and ``"logit"``; by default ``"logit"`` where the outcome has two levels.
    indicators : mapping name -> function
        As :meth:`SyntheticRelease.apply` takes it, such as ``pysynthdp.analysis.mean_of("income")``.

    Raises
    ------
    PlanError
        For models in another form.

    Notes
    -----
    Privacy: post-processing of copies.
    """
    found = []
    for name, formula, kind in _wished(models):
        fit = _KINDS[kind or _kind_of(formula, release)]
        found.append(_tried(name, formula, partial(fit, formula, release)))
    for name, function in indicators.items():
        found.append(_tried(name, name, partial(release.apply, function)))
    return tuple(found)


def _wished(models: Models) -> list[tuple[str, str, str | None]]:
    """Give name, formula and kind of each model."""
    if isinstance(models, str):
        raise _no_models()
    pairs = models.items() if isinstance(models, Mapping) else [(text, text) for text in models]
    found: list[tuple[str, str, str | None]] = []
    for name, given in pairs:
        formula, kind = (given, None) if isinstance(given, str) else tuple(given)
        if "~" not in str(formula) or (kind is not None and kind not in ("ols", "logit")):
            raise _no_models()
        found.append((str(name), str(formula), kind))
    return found


def _no_models() -> PlanError:
    """Say how models are given."""
    return PlanError(
        "models must be a list of formulas, or name formulas, each with 'ols' or 'logit' if need be",
        kind="setting",
        remedy=Words("write {models}", models=Setting("models", ["income ~ age + sex"])),
    )


def _kind_of(formula: str, release: SyntheticRelease) -> str:
    """Take the model by the outcome: two levels ask for a logit."""
    outcome = plain_name(formula.partition("~")[0].strip())
    column = release.schema[outcome] if outcome in release.schema.names else None
    return "logit" if isinstance(column, CategoricalColumn) and len(column.levels) == 2 else "ols"


def _tried(name: str, what: str, pool: Callable[[], PooledResults]) -> Analysis:
    """Pool, or keep why not."""
    try:
        return Analysis(name, what, pool())
    except PysynthdpError as error:
        return Analysis(name, what, None, str(error))
