"""The statistics that synthpop gives of tables and propensity scores, by their published formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import SettingError
from pysynthdp.base.words import meant
from pysynthdp.evaluate.internal import internal_frame
from pysynthdp.evaluate.sides import Cells, Facts, Sides, cells_of, levels_of, numbers_of, taken_sides
from pysynthdp.evaluate.utility.origin_design import design_of
from pysynthdp.evaluate.utility.origin_logit import Origin, fit_logit
from pysynthdp.evaluate.utility.origin_tree import Growth, leaf_shares
from pysynthdp.evaluate.utility.propensity import rank_statistics

__all__ = ["propensity_statistics", "table_statistics"]

_RPART: Final = Growth(leaf=5, node=15, cp=1e-3)  # minbucket, minsplit and cp of synthpop's trees


def table_statistics(
    table: Any, release: Any, columns: Sequence[str], *, groups: int = 5, missing: bool = True
) -> pd.DataFrame:
    """Give synthpop's statistics of one table of some columns: INTERNAL.

    Parameters
    ----------
    table, release
        As of :func:`pysynthdp.compare`.
    columns : sequence of str
        One to three, or more.
    groups : int
        Of numbers, at quantiles of the table and all copies together, closed on the left.
    missing : bool
        Whether missing values are a cell.

    Returns
    -------
    DataFrame
        One row a copy: ``VW, FT, JSD, G, pMSE, WMabsDD, MabsDD, SPECKS, PO50, U, dBhatt``, those that have an
        expectation divided by it (``S_...``), ``df, dfG, nempty``.

    Raises
    ------
    SettingError
        If a column is not on both sides.

    Notes
    -----
    Privacy: of real rows.
    As Raab, Nowok and Dibben (2021) define them, with the confidential table taken as fixed. ``S_JSD`` is
    JSD 8 n2 ln(2)/df, since JSD expects df/(8 n2 ln 2); synthpop 1.9 divides by another number, and its value
    is 1/(2 ln(2)^2) = 1.041 times this one where the sides are of one size.
    """
    sides = _columns(taken_sides(table, release), columns)
    rows = []
    for number, (real, copy) in enumerate(_counts(sides, groups, missing), start=1):
        rows.append({"copy": number, **_of_counts(real, copy)})
    return internal_frame(pd.DataFrame(rows).set_index("copy"))


def _columns(sides: Sides, columns: Sequence[str]) -> Sides:
    """Keep the facts of some columns."""
    known = {each.name: each for each in sides.facts}
    for name in columns:
        if name not in known:
            what = f"{name!r} is no column that both sides have"
            raise SettingError(what, kind="setting", remedy=meant(name, known, "name columns of both"))
    return replace(sides, facts=tuple(known[name] for name in columns))


def _counts(sides: Sides, groups: int, missing: bool) -> list[tuple[FloatArray, FloatArray]]:
    """Count the cells of the table beside those of each copy."""
    frames = [sides.real[sides.names], *sides.all_copies()]
    coded = [_coded([frame[each.name] for frame in frames], each, groups, missing) for each in sides.facts]
    sizes = [size for _, size in coded]
    found = []
    for place in range(len(frames)):
        codes = np.stack([columns[place] for columns, _ in coded])
        known = (codes >= 0).all(axis=0)
        flat = np.ravel_multi_index(tuple(codes[:, known]), sizes) if sizes else np.zeros(0, np.int64)
        found.append(np.bincount(flat, minlength=int(np.prod(sizes))).astype(np.float64))
    return [(found[0], copy) for copy in found[1:]]


def _coded(
    columns: Sequence[pd.Series[Any]], facts: Facts, groups: int, missing: bool
) -> tuple[list[AnyArray], int]:
    """Write a column of every side as cells; -1 for what is left out."""
    if facts.numeric:
        parts = [numbers_of(column, facts) for column in columns]
        edges = _edges(np.concatenate([values for values, _ in parts]), groups)
        codes = [np.where(kinds > 0, -1, _within(values, edges)) for values, kinds in parts]
        size = max(len(edges) - 1, 1)
    else:
        read = [levels_of(column, facts) for column in columns]
        size = len(facts.levels) + any((each == -2).any() for each in read)
        codes = [np.where(each == -2, len(facts.levels), each) for each in read]
    if missing and any((each < 0).any() for each in codes):
        return [np.where(each < 0, size, each) for each in codes], size + 1
    return codes, size


def _edges(values: FloatArray, groups: int) -> FloatArray:
    """Cut at type 7 quantiles, or into equal widths where fewer than three groups come out."""
    known = values[np.isfinite(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, groups + 1)))
    if np.unique(_within(known, edges)).size < 3:
        edges = np.linspace(known.min(), known.max(), groups + 1)
    return edges


def _within(values: FloatArray, edges: FloatArray) -> AnyArray:
    """Place values in [a, b), the last closed."""
    found = np.searchsorted(edges, values, side="right") - 1
    return np.where(values == edges[-1], len(edges) - 2, found)


def _of_counts(whole_real: FloatArray, whole_copy: FloatArray) -> dict[str, float]:
    """Compute all statistics of two tables of counts."""
    there = whole_real + whole_copy > 0
    o, s = whole_real[there], whole_copy[there]
    n1, n2 = o.sum(), s.sum()
    r, c, total, df = n2 / n1, n2 / (n1 + n2), n1 + n2, float(there.sum() - 1)
    apart = s - r * o
    squares = float((apart**2 / (c * (o + s))).sum())
    po, ps = o / n1, s / n2
    both = (o > 0) & (s > 0)
    share = ps[both] / ps[both].sum() / (po[both] / po[both].sum())
    known = {
        "VW": squares,
        "FT": float(4 * ((np.sqrt(s) - np.sqrt(r * o)) ** 2).sum()),
        "JSD": _jensen_shannon(po, ps),
        "G": float(2 * (s[both] * np.log(share)).sum()),
        "pMSE": squares * c * (1 - c) ** 2 / total,
        "WMabsDD": float((np.abs(apart) / np.sqrt(c * (o + s))).sum() / np.sqrt(2 / np.pi)),
        "MabsDD": float(np.abs(apart).sum() / n2),
        **_of_ranks(o, s),
        "PO50": float((s[ps > po].sum() + o[ps <= po].sum()) / total * 100 - 50),
        "dBhatt": float(np.sqrt(max(0.0, 1 - np.sqrt(po * ps).sum()))),
    }
    dfg = float(both.sum() - 1)
    expected = {"VW": df, "FT": df, "JSD": df / (8 * n2 * np.log(2)), "G": dfg, "WMabsDD": df}
    ratios = {f"S_{name}": known[name] / mean if mean else float("nan") for name, mean in expected.items()}
    ratios["S_pMSE"] = ratios["S_VW"]
    return {**known, **ratios, "df": df, "dfG": dfg, "nempty": float((~there).sum())}


def _jensen_shannon(po: FloatArray, ps: FloatArray) -> float:
    """Jensen-Shannon divergence in bits."""
    middle = (po + ps) / 2
    parts = [np.where(p > 0, p * np.log2(np.where(p > 0, p, 1) / middle), 0).sum() / 2 for p in (po, ps)]
    return float(sum(parts))


def _of_ranks(o: FloatArray, s: FloatArray) -> dict[str, float]:
    """Distance of Kolmogorov and Smirnov, count of Mann and Whitney, of cells by their share of copies."""
    _, place = np.unique(np.round(s / (s + o), 12), return_inverse=True)
    copy, real = np.bincount(place, s), np.bincount(place, o)
    apart = np.abs(np.cumsum(copy) / s.sum() - np.cumsum(real) / o.sum()).max()
    return {"SPECKS": float(apart), "U": float((copy * (np.cumsum(real) - real / 2)).sum())}


def propensity_statistics(
    table: Any,
    release: Any,
    columns: Sequence[str] | None = None,
    *,
    method: Literal["logit", "cart"] = "logit",
    order: int = 0,
) -> pd.DataFrame:
    """Give synthpop's statistics of propensity scores: INTERNAL.

    Parameters
    ----------
    table, release
        As of :func:`pysynthdp.compare`.
    columns : sequence of str, optional
        All by default.
    method : {"logit", "cart"}
        A logistic regression, or a tree with the settings of synthpop's.
    order : int
        0 for main effects, 1 for products of any two columns besides; of the regression.

    Returns
    -------
    DataFrame
        One row a copy: ``pMSE, S_pMSE, SPECKS, PO50, U`` and the number of free coefficients; a tree has no
        ``S_pMSE``.

    Raises
    ------
    SettingError
        If a column is not on both sides, or the regression has too many predictors.

    Notes
    -----
    Privacy: of real rows.
    S_pMSE takes the confidential table as fixed: pMSE over K (1 - c)^2 c/N (Snoke and others 2018). Trees are
    ours: pMSE lies within a quarter of that of rpart, from which they differ in ties and in surrogate splits.
    """
    sides = taken_sides(table, release)
    sides = _columns(sides, sides.names if columns is None else list(columns))
    real = sides.real[sides.names]
    cells = [_whole_levels(cells_of(real[each.name], each)) for each in sides.facts]
    rows = []
    for number, copy in enumerate(sides.all_copies(), start=1):
        found = (
            _tree(real, copy, sides.facts)
            if method == "cart"
            else fit_logit(design_of(real, copy, cells, order=order))
        )
        if isinstance(found, str):
            raise SettingError(found, kind="setting", remedy="name fewer columns, or leave order out")
        rows.append({"copy": number, **_of_scores(found)})
    return internal_frame(pd.DataFrame(rows).set_index("copy"))


def _whole_levels(cells: Cells) -> Cells:
    """Tell all levels of a column apart."""
    if cells.facts.numeric:
        return cells
    levels = cells.facts.levels
    return replace(
        cells, labels=(*levels, *cells.facts.kinds[:1], "(not in the table)"), place=np.arange(len(levels))
    )


def _of_scores(found: Origin) -> dict[str, float]:
    """Compute all statistics of scores."""
    rows = found.real.size + found.copy.size
    c = found.copy.size / rows
    mean = float((((found.real - c) ** 2).sum() + ((found.copy - c) ** 2).sum()) / rows)
    right = int((found.copy > 0.5).sum() + (found.real <= 0.5).sum())
    apart, count = rank_statistics(found)
    expected = found.free * (1 - c) ** 2 * c / rows
    return {
        "pMSE": mean,
        "S_pMSE": mean / expected if found.free else float("nan"),
        "SPECKS": apart,
        "PO50": 100 * right / rows - 50,
        "U": count,
        "free": float(found.free),
    }


def _tree(real: pd.DataFrame, copy: pd.DataFrame, facts: Sequence[Facts]) -> Origin:
    """Grow a tree as synthpop does: a missing number is 0, and marked beside it."""
    bins: list[AnyArray] = []
    ordered: list[bool] = []
    for each in facts:
        sides = [frame[each.name] for frame in (real, copy)]
        if each.numeric:
            parts = [numbers_of(side, each) for side in sides]
            values = np.concatenate([np.where(kinds > 0, 0.0, value) for value, kinds in parts])
            bins += [
                np.unique(values, return_inverse=True)[1],
                np.concatenate([kinds > 0 for _, kinds in parts]),
            ]
            ordered += [True, True]
        else:
            codes = np.concatenate([levels_of(side, each) for side in sides])
            bins.append(codes + 2)
            ordered.append(False)
    y = np.repeat([0, 1], [len(real), len(copy)])
    stacked = np.stack([each.astype(np.int64) for each in bins])
    shares = leaf_shares(stacked, stacked.max(axis=1) + 1, np.array(ordered), y, _RPART)
    return Origin(shares[: len(real)], shares[len(real) :], 0, converged=True)
