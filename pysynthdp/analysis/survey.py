"""Design-based analyses of the copies: weights, strata, clusters and replicate weights by svy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import pandas as pd

from pysynthdp.analysis.asked import Asked
from pysynthdp.analysis.declared_codes import Codes
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.wrappers import apply
from pysynthdp.base.errors import FitError, PysynthdpWarning
from pysynthdp.base.remarks import outside
from pysynthdp.base.words import Argument, Words, meant
from pysynthdp.tags import AnalysableRelease

__all__ = ["survey_copies"]

_NAMED = ("stratum", "psu", "ssu", "wgt", "prob", "pop_size")


def survey_copies(
    analysis: Callable[[Any], Any],
    release: AnalysableRelease,
    *,
    design: Any,
    variables: Sequence[str] | None = None,
    rule: str = "auto",
    n_org: float | None = None,
    n_jobs: int = 1,
    codes: Codes = "missing",
) -> PooledResults:
    """Estimate under the survey's design in every copy, and pool.

    Parameters
    ----------
    analysis : callable
        Takes a ``svy.Sample``; returns one of its estimates or regressions, such as
        ``lambda sample: sample.estimation.mean("income", by="region")``.
    release : release
        The copies and their tags.
    design : svy.Design
        Weights, strata, clusters, finite populations; or replicate weights, which are columns of the copies.
    variables : sequence of str, optional
        Columns that the analysis uses besides the design's; all by default.
    rule, n_org
        As in :func:`pool`.
    n_jobs : int
        Copies at a time, in threads.
    codes : {"missing", "keep"}
        Whether the analysis sees declared codes as missing, or as they are.

    Returns
    -------
    PooledResults
        The pooled estimates.

    Raises
    ------
    FitError
        When svy is not installed, a column of the design is not in the copies, or the analysis fails.
    CombiningRuleError
        When no rule, or not the rule asked for, is valid.

    Warns
    -----
    PysynthdpWarning
        When columns of the design were synthesised as ordinary columns: the variance in a copy is then not
        the design's, and neither is f ubar.

    Notes
    -----
    Privacy: post-processing of the copies; reads no real row but what the release keeps real.
    T = f ubar + b/m with ubar the mean design-based variance (Reiter 2003; Drechsler 2018); it holds when
    the copies carry the real design.
    """
    svy, polars = _libraries()
    columns = tuple(dict.fromkeys(_design_columns(design)))
    missing = [name for name in columns if name not in release.copies[0].columns]
    if missing:
        what = f"the design names {', '.join(missing)}, which the copies do not have"
        remedy = meant(missing[0], map(str, release.copies[0].columns), "give names of columns")
        raise FitError(what, column=missing[0], kind="unknown column", remedy=remedy)
    _warn_of_synthetic_design(columns, release)
    used = None if variables is None else tuple(dict.fromkeys((*variables, *columns)))

    def estimate(copy: pd.DataFrame) -> Any:
        return analysis(svy.Sample(polars.from_pandas(copy), design))

    clusters = tuple(name for name in columns if name in _units(design) and name in release.tags.synthesised)
    if clusters:
        estimate.asked = Asked(clusters=True, groups=clusters)  # type: ignore[attr-defined]  # flags the table
    return apply(estimate, release, rule=rule, n_org=n_org, variables=used, n_jobs=n_jobs, codes=codes)


def _libraries() -> tuple[Any, Any]:
    """Import svy and the frames that it takes."""
    try:
        return import_module("svy"), import_module("polars")
    except ImportError as error:
        raise FitError(
            "survey_copies needs the package svy; install it with: pip install svy", kind="fit"
        ) from error


def _units(design: Any) -> set[str]:
    """Columns that name a design's clusters."""
    named = (getattr(design, part, None) for part in ("psu", "ssu"))
    return {
        str(name)
        for each in named
        if each is not None
        for name in ([each] if isinstance(each, str) else each)
    }


def _design_columns(design: Any) -> Iterable[str]:
    """Columns that a design names, replicate weights included."""
    for part in _NAMED:
        named = getattr(design, part, None)
        if isinstance(named, str):
            yield named
        elif named is not None:
            yield from (str(name) for name in _names_in(named))
    yield from (str(name) for name in getattr(design.rep_wgts, "columns", ()))


def _names_in(named: Any) -> Iterable[Any]:
    """Names in a sequence, or in svy's population sizes of several stages."""
    if isinstance(named, list | tuple):
        return [name for name in named if isinstance(name, str)]
    return [value for value in (getattr(named, "psu", None), getattr(named, "ssu", None)) if value]


def _warn_of_synthetic_design(columns: Sequence[str], release: AnalysableRelease) -> None:
    """Warn where the design itself is synthetic."""
    tags = release.tags
    made_up = [name for name in columns if name in tags.synthesised and name not in tags.kept]
    if made_up and tags.nesting != "pseudo_population":
        warnings.warn(
            PysynthdpWarning(
                f"{', '.join(made_up)} of the design were synthesised as ordinary columns, so the variance "
                "in a copy is not the design's and intervals may be wrong",
                column=made_up[0],
                kind="design",
                remedy=Words(
                    "release the design real ({keep}), or make pseudo-populations, whose copies need no "
                    "weights",
                    keep=Argument("keep"),
                ),
            ),
            stacklevel=outside(),
        )
