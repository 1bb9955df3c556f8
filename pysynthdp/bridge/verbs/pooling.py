"""Fits that R made -> one pooled result: R fits, here is only arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis import Estimates, PooledResults, pool
from pysynthdp.analysis.asked import Asked, asked_by_r
from pysynthdp.analysis.declared_codes import note_of_codes
from pysynthdp.analysis.description import Coding, Description
from pysynthdp.analysis.flags import remarks_on
from pysynthdp.base.errors import CombiningRuleError, FitError
from pysynthdp.base.words import said
from pysynthdp.bridge.codec import character
from pysynthdp.evaluate import compare_fits
from pysynthdp.tags import ReleaseTags

__all__ = ["compare", "pool_fits"]


@dataclass(frozen=True, slots=True)
class _Columns:
    """What pooling asks of a release, where R holds the copies: names of columns, and tags."""

    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def pool_fits(**request: Any) -> dict[str, Any]:
    """Combine fits that came from R.

    Parameters
    ----------
    **request
        ``fits``: a list with ``terms``, ``values``, ``cov``, ``df`` and ``nobs`` of each copy; ``tags`` and
        ``columns`` of the release; ``variables`` in the model; ``asked``, what its formula asks as R
        parsed it; ``model``, ``rule``, ``n_org``, ``level``; ``coded``, the cells with declared codes by
        column, and ``codes``, whether they were kept; ``joint``, whether all terms together are tested.

    Returns
    -------
    dict
        Arrays by term, the covariance, the rule and why it was chosen.

    Raises
    ------
    FitError, CombiningRuleError
        As :func:`pysynthdp.pool`.

    Notes
    -----
    Privacy: post-processing of synthetic copies; no row is sent.
    """
    done = _pooled(request)
    joint = _joint(done) if request.get("joint") else None
    return {**_result(done, float(request.get("level", 0.95))), "joint": joint}


def _joint(done: PooledResults) -> dict[str, Any]:
    """Test that all terms are zero, by the form that goes with the rule; or say why there is no test."""
    try:
        test = done.wald_test(np.eye(len(done.terms)))
    except CombiningRuleError as error:
        return {"reason": error.said("r")}
    return {"statistic": test.stat, "df1": test.df1, "df2": test.df2, "p.value": test.pvalue}


def _pooled(request: Mapping[str, Any]) -> PooledResults:
    """Pool by the release's tags, or without them."""
    fits = [_estimates(fit, request.get("model") or "fit", at) for at, fit in enumerate(request["fits"], 1)]
    options: dict[str, Any] = {"rule": request.get("rule") or "auto", "n_org": request.get("n_org")}
    if request.get("tags") is None:
        return pool(fits, n_syn=request.get("n_syn"), **options)
    columns = _list(request.get("columns"))
    release = _Columns((pd.DataFrame(columns=columns),), ReleaseTags.from_dict(request["tags"]))
    known = [name for name in _list(request.get("variables")) if name in columns]
    done = pool(fits, release=release, variables=known or None, **options)
    if _of_design(request, fits) and options["rule"] == "auto" and done.rule == "partial_size_adjusted":
        options["rule"] = "partial_design"  # the same T, with the design's degrees of freedom
        done = pool(fits, release=release, variables=known or None, **options)
    said = remarks_on(release, _wanted(request, release.tags.unit))
    counts = {str(name): int(count) for name, count in dict(request.get("coded") or {}).items()}
    noted = note_of_codes(counts, done.m, kept=request.get("codes") == "keep")
    return replace(done, flags=said.flags, notes=tuple(dict.fromkeys((*done.notes, *said.notes, *noted))))


def _of_design(request: Mapping[str, Any], fits: Sequence[Estimates]) -> bool:
    """Whether fits are estimates of R's package survey that say their degrees of freedom."""
    return str(request.get("model")).startswith("svy") and all(fit.df is not None for fit in fits)


def _wanted(request: Mapping[str, Any], unit: str | None) -> Asked:
    """Say what the fits ask of the copies; clusters of the copies' own units are held."""
    asked = asked_by_r(request.get("asked"), str(request.get("model")))
    own = unit is not None and asked.groups == (unit,)
    return replace(asked, robust=False, clusters=False, mixed=False) if own else asked


def _estimates(fit: Mapping[str, Any], model: str, number: int) -> Estimates:
    """Read what R took from one fit."""
    terms = tuple(str(term) for term in _list(fit["terms"]))
    values = np.array(_list(fit["values"]), dtype=np.float64)
    cov = np.asarray(fit["cov"], dtype=np.float64).reshape(len(values), -1)
    if cov.shape != (len(values), len(values)):
        raise FitError(
            f"copy {number}: vcov() has another size than coef(); give a fit that has both", kind="setting"
        )
    df, about = fit.get("df"), fit.get("about") or {}
    return Estimates(
        terms=terms,
        values=values,
        cov=cov,
        df=None if df is None or not np.isfinite(df) else float(df),
        nobs=fit.get("nobs"),
        model=about.get("class") or model,
        about=None if not about else _description(about),
        separated=tuple(str(term) for term in _list(fit.get("separated"))),
    )


def _description(about: Mapping[str, Any]) -> Description:
    """Read what R says of a fit's model."""
    members = about.get("members") or {}
    bases = about.get("bases") or {}
    return Description(
        formula=about.get("formula"),
        response=about.get("response"),
        family=about.get("family"),
        covariance=about.get("covariance"),
        members={
            str(name): _set(of)
            for name, of in zip(_list(members.get("names")), members.get("of") or (), strict=True)
        },
        codings=tuple(_coding(one) for one in about.get("codings") or ()),
        bases={str(name): np.array(_list(numbers), dtype=np.float64) for name, numbers in bases.items()},
        entangled=_set(about.get("entangled")),
        own=about.get("own"),
    )


def _coding(one: Mapping[str, Any]) -> Coding:
    """Read the contrasts of one factor in one term."""
    levels = tuple(str(level) for level in _list(one["levels"]))
    matrix = np.asarray(one["matrix"], dtype=np.float64).reshape(len(levels), -1)
    columns = tuple(str(name) for name in _list(one["columns"]))
    return Coding(_set(one["members"]), str(one["factor"]), levels, columns, matrix)


def _set(names: Any) -> frozenset[str]:
    """Give names as a set."""
    return frozenset(str(name) for name in _list(names))


def _list(value: Any) -> list[Any]:
    """Give a vector of any length as a list."""
    return [] if value is None else list(value) if isinstance(value, list | np.ndarray) else [value]


def _result(done: PooledResults, level: float) -> dict[str, Any]:
    """Give a pooled result as vectors."""
    limits = done.conf_int(1 - level).to_numpy(dtype=np.float64)
    return {
        "term": character(done.terms),
        "estimate": done.params.to_numpy(),
        "std.error": done.bse.to_numpy(),
        "statistic": done.tvalues.to_numpy(),
        "df": done.df.to_numpy(dtype=np.float64),
        "p.value": done.pvalues.to_numpy(),
        "conf.low": limits[:, 0],
        "conf.high": limits[:, 1],
        "ubar": done.ubar.to_numpy(),
        "b": done.b.to_numpy(),
        "total": done.T.to_numpy(),
        "cov": done.cov_params().to_numpy(dtype=np.float64),
        "m": done.m,
        "n_syn": done.n_syn,
        "n_org": done.n_org,
        "rule": done.rule,
        "why": said(done.why, "r"),
        "notes": character([said(note, "r") for note in done.notes]),
        "flags": character([said(flag, "r") for flag in done.flags]),
    }


def compare(confidential: Mapping[str, Any], target: str = "population", **request: Any) -> dict[str, Any]:
    """Hold pooled fits against the same fit on the confidential rows: for the owner of the data only.

    Parameters
    ----------
    confidential : mapping
        Terms, values and covariance of the fit on the confidential rows.
    target : {"population", "original", "original_population"}
        What the pooled intervals are for.
    **request
        As in :func:`pool_fits`.

    Returns
    -------
    dict
        One vector a column of the comparison, and the facts beside it.

    Notes
    -----
    Privacy: shows estimates of the confidential rows, so the result is internal.
    """
    real = _estimates(confidential, request.get("model") or "fit", 0)
    level = float(request.get("level", 0.95))
    made: Any = compare_fits(_pooled(request), real, target=target, alpha=1 - level)  # type: ignore[arg-type]  # checked there
    return {
        "terms": character(made.terms),
        "columns": {name: column.to_numpy() for name, column in made.to_frame().items()},
        "pooled.limits": np.asarray(made.pooled_limits),
        "confidential.limits": np.asarray(made.confidential_limits),
        "mean.overlap": made.mean_overlap,
        "mean.abs.std.diff": made.mean_abs_std_diff,
        "lack.of.fit": {"statistic": made.lack_of_fit.stat, "p.value": made.lack_of_fit.pvalue},
        "notes": character([said(note, "r") for note in made.notes]),
    }
