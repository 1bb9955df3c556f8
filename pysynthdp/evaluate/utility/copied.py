"""Whether copies are the confidential records: as they are, moved by a constant, or in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.evaluate.sides.alignment import agreement_within
from pysynthdp.evaluate.sides.columns import Facts, levels_of, numbers_of

__all__ = ["Alarm", "copied_parts"]

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
_PARTS: Final = 5  # into which the columns are cut, beside all of them
_LEAST: Final = 20  # unique records, from which on their return is judged
_SHARE: Final = 0.01  # of unique records, by which copies must exceed a fresh half
_SIGMAS: Final = 6.0
_DISTINCT: Final = 50  # different cells of a column whose margin cannot be met by chance
_HOW: Final = ("as they are", "moved by a constant", "moved and scaled")


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that no synthesis does.

    Parameters
    ----------
    kind : str
        ``"copied records"``, ``"copied rows"`` or ``"copied margin"``.
    columns : tuple of str
        In which columns.
    text : str
        What was found.
    value, fresh : float
        The share that was found, and that of a fresh sample.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
    value: float
    fresh: float


def copied_parts(
    real: pd.DataFrame,
    copy: pd.DataFrame,
    facts: Sequence[Facts],
    kept: frozenset[str],
    *,
    groups: Sequence[AnyArray] = (),
    seed: int = 0,
) -> list[Alarm]:
    """Look for records of the table in a copy.

    Parameters
    ----------
    real, copy : DataFrame
        The confidential table and a copy.
    facts : sequence of Facts
        Of the columns.
    kept : frozenset of str
        Columns that the release says are real; they are not looked at.
    groups : sequence of arrays (rows,)
        By which rows stand in the order of the table: cells of columns kept real, places in units.
    seed : int
        Of the halves.

    Returns
    -------
    list of Alarm
        Empty for a synthesis. That no record comes back is no proof that nothing is disclosed.

    Notes
    -----
    Privacy: reads real rows.
    Records of one half of the table that are unique in it are looked for among as many rows of the copy, and
    among those of the other half, which is what a fresh sample would give. Numbers are compared as they are,
    and without their median and quartile range.
    """
    used = [each for each in facts if each.name not in kept]
    if not used or len(real) < 4:
        return []
    found: list[Alarm] = []
    for moved in range(len(_HOW)):
        if moved and not any(each.numeric for each in used):
            break
        found = list(_records(real, copy, used, moved, np.random.default_rng(seed)))
        if found:
            break
    return [*found, *_rows(real, copy, used, groups, seed), *_margins(real, copy, used)]


def _hashed(frame: pd.DataFrame, facts: Sequence[Facts], moved: int) -> Hashes:
    """Write rows as hashes."""
    found = np.zeros(len(frame), dtype=np.uint64)
    for each in facts:
        if each.numeric:
            values = _whole(frame[each.name], each)
            cells = _mixed(_standing(values, moved) if moved else values)
        else:
            cells = _mixed(levels_of(frame[each.name], each).astype(np.float64))
        found = _joined(found, cells)
    return found


def _whole(series: pd.Series[Any], facts: Facts) -> FloatArray:
    """Give numbers with their codes."""
    plain = Facts(facts.name, True, unit=facts.unit)
    return numbers_of(series, plain)[0]


def _standing(values: FloatArray, moved: int) -> FloatArray:
    """Take off the median, and the quartile range where it is asked for, to eight digits or so."""
    known = values[np.isfinite(values)]
    if not known.size:
        return values
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
    scale = float(high - low) or float(np.ptp(known)) or 1.0
    if moved == 1:
        return np.asarray(np.round(values - middle, 7 - int(np.floor(np.log10(scale)))))
    return np.asarray(np.round((values - middle) / scale, 7))


def _mixed(values: FloatArray) -> Hashes:
    """Hash numbers; all that are missing alike."""
    cells = np.where(np.isnan(values), np.float64("1.7976931348623e308"), values + 0.0)
    found: Hashes = pd.util.hash_array(cells)
    return found


def _joined(one: Hashes, other: Hashes) -> Hashes:
    """Make one hash of two."""
    return one * np.uint64(1_000_003) ^ other


def _records(
    real: pd.DataFrame, copy: pd.DataFrame, facts: Sequence[Facts], moved: int, rng: np.random.Generator
) -> Iterator[Alarm]:
    """Look for unique records in all columns; then, where they are not there, in parts of them."""
    parts = [list(facts)]
    if len(facts) >= 2 * _PARTS:
        parts = [[facts[place] for place in part] for part in np.array_split(np.arange(len(facts)), _PARTS)]
    names = [each.name for each in facts]
    found: list[Alarm] = []
    whole: tuple[Hashes, Hashes] | None = None
    for part in parts:  # one at a time: hashes of a long table are large
        pair = _hashed(real, part, moved), _hashed(copy, part, moved)
        whole = pair if whole is None else (_joined(whole[0], pair[0]), _joined(whole[1], pair[1]))
        if len(parts) > 1 and _beyond(*(back := _returns(*pair, rng))):
            found.append(_told(back, [each.name for each in part], names, _HOW[moved]))
    if whole is not None and _beyond(*(back := _returns(*whole, rng))):
        found = [_told(back, names, names, _HOW[moved])]
    yield from found


def _returns(real: Hashes, copy: Hashes, rng: np.random.Generator) -> tuple[float, float, int]:
    """Share of unique records of one half that a copy, and the other half, holds; and how many there are."""
    mixed = rng.permutation(real.size)
    half, rest = real[mixed[: real.size // 2]], real[mixed[real.size // 2 :]]
    values, counts = np.unique(half, return_counts=True)
    unique = values[counts == 1]
    if unique.size == 0:
        return 0.0, 0.0, 0
    drawn = copy[rng.permutation(copy.size)[: rest.size]]
    return float(np.isin(unique, drawn).mean()), float(np.isin(unique, rest).mean()), int(unique.size)


def _beyond(share: float, fresh: float, unique: int) -> bool:
    """Whether more come back than a fresh half gives."""
    if unique < _LEAST:
        return False
    error = np.sqrt(max(fresh * (1 - fresh), 1 / unique) / unique)
    return bool(share - fresh > max(_SHARE, _SIGMAS * error * np.sqrt(2)))


def _told(found: tuple[float, float, int], some: Sequence[str], names: Sequence[str], how: str) -> Alarm:
    """Say what came back."""
    share, fresh, _ = found
    where = "in all columns" if len(some) == len(names) else f"in {', '.join(some)}"
    text = (
        f"{100 * share:.1f} % of confidential records that are unique were found, {how}, {where}, among half "
        f"of the copy's rows, and {100 * fresh:.1f} % among as many fresh ones: this is no synthesis"
    )
    return Alarm("copied records", tuple(some), text, share, fresh)


def _rows(
    real: pd.DataFrame, copy: pd.DataFrame, facts: Sequence[Facts], groups: Sequence[AnyArray], seed: int
) -> Iterator[Alarm]:
    """Find columns whose cells stand in the confidential order, more than by kept columns and units."""
    if len(real) != len(copy):
        return
    alike: dict[str, float] = {}
    rng = np.random.default_rng(seed)
    for each in facts:
        one, other = _cells(real[each.name], each), _cells(copy[each.name], each)
        _, counts = np.unique(np.concatenate([one, other]), return_counts=True)
        share = float((one == other).mean())
        next_row = float((one[:-1] == other[1:]).mean())  # high where both sides are sorted
        chance = max(float(((counts / counts.sum()) ** 2).sum()), next_row if share < 1 else 0.0)
        if share - chance > 0.5 * (1 - chance):
            chance = max(chance, agreement_within(one, other, groups, rng))
        if chance < 0.9 and share - chance > 0.5 * (1 - chance) and len(real) > 30:
            alike[each.name] = share
    if alike:
        least = min(alike.values())
        text = (
            f"row by row, {_at_least(least)} of the cells of {_listed(list(alike))} are those of the "
            "confidential table: these columns were not synthesised"
        )
        yield Alarm("copied rows", tuple(alike), text, least, float("nan"))


def _at_least(share: float) -> str:
    """Write a share that may be all."""
    return "100 %" if share == 1 else f"{100 * share:.0f} % or more"


def _cells(series: pd.Series[Any], facts: Facts) -> FloatArray:
    """Give cells as numbers; missing ones by a number of their own."""
    values = _whole(series, facts) if facts.numeric else levels_of(series, facts).astype(np.float64)
    return np.where(np.isnan(values), np.finfo(np.float64).max, values)


def _margins(real: pd.DataFrame, copy: pd.DataFrame, facts: Sequence[Facts]) -> Iterator[Alarm]:
    """Find numbers that are the confidential ones in another order, moved or not."""
    if len(real) != len(copy):
        return
    for moved, how in (
        (0, "exactly the confidential numbers"),
        (1, "the confidential numbers, moved by a constant"),
    ):
        named = [each.name for each in facts if each.numeric and _same_margin(real, copy, each, moved)]
        if named:
            where = "each as often, in another order or the same"
            text = f"{_listed(named)} hold {how}, {where}"
            yield Alarm("copied margin", tuple(named), text, 1.0, float("nan"))
            return


def _same_margin(real: pd.DataFrame, copy: pd.DataFrame, facts: Facts, moved: int) -> bool:
    """Whether a column holds the same numbers on both sides."""
    one, other = (np.sort(_whole(side[facts.name], facts)) for side in (real, copy))
    if moved:
        one, other = np.sort(_standing(one, 1)), np.sort(_standing(other, 1))
    known = one[np.isfinite(one)]
    if np.unique(known).size < _DISTINCT:
        return False
    return bool(np.array_equal(one, other, equal_nan=True))


def _listed(names: Sequence[str]) -> str:
    """Name a few columns."""
    shown = ", ".join(names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
