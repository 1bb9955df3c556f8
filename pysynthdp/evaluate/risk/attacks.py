"""Attribute inference and singling-out: what an attack on the copies gains beyond people never used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.evaluate.risk.asked import Asked
from pysynthdp.evaluate.risk.coding import Files, combined, numbers_of
from pysynthdp.evaluate.risk.control import Control
from pysynthdp.evaluate.risk.intervals import above, success, wilson

__all__ = ["inference_table", "singling_out_table"]

_COMBINATIONS: Final = 20_000  # key combinations of the copies that are looked through for a near one
_POPULATION: Final = 20_000  # people among whom somebody is singled out
_LEVELS: Final = 20  # values up to which a number is guessed exactly
_NEAR: Final = 0.1  # standard deviations within which a guess of a number is right
_BLOCK: Final = 256
_ATTRIBUTES: Final = (2, 6)  # in a predicate: at least, and below
_PATIENCE: Final = 8  # predicates that are looked at for each that is tried
_ALL: Final = 100.0


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of table, stacked copies and fresh people: numbers on a scale, or codes."""

    table: FloatArray
    copies: FloatArray
    fresh: FloatArray
    numeric: bool
    scale: float


def _columns(files: Files, names: Sequence[str]) -> dict[str, _Column]:
    """Read columns as numbers where they are numbers of many values, else as codes."""
    return {name: _column(files, name) for name in names}


def _column(files: Files, name: str) -> _Column:
    """Read one column."""
    values = numbers_of(name, files.columns(name))
    if values is not None and np.unique(values[0][~np.isnan(values[0])]).size > _LEVELS:
        scale = float(np.nanstd(values[0])) or 1.0
        return _Column(values[0], np.concatenate(values[1:-1]), values[-1], True, scale)
    coded = files.coded(name)
    parts = [each.astype(np.float64) for each in coded.files]
    return _Column(parts[0], np.concatenate(parts[1:-1]), parts[-1], False, 1.0)


def _nearest(
    wanted: Sequence[FloatArray], known: Sequence[FloatArray], columns: Sequence[_Column]
) -> IntArray:
    """Find the row of the copies whose keys are nearest: one for a level that differs, numbers by scale."""
    out = np.empty(wanted[0].size, dtype=np.int64)
    for start in range(0, out.size, _BLOCK):
        here = slice(start, start + _BLOCK)
        far = np.zeros((wanted[0][here].size, known[0].size))
        for want, have, column in zip(wanted, known, columns, strict=True):
            far += _apart(want[here], have, column)
        out[here] = far.argmin(axis=1)
    return out


def _apart(want: FloatArray, have: FloatArray, column: _Column) -> FloatArray:
    """Distances in one column; at most one."""
    if not column.numeric:
        return np.asarray(want[:, None] != have[None, :], dtype=np.float64)
    gap = np.abs(want[:, None] - have[None, :]) / column.scale
    missing = np.isnan(want)[:, None] != np.isnan(have)[None, :]
    return np.asarray(np.where(missing, 1.0, np.minimum(np.nan_to_num(gap), 1.0)))


@dataclass(frozen=True, slots=True)
class _Guesser:
    """For some people, the rows of the copies that have their keys, or the nearest ones."""

    group: IntArray  # of each stacked row of the copies
    of: IntArray  # group of each attacked person

    def guess(self, column: _Column) -> FloatArray:
        """Guess a target: the median, or the commonest level, of the rows with these keys."""
        frame = pd.DataFrame({"group": self.group, "value": column.copies})
        if column.numeric:
            best = frame.groupby("group", sort=True)["value"].median()
        else:
            counts = frame.value_counts(["group", "value"]).reset_index()
            best = counts.drop_duplicates("group").set_index("group")["value"]
        return best.reindex(self.of).to_numpy(dtype=np.float64)


def _guesser(
    files: Files, names: Sequence[str], rows: IntArray, *, fresh: bool, rng: np.random.Generator
) -> _Guesser:
    """Prepare guesses about some rows of the table, or about some fresh people."""
    key = combined([files.coded(name) for name in names])
    group = np.concatenate(key.copies)
    of = (key.fresh if fresh else key.table)[rows]
    present = np.zeros(key.size, dtype=bool)
    present[group] = True
    strangers = np.flatnonzero(~present[of])
    if strangers.size:
        first = np.unique(group, return_index=True)[1]
        if first.size > _COMBINATIONS:
            first = rng.choice(first, _COMBINATIONS, replace=False)
        columns = [_column(files, name) for name in names]
        own = [(each.fresh if fresh else each.table)[rows][strangers] for each in columns]
        near = _nearest(own, [each.copies[first] for each in columns], columns)
        of = of.copy()
        of[strangers] = group[first[near]]
    return _Guesser(group, of)


def _right(guess: FloatArray, truth: FloatArray, column: _Column) -> BoolArray:
    """Whether guesses are right: the level, or within a tenth of a standard deviation."""
    if not column.numeric:
        return np.asarray(guess == truth)
    return np.asarray(np.abs(guess - truth) <= _NEAR * column.scale)


def _naive(column: _Column) -> float:
    """Give the guess of somebody who does not look at keys."""
    if column.numeric:
        return float(np.nanmedian(column.copies)) if not np.isnan(column.copies).all() else np.nan
    values, counts = np.unique(column.copies, return_counts=True)
    return float(values[counts.argmax()])


def _tries(files: Files, names: Sequence[str], targets: Sequence[str], many: int, *, fresh: bool,
           rng: np.random.Generator) -> dict[str, tuple[int, int, int]]:  # fmt: skip
    """Attack some people: for each target (right, right without looking at keys, attempts)."""
    people = files.fresh if fresh and files.fresh is not None else files.table
    rows = np.sort(rng.permutation(len(people))[:many])
    guesser = _guesser(files, names, rows, fresh=fresh, rng=rng)
    out = {}
    for target in targets:
        column = _column(files, target)
        truth = (column.fresh if fresh else column.table)[rows]
        hits = int(_right(guesser.guess(column), truth, column).sum())
        plain = int(_right(np.full(rows.size, _naive(column)), truth, column).sum())
        out[target] = (hits, plain, rows.size)
    return out


def inference_table(
    asked: Asked, files: Files, control: Control, attempts: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Guess targets of people from the copies by their keys, of the table and of people never used.

    Parameters
    ----------
    asked : Asked
        Key sets and targets.
    files : Files
        Table and copies.
    control : Control
        People never used.
    attempts : int
        People who are attacked in each group.
    rng : Generator
        Chooses them.

    Returns
    -------
    DataFrame
        Per key set and target, in per cent: ``attack`` on the table, ``control`` on people never used,
        ``naive`` guess without keys, ``risk`` = (attack - control) / (1 - control) with 95 % limits, and what
        follows.
    """
    rows = []
    for name, keys in asked.keys.items():
        targets = [target for each, target in asked.pairs() if each == name]
        if not targets:
            continue
        own = _tries(files, keys, targets, attempts, fresh=False, rng=rng)
        many = max(attempts // max(len(control.files), 1), 1)
        others = [_tries(each, keys, targets, many, fresh=True, rng=rng) for each in control.files]
        for target in targets:
            parts = [each[target] for each in others]
            rows.append((name, target, *_verdict(own[target], parts)))
    return pd.DataFrame(rows, columns=["keys", "target", *_TRIED])


_TRIED: Final = ("attack", "control", "naive", "risk", "low", "high", "attempts", "says")


def _verdict(
    own: tuple[int, int, int], others: Sequence[tuple[int, int, int]]
) -> tuple[float, float, float, float, float, float, int, str]:
    """Weigh an attack against its control."""
    hits, plain, many = own
    hits0, many0 = sum(each[0] for each in others), sum(each[2] for each in others)
    attack, naive = hits / max(many, 1), plain / max(many, 1)
    control = hits0 / many0 if many0 else np.nan
    gain = success(above(hits, many, hits0, many0), control)
    values = [_ALL * each for each in (attack, control, naive, gain.value, gain.low, gain.high)]
    return (*values, many, _says(hits, plain, many, gain.low))  # type: ignore[return-value]  # six numbers


def _says(hits: int, plain: int, many: int, low: float) -> str:
    """Say what an attack shows; one that fails shows nothing about better ones."""
    if hits <= plain or wilson(hits, many)[0] <= plain / max(many, 1):
        return "failed attack: no better than a guess without keys, which is no proof of safety"
    if np.isnan(low):
        return "there is no control to hold it against"
    if low > 0:
        return "the copies tell more of the table's people than of others"
    return "no more of the table's people than of others"


def singling_out_table(
    asked: Asked, files: Files, control: Control, attempts: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Single people out by what is unique in the copies, in the table and among people never used.

    Parameters
    ----------
    asked : Asked
        Key sets, each with all targets.
    files : Files
        Table and copies.
    control : Control
        People never used.
    attempts : int
        Predicates that are tried.
    rng : Generator
        Chooses them.

    Returns
    -------
    DataFrame
        Per key set, in per cent of predicates: those that single out one person in the table (``attack``) and
        in as many people never used (``control``), and the ``risk`` as of an attribute inference.
    """
    rows = []
    for name, keys in asked.keys.items():
        columns = tuple(dict.fromkeys((*keys, *asked.targets)))
        hits = tried = hits0 = tried0 = 0
        for part in control.files:
            people = min(len(part.table), len(part.fresh) if part.fresh is not None else 0, _POPULATION)
            many = max(attempts // len(control.files), 1)
            other = _singled(part, columns, many, people, fresh=True, rng=rng)
            own = _singled(files, columns, many, people, fresh=False, rng=rng)
            hits, tried, hits0, tried0 = hits + own[0], tried + own[1], hits0 + other[0], tried0 + other[1]
        if not control.files:
            hits, tried = _singled(
                files, columns, attempts, min(len(files.table), _POPULATION), fresh=False, rng=rng
            )
        values = _verdict((hits, 0, tried), [(hits0, 0, tried0)] if tried0 else [])
        rows.append((name, values[0], values[1], *values[3:]))
    return pd.DataFrame(rows, columns=["keys", *(each for each in _TRIED if each != "naive")])


def _singled(
    files: Files, names: Sequence[str], many: int, people: int, *, fresh: bool, rng: np.random.Generator
) -> tuple[int, int]:
    """Count predicates that are true of exactly one person, and predicates."""
    columns = list(_columns(files, names).values())
    size = len(files.fresh) if fresh and files.fresh is not None else len(files.table)
    chosen = rng.permutation(size)[:people]
    own = [(each.fresh if fresh else each.table)[chosen] for each in columns]
    sample = rng.integers(0, columns[0].copies.size, size=people)
    seen = [each.copies[sample] for each in columns]
    middles = [np.nanmedian(each) if each.size and not np.isnan(each).all() else 0.0 for each in seen]
    hits = tried = 0
    for _ in range(_PATIENCE * many):
        used = rng.permutation(len(columns))[: rng.integers(*_ATTRIBUTES)]
        row = int(rng.integers(0, people))
        true = [
            np.logical_and.reduce([_holds(each[at], seen[at][row], middles[at], columns[at]) for at in used])
            for each in (seen, own)
        ]
        if true[0].sum() == 1:  # unique in the copies: what an intruder would try
            tried, hits = tried + 1, hits + int(true[1].sum() == 1)
        if tried == many:
            break
    return hits, tried


def _holds(values: FloatArray, bound: float, middle: float, column: _Column) -> BoolArray:
    """Whether a predicate is true: the level, or a number at least as far out as that of the copy."""
    if not column.numeric:
        return np.asarray(values == bound)
    if np.isnan(bound):
        return np.isnan(values)
    return np.asarray(values >= bound if bound >= middle else values <= bound)
