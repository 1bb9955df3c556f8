"""Key combinations and targets counted in table and copies, and what an intruder reads off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.evaluate.risk.coding import Coded

__all__ = [
    "Cells",
    "Intruder",
    "Known",
    "attribute",
    "cells_of",
    "certainty",
    "commonly_known",
    "identity",
    "intruders",
    "probabilities",
]

_ALL: Final = 100.0  # per cent


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts of the cells (key combination, target value) that occur anywhere.

    Parameters
    ----------
    key, target : array (cells,)
        Key combination and target value of each cell.
    table, fresh : array (cells,)
        Records of the table, and people never used.
    copies : tuple of array (cells,)
        Records of each copy.
    keys, targets : int
        Number of key combinations and of target values.
    excluded : array (cells,) of bool
        What everybody knows.
    denom_lim : int or None
        Cells of more records than this are left out.
    """

    key: IntArray
    target: IntArray
    table: IntArray
    fresh: IntArray
    copies: tuple[IntArray, ...]
    keys: int
    targets: int
    excluded: BoolArray
    denom_lim: int | None = None

    def by_key(self, counts: IntArray | BoolArray) -> FloatArray:
        """Sum over the cells of each key combination."""
        return np.bincount(self.key, counts, self.keys).astype(np.float64)

    def kept(self, counts: IntArray, more: int = 0) -> IntArray:
        """Take out what is excluded; ``more`` records stand in a cell besides those counted."""
        out = self.excluded if self.denom_lim is None else self.excluded | (counts + more > self.denom_lim)
        return np.where(out, 0, counts)


@dataclass(frozen=True, slots=True)
class Known:
    """Something that everybody knows: a target value, keys, or both together.

    Parameters
    ----------
    keys : array (keys,) of bool, or None
        Key combinations that it speaks of; None for all.
    target : int or None
        Code of the target value; None for all.
    """

    keys: BoolArray | None = None
    target: int | None = None

    def of(self, key: IntArray, target: IntArray) -> BoolArray:
        """Tell of each cell whether it is known."""
        known = np.ones(key.size, dtype=bool) if self.keys is None else self.keys[key]
        return np.asarray(known if self.target is None else known & (target == self.target))


def cells_of(
    key: Coded, target: Coded, *, known: Sequence[Known] = (), denom_lim: int | None = None
) -> Cells:
    """Count key combinations and target values together.

    Parameters
    ----------
    key, target : Coded
        As :meth:`Files.coded` and :func:`combined` give them.
    known : sequence of Known
        What is left out, since everybody knows it.
    denom_lim : int, optional
        Cells of more records are left out.

    Returns
    -------
    Cells
        Cells in which somebody is.
    """
    codes = [mine * target.size + theirs for mine, theirs in zip(key.files, target.files, strict=True)]
    values, places = np.unique(np.concatenate(codes), return_inverse=True)
    ends = np.cumsum([each.size for each in codes])[:-1]
    counts = [np.bincount(each, minlength=values.size) for each in np.split(places, ends)]
    keys, targets = values // max(target.size, 1), values % max(target.size, 1)
    out = np.zeros(values.size, dtype=bool)
    for each in known:
        out |= each.of(keys, targets)
    return Cells(
        key=keys,
        target=targets,
        table=counts[0],
        fresh=counts[-1],
        copies=tuple(counts[1:-1]),
        keys=key.size,
        targets=target.size,
        excluded=out,
        denom_lim=denom_lim,
    )


@dataclass(frozen=True, slots=True)
class Intruder:
    """What somebody with some copies sees.

    Parameters
    ----------
    of : str
        Which copies: ``"copy 1"``, ``"any copy"`` or ``"stacked"``.
    found, unique, answered : array (keys,) of bool
        Whether a key combination occurs, occurs once, and gives one single target.
    certain : array (cells,) of bool
        Whether the copies give this target, and no other, for these keys.
    counts : array (cells,) or None
        Records; None where several copies are looked at one by one.
    """

    of: str
    found: BoolArray
    unique: BoolArray
    answered: BoolArray
    certain: BoolArray
    counts: IntArray | None = None

    def joined(self, other: Intruder, of: str) -> Intruder:
        """Give what is seen in one or the other."""
        return Intruder(
            of,
            self.found | other.found,
            self.unique | other.unique,
            self.answered | other.answered,
            self.certain | other.certain,
        )


def _sees(cells: Cells, counts: IntArray, of: str) -> Intruder:
    """Read what a file with these counts says."""
    total = cells.by_key(counts)
    certain = (counts > 0) & (counts == total[cells.key])
    unique = cells.by_key(cells.kept(counts)) == 1
    return Intruder(of, total > 0, unique, cells.by_key(certain) > 0, certain, counts)


def intruders(cells: Cells) -> list[Intruder]:
    """Look at each copy, at all of them one by one, and at all stacked into one file.

    Parameters
    ----------
    cells : Cells
        Counts.

    Returns
    -------
    list of Intruder
        ``"copy 1"`` and so on; then ``"any copy"``, in which somebody is at risk who is at risk in one of
        them; then ``"stacked"``, who believes only what all copies together say.
    """
    single = [_sees(cells, counts, f"copy {at}") for at, counts in enumerate(cells.copies, start=1)]
    whole = replace(single[0], of="any copy", counts=None)
    for each in single[1:]:
        whole = whole.joined(each, "any copy")
    stacked = np.sum(cells.copies, axis=0)
    return [*single, whole, _sees(cells, stacked, "stacked")]


@dataclass(frozen=True, slots=True)
class _People:
    """Whose risk is asked: records of the table, or fresh people as if each were the last to join it."""

    cells: Cells
    fresh: bool
    counts: IntArray = field(init=False)
    total: int = field(init=False)

    def __post_init__(self) -> None:
        own = self.cells.fresh if self.fresh else self.cells.table
        object.__setattr__(self, "total", int(own.sum()))
        more = self.cells.table if self.fresh else np.zeros_like(own)
        out = self.cells.excluded
        if self.cells.denom_lim is not None:
            joined = more + 1 if self.fresh else own
            out = out | (joined > self.cells.denom_lim)
        object.__setattr__(self, "counts", np.where(out, 0, own))

    def share(self, where: BoolArray) -> float:
        """Per cent of all in these cells; NaN of nobody."""
        return float(_ALL * self.counts[where].sum() / self.total) if self.total else np.nan

    def alone(self) -> BoolArray:
        """Cells whose keys nobody else in the table has."""
        others = self.cells.by_key(self.cells.kept(self.cells.table))
        return np.asarray((others == (0 if self.fresh else 1))[self.cells.key])

    def determined(self) -> BoolArray:
        """Cells in which all of the table with these keys have this target."""
        return np.asarray(self.cells.table == self.cells.by_key(self.cells.table)[self.cells.key])


def identity(cells: Cells, seen: Intruder, *, fresh: bool = False) -> dict[str, float]:
    """Give UiO, UiOiS and RepU in per cent: of the table, or of fresh people as if each had joined it.

    Parameters
    ----------
    cells : Cells
        Counts.
    seen : Intruder
        Who looks.
    fresh : bool
        Ask for people who were never used.

    Returns
    -------
    dict
        Measure to per cent.
    """
    people = _People(cells, fresh)
    alone = people.alone()
    return {
        "UiO": people.share(alone),
        "UiOiS": people.share(alone & seen.found[cells.key]),
        "RepU": people.share(alone & seen.unique[cells.key]),
    }


def attribute(cells: Cells, seen: Intruder, *, fresh: bool = False) -> dict[str, float]:
    """Give Dorig, iS, DiS, DiSCO and DiSDiO in per cent: of the table, or of fresh people.

    Parameters
    ----------
    cells : Cells
        Counts.
    seen : Intruder
        Who looks.
    fresh : bool
        Ask for people who were never used.

    Returns
    -------
    dict
        Measure to per cent; ``margin`` is DiSCO of an intruder's certain answers if targets had nothing to do
        with keys, ``TCAP`` the share of right ones among certain answers.
    """
    people = _People(cells, fresh)
    determined = people.determined()
    margin = np.bincount(cells.target, cells.table, cells.targets) / max(int(cells.table.sum()), 1)
    by_key = np.bincount(cells.key, people.counts, cells.keys)
    chance = (by_key[cells.key] * margin[cells.target])[seen.certain & ~cells.excluded].sum()
    found = {
        "Dorig": people.share(determined),
        "iS": people.share(seen.found[cells.key]),
        "DiS": people.share(seen.answered[cells.key]),
        "DiSCO": people.share(seen.certain),
        "DiSDiO": people.share(seen.certain & determined),
        "margin": float(_ALL * chance / people.total) if people.total else np.nan,
    }
    found["TCAP"] = float(_ALL * found["DiSCO"] / found["DiS"]) if found["DiS"] else np.nan
    return found


def certainty(cells: Cells, seen: Intruder) -> dict[str, float]:
    """Give the largest and the mean cell of DiSCO, in records of the table."""
    held = cells.kept(cells.table)[seen.certain]
    held = held[held > 0]
    return {
        "max_denom": float(held.max(initial=0)),
        "mean_denom": float(held.mean()) if held.size else np.nan,
    }


def probabilities(cells: Cells, seen: Intruder) -> dict[str, float]:
    """Give the measures of correct attribution probability, for who looks at one file.

    Parameters
    ----------
    cells : Cells
        Counts.
    seen : Intruder
        Who looks; not at copies one by one.

    Returns
    -------
    dict
        In per cent.
    """
    n = int(cells.table.sum())
    d = cells.kept(cells.table)
    margin = np.bincount(cells.target, cells.table, cells.targets) / max(n, 1)
    base = {"baseCAPd": float(_ALL * (margin**2).sum()), "CAPd": _certainty(cells, d, n)}
    if seen.counts is None:
        return base | {"Dsyn": np.nan, "UiS": np.nan, "CAPs": np.nan, "DCAP": np.nan}
    k = int(seen.counts.sum())
    s = cells.kept(seen.counts)
    share = _shares(cells, s)
    return base | {
        "Dsyn": float(_ALL * s[seen.certain].sum() / k) if k else np.nan,
        "UiS": float(_ALL * seen.unique.sum() / k) if k else np.nan,
        "CAPs": _certainty(cells, s, k),
        "DCAP": float(_ALL * (share * d).sum() / n) if n else np.nan,
    }


def _shares(cells: Cells, counts: IntArray) -> FloatArray:
    """Share of each target among those with the same keys; 0 where nobody is."""
    total = cells.by_key(counts)[cells.key]
    return np.divide(counts, total, out=np.zeros(counts.size), where=total > 0)


def _certainty(cells: Cells, counts: IntArray, total: int) -> float:
    """Mean squared share of targets within keys, in per cent."""
    return float(_ALL * (_shares(cells, counts) * counts).sum() / total) if total else np.nan


def commonly_known(cells: Cells, seen: Intruder, few: Sequence[float] = (50, 0.9)) -> bool:
    """Whether one target value holds nearly all that is disclosed, so that perhaps everybody knows it."""
    held = np.where(seen.certain, cells.kept(cells.table), 0)
    by_target = np.bincount(cells.target, held, cells.targets)
    return bool(by_target.max(initial=0) > few[0] and by_target.max() > few[1] * by_target.sum())
