"""Regressions on both sides: those that the user names, or some that the tables propose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.analysis import logit, ols
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PysynthdpError, SettingError
from pysynthdp.base.words import Setting, Words
from pysynthdp.evaluate.fits import Comparison, compare_fits
from pysynthdp.evaluate.sides import Cells, Sides, frame_of, in_levels_of, text_of
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags

__all__ = ["Models", "proposed", "regressions"]

Models = Sequence[str] | Mapping[str, str] | str | None
_MOST: Final = 5  # regressions that are proposed
_PREDICTORS: Final = 3
_LEVELS: Final = 8  # of a predictor that is proposed
_KNOWN: Final = 0.6  # of the rows have a value in a column that is proposed
_HEADS: Final = (
    "model",
    "term",
    "copies",
    "confidential",
    "std.diff",
    "overlap",
    "se.ratio",
    "lack of fit p",
)


@dataclass(frozen=True, slots=True)
class _Copies:
    """Copies of another tool, as analyses take them."""

    copies: tuple[Any, ...]
    tags: ReleaseTags
    schema: Schema | None


@dataclass(frozen=True, slots=True)
class Regressions:
    """Fitted regressions, and why others are not.

    Parameters
    ----------
    fits : mapping of str to Comparison
        By formula.
    missing : tuple of str
        What was not computed, and why.
    models : mapping of str to (formula, fit)
        Formula of each, and the function that pools it.
    """

    fits: Mapping[str, Comparison]
    missing: tuple[str, ...]
    models: Mapping[str, tuple[str, Callable[..., Any]]]

    def to_frame(self) -> pd.DataFrame:
        """One row a term, the largest difference first."""
        rows = [row for formula, found in self.fits.items() for row in _rows(formula, found)]
        frame = pd.DataFrame(rows, columns=list(_HEADS))
        order = np.argsort(-np.nan_to_num(frame["std.diff"].abs().to_numpy(dtype=np.float64)), kind="stable")
        return frame.iloc[order].reset_index(drop=True)


def _rows(formula: str, found: Comparison) -> Iterator[tuple[Any, ...]]:
    """Give the terms of one regression."""
    for place, term in enumerate(found.terms):
        numbers = (found.pooled, found.confidential, found.std_diff, found.overlap, found.se_ratio)
        yield (formula, term, *(float(each[place]) for each in numbers), found.lack_of_fit.pvalue)


def regressions(sides: Sides, cells: Sequence[Cells], models: Models, association: FloatArray) -> Regressions:
    """Fit regressions to the copies and to the table, and hold them against each other.

    Parameters
    ----------
    sides : Sides
        The table and the copies.
    cells : sequence of Cells
        Of the columns.
    models : formulas, optional
        Regressions, a mapping gives them names; some are proposed where this is None.
    association : array (columns, columns)
        Cramer's V of the confidential columns, by which predictors are proposed.

    Returns
    -------
    Regressions

    Raises
    ------
    SettingError
        If a model is no formula.

    Notes
    -----
    Privacy: of real rows.
    """
    asked = proposed(cells, association, sides.real) if models is None else _asked(models)
    release = sides.release or _Copies(tuple(sides.copies), sides.tags, sides.schema)
    levels = [each.facts.name for each in cells if not each.facts.numeric]
    real = in_levels_of(sides.real, frame_of(sides.copies[0], levels))
    fits, missing, taken = {}, [], {}
    for name, formula in asked.items():
        fit = _fit_of(formula, cells, sides)
        try:
            fits[name] = compare_fits(fit(formula, release), real)
            taken[name] = (formula, fit)
        except (PysynthdpError, ValueError, np.linalg.LinAlgError) as error:
            what = str(error) if isinstance(error, PysynthdpError) else "it cannot be fitted to these tables"
            missing.append(f"regression {name}: {what}")
    return Regressions(fits, tuple(missing), taken)


def _asked(models: Sequence[str] | Mapping[str, str] | str) -> dict[str, str]:
    """Give named formulas."""
    listed = [models] if isinstance(models, str) else models
    named = dict(listed) if isinstance(listed, Mapping) else {one: one for one in listed}
    for formula in named.values():
        if not isinstance(formula, str) or "~" not in formula:
            what = "models are formulas"
            mend = Words("write {it}", it=Setting("models", ["wage ~ age + sex"]))
            raise SettingError(what, kind="setting", remedy=mend)
    return named


def _fit_of(formula: str, cells: Sequence[Cells], sides: Sides) -> Callable[..., Any]:
    """Take least squares, or a logistic regression where two levels stand on the left; a score has more."""
    left = formula.split("~", maxsplit=1)[0].strip().strip("`")
    response = next((each.facts for each in cells if each.facts.name == left), None)
    if response is None or response.numeric:
        return ols
    declared = None if sides.schema is None or left not in sides.schema else sides.schema[left]
    codes = {text_of(code) for code, _ in declared.missing} if declared is not None else set()
    there = {text_of(value) for value in pd.unique(sides.real[left].dropna())} - codes
    plain = pd.api.types.is_numeric_dtype(sides.real[left].dtype)
    return ols if plain and len(there) > 2 else logit


def proposed(cells: Sequence[Cells], association: FloatArray, real: pd.DataFrame) -> dict[str, str]:
    """Propose regressions: numbers and columns of two levels, each on the three columns that go with it most.

    Parameters
    ----------
    cells : sequence of Cells
        Of the columns.
    association : array (columns, columns)
        Cramer's V, above the diagonal.
    real : DataFrame
        The confidential table; columns in which two rows of five have no value are passed over.

    Returns
    -------
    dict of str to str

    Notes
    -----
    Privacy: of real rows.
    """
    both = np.fmax(association, association.T)
    known = [bool(real[each.facts.name].notna().mean() > _KNOWN) for each in cells]
    places = range(len(cells))
    left = [place for place in places if known[place] and _responds(cells[place])]
    right = [place for place in places if known[place] and _explains(cells[place])]
    strength = {
        place: np.nanmax([both[place, other] for other in right if other != place], initial=-1.0)
        for place in left
    }
    found = {}
    for place in sorted(left, key=lambda place: -strength[place])[:_MOST]:
        others = [other for other in right if other != place and np.nan_to_num(both[place, other]) < 0.99]
        others = sorted(others, key=lambda other: -np.nan_to_num(both[place, other]))[:_PREDICTORS]
        if others:
            formula = f"{_name(cells[place])} ~ {' + '.join(_name(cells[other]) for other in others)}"
            found[formula] = formula
    return found


def _responds(cells: Cells) -> bool:
    """Whether a column is explained: a number of many values, or two levels."""
    return not cells.each if cells.facts.numeric else len(cells.facts.levels) == 2


def _explains(cells: Cells) -> bool:
    """Whether a column explains: a number, or few levels."""
    return cells.facts.unit == "number" if cells.facts.numeric else 2 <= len(cells.facts.levels) <= _LEVELS


def _name(cells: Cells) -> str:
    """Write a column's name as formulas take it."""
    name = cells.facts.name
    return name if name.isidentifier() else f"`{name}`"
