"""One formula for all copies: codes out, the same coding everywhere, a fit each, and notes on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd
from statsmodels.tools.sm_exceptions import (
    ConvergenceWarning,
    HessianInversionWarning,
    PerfectSeparationWarning,
    ValueWarning,
)

from pysynthdp.analysis.bases import learned_once
from pysynthdp.analysis.declared_codes import note_of_codes, refuse_code, without_codes
from pysynthdp.analysis.failures import Job
from pysynthdp.analysis.fitting import fit_one, model_kind
from pysynthdp.analysis.formula import NAMES, Formula, as_named, by_patsy, read_formula
from pysynthdp.analysis.frames import code_left, code_response, coded, dated_kind, in_days, note_of_levels
from pysynthdp.base.errors import FitError
from pysynthdp.schema import Column
from pysynthdp.tags import AnalysableRelease

__all__ = ["Analysis", "each", "fit_frames", "read_analysis", "rows_of"]

T = TypeVar("T")
R = TypeVar("R")
_TOLD = frozenset(["ConditionalLogit", "Logit", "MNLogit", "NegativeBinomial", "NegativeBinomialP"])
_TOLD |= {"GeneralizedPoisson", "GLM", "OrderedModel", "Poisson", "Probit", "binomial"}


@dataclass(frozen=True, slots=True)
class Analysis:
    """A formula and a model, read against the columns of the copies.

    Parameters
    ----------
    formula : Formula
        What is fitted.
    model : callable or class
        As the user gave it.
    options, fit_options : mapping
        Arguments of the model, and of its ``fit``.
    columns : tuple of str
        Columns that are used, in options too.
    declared : mapping of column name to column
        Columns whose declared codes are no values.
    known : tuple of str
        All columns of the copies.
    """

    formula: Formula
    model: Any
    options: Mapping[str, Any]
    fit_options: Mapping[str, Any]
    columns: tuple[str, ...]
    declared: Mapping[str, Column]
    known: tuple[str, ...]


def read_analysis(
    formula: str,
    known: Sequence[str],
    model: Any,
    options: Mapping[str, Any],
    fit_options: Mapping[str, Any],
    codes: Mapping[str, Column],
) -> Analysis:
    """Read what a user asked for; ``codes`` are all columns with declared codes."""
    read = read_formula(formula, known)
    given = (*options.values(), *dict(fit_options.get("cov_kwds") or {}).values())
    named = {value for value in given if isinstance(value, str)} & set(known)
    columns = tuple(sorted(read.columns | named))
    declared = {name: column for name, column in codes.items() if name in columns}
    for name in read.compared & declared.keys():
        refuse_code(name, read.constants, declared[name])
    return Analysis(read, model, options, fit_options, columns, declared, tuple(known))


def fit_frames(
    asked: Analysis, frames: Sequence[pd.DataFrame], n_jobs: int = 1
) -> tuple[list[Any], tuple[str, ...]]:
    """Fit every frame, in threads if asked; give the fits and the notes on what was done to the columns."""
    job, prepared, notes = _prepared(asked, frames)
    with _quiet(job.kind):
        fits = each(lambda pair: fit_one(job, *pair), list(enumerate(prepared, start=1)), n_jobs)
    return fits, notes


def _prepared(
    asked: Analysis, frames: Sequence[pd.DataFrame]
) -> tuple[Job, list[pd.DataFrame], tuple[str, ...]]:
    """Take codes out, code levels, dates and the response, and keep the columns that are used."""
    read, kind = asked.formula, model_kind(asked.model, asked.options)
    cleaned, counts = without_codes(frames, asked.declared)
    notes = note_of_codes(counts, len(frames))
    ready = coded(cleaned, asked.columns)
    notes += _without_uncompared(ready, read.compared)
    timed = [name for name in read.parted if dated_kind(ready[0][name]) is not None]
    ready = [frame.dropna(subset=timed) if timed else frame for frame in ready]  # a part of no date is none
    notes += in_days(ready, [name for name in asked.columns if name not in read.parted | read.compared])
    levels = code_response(ready, read.response, kind)
    if levels is not None and read.response is not None:
        notes += note_of_levels(read.response, levels, kind)
    ready = [as_named(frame, asked.columns) for frame in ready]
    text = _with_coded_left(read, ready, kind)
    maker = getattr(asked.model, "from_formula", asked.model)
    used = tuple(str(name) for name in ready[0].columns)
    text = learned_once(text, ready, used)
    options = (asked.options, asked.fit_options)
    return Job(maker, kind, text, used, levels, *options, asked.known), ready, tuple(notes)


def _without_uncompared(frames: list[pd.DataFrame], compared: Iterable[str]) -> list[str]:
    """Leave out rows where a compared column is missing, in place: pandas calls the comparison False."""
    names, gone = sorted(compared), 0
    for i, frame in enumerate(frames):
        frames[i] = frame.dropna(subset=names) if names else frame
        gone += len(frame) - len(frames[i])
    if not gone:
        return []
    return [f"Rows without {' or '.join(names)}, which the formula compares, were left out ({gone:,})."]


def _with_coded_left(read: Formula, frames: list[pd.DataFrame], kind: str) -> str:
    """Give the formula with a left side that is a number where the model needs one."""
    left, right = read.text.split("~", maxsplit=1)
    if read.response is None and by_patsy():
        return f"{code_left(frames, left.strip(), NAMES, kind)} ~{right}" if left.strip() else read.text
    if kind == "OrderedModel" and left.strip() not in frames[0].columns:
        for frame in frames:
            frame[left.strip()] = frame[read.response]  # statsmodels looks for the left side as it is written
    return read.text


@contextmanager
def _quiet(kind: str) -> Iterator[None]:
    """Keep back warnings of what is tested on every fit, and told by copy and term."""
    with warnings.catch_warnings():
        if kind in _TOLD:
            for told in (ConvergenceWarning, HessianInversionWarning, PerfectSeparationWarning):
                warnings.simplefilter("ignore", told)
            warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"statsmodels|scipy")
        warnings.filterwarnings("error", "unknown kwargs", category=ValueWarning)  # a misspelt setting
        warnings.filterwarnings("ignore", "The design matrix is rank-deficient")  # told by term when pooled
        yield


def rows_of(release: AnalysableRelease) -> list[pd.DataFrame]:
    """Give the copies, or the replaced rows of each where only those carry the synthesis."""
    marker = release.tags.rows_replaced
    if marker == "all":
        return list(release.copies)
    if marker not in release.copies[0].columns:
        raise FitError(
            "only part of the rows was replaced, and the tags do not name a column that marks them",
            kind="rows",
            remedy="fit the model on the replaced rows of each copy and pool with rows='replaced'",
        )
    return [copy[copy[marker].astype(bool)] for copy in release.copies]


def each(function: Callable[[T], R], items: Sequence[T], n_jobs: int) -> list[R]:
    """Call a function on every item, in order, in threads if asked."""
    if n_jobs <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as threads:
        return list(threads.map(function, items))
