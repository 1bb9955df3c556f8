"""Bases that depend on the data (splines, centring, quantile cuts), learned once from all copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from patsy import EvalEnvironment, ModelDesc, Term, stateful_transform

from pysynthdp.analysis.formula import NAMES

__all__ = ["learned_once"]

_CUTS = re.compile(r"\bpd\.(qcut|cut)\s*\(")


class _Edges:
    """Cut points of all rows seen; what patsy calls a stateful transform."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray[Any, Any]] = []
        self._edges: Any = None

    def memorize_chunk(self, x: Any, bins: Any, **options: Any) -> None:
        """Keep the numbers of one copy."""
        del bins, options
        self._parts.append(np.asarray(x, dtype=np.float64))

    def memorize_finish(self) -> None:
        """Nothing: the number of bins is known later."""

    def _numbers(self) -> np.ndarray[Any, Any]:
        """All numbers seen."""
        return np.concatenate(self._parts)


class _Qcut(_Edges):
    """``pd.qcut`` with the quantiles of all copies."""

    def transform(self, x: Any, q: Any, **options: Any) -> Any:
        """Cut where the quantiles of all copies are."""
        if self._edges is None:
            self._edges = pd.qcut(
                self._numbers(), q, retbins=True, duplicates=options.pop("duplicates", "raise")
            )[1]
        options.pop("duplicates", None)
        return pd.cut(x, self._edges, include_lowest=True, **options)


class _Cut(_Edges):
    """``pd.cut`` with the range of all copies, where bins are a number."""

    def transform(self, x: Any, bins: Any, **options: Any) -> Any:
        """Cut at the given edges, or at equal steps of the range of all copies."""
        if self._edges is None:
            self._edges = pd.cut(self._numbers(), bins, retbins=True)[1] if np.ndim(bins) == 0 else bins
        return pd.cut(x, self._edges, **options)


_ENVIRONMENT = EvalEnvironment(
    [{**NAMES, "_pd_qcut": stateful_transform(_Qcut), "_pd_cut": stateful_transform(_Cut)}]
)


class _Learned:
    """A factor of a formula that has learned already; under the name that the user wrote."""

    def __init__(self, factor: Any, state: dict[str, Any]) -> None:
        self._factor, self._state = factor, state
        self.origin = factor.origin

    def name(self) -> str:
        """Code as the user wrote it."""
        return re.sub(r"\b_pd_(q?cut)\(", r"pd.\1(", self._factor.name())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Learned) and self.name() == other.name()

    def __hash__(self) -> int:
        return hash(self.name())

    def memorize_passes_needed(self, state: Any, eval_env: Any) -> int:
        """There is nothing left to learn."""
        del state, eval_env
        return 0

    def eval(self, state: Any, data: Any) -> Any:
        """Values for any rows, by what was learned."""
        del state
        return self._factor.eval(self._state, data)


class _Formula(str):
    """A formula whose bases are known; it is the text for all who read it, and what was learned for patsy."""

    __slots__ = ("learned",)
    learned: ModelDesc

    def __patsy_get_model_desc__(self, eval_env: Any) -> ModelDesc:
        """Give what was learned instead of the text."""
        del eval_env
        return self.learned

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return str, (str(self),)


def learned_once(formula: str, frames: Sequence[pd.DataFrame], columns: Iterable[str]) -> str:
    """Return the formula with knots, centres and cuts that all copies together give.

    Parameters
    ----------
    formula : str
        The model.
    frames : sequence of DataFrame
        The copies, coded alike.
    columns : iterable of str
        Columns in the model; rows that lack one of them teach nothing.

    Returns
    -------
    str
        The formula itself where it has nothing to learn, or where it cannot be read.

    Notes
    -----
    Privacy: reads synthetic copies only.

    Examples
    --------
    >>> frames = [pd.DataFrame({"y": [1.0, 2.0], "x": [0.0, 1.0]}), pd.DataFrame({"y": [2.0], "x": [5.0]})]
    >>> learned_once("y ~ center(x)", frames, ["x", "y"])
    'y ~ center(x)'
    """
    try:
        read = ModelDesc.from_formula(_CUTS.sub(r"_pd_\1(", formula))
        learners = [factor for factor in _factors(read) if factor.memorize_passes_needed({}, _ENVIRONMENT)]
        if not learners:
            return formula
        known = {factor: _taught(factor, frames, list(columns)) for factor in learners}
    except Exception:  # noqa: BLE001 -- the fit itself says what is wrong, and in which copy
        return formula
    learned = _Formula(formula)
    learned.learned = ModelDesc(_with(read.lhs_termlist, known), _with(read.rhs_termlist, known))
    return learned


def _factors(read: ModelDesc) -> dict[Any, None]:
    """All factors of a formula."""
    terms = (*read.lhs_termlist, *read.rhs_termlist)
    return dict.fromkeys(factor for term in terms for factor in term.factors)


def _taught(factor: Any, frames: Sequence[pd.DataFrame], columns: list[str]) -> Any:
    """Let a factor see the complete rows of all copies, one after another."""
    state: dict[str, Any] = {}
    for which in range(factor.memorize_passes_needed(state, _ENVIRONMENT)):
        for frame in frames:
            factor.memorize_chunk(state, which, frame.dropna(subset=columns))
        factor.memorize_finish(state, which)
    factor.eval(state, frames[0].dropna(subset=columns))  # a wrong argument shows here
    return _Learned(factor, state)


def _with(terms: Sequence[Any], known: dict[Any, Any]) -> list[Any]:
    """Put what was learned in the place of the factors that learn."""
    return [Term([known.get(factor, factor) for factor in term.factors]) for term in terms]
