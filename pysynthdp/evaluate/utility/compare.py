"""Hold copies against the confidential table, by the analyses that people will run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, IntArray
from pysynthdp.base.display import Cell
from pysynthdp.base.slips import answers_slips
from pysynthdp.evaluate.sides import (
    Cells,
    Sides,
    cells_of,
    coded,
    frame_of,
    places_in_units,
    real_columns,
    taken_sides,
)
from pysynthdp.evaluate.utility.copied import Alarm, copied_parts
from pysynthdp.evaluate.utility.counts import count_single
from pysynthdp.evaluate.utility.distributions import distributions
from pysynthdp.evaluate.utility.foreseen import check_foreseen, foreseen_note
from pysynthdp.evaluate.utility.foreseen import foreseen as foresee
from pysynthdp.evaluate.utility.heldout import held_out
from pysynthdp.evaluate.utility.indicators import By, asked_groups, indicators
from pysynthdp.evaluate.utility.numbers import associations, cramers, kinds_of, moments, read_numbers
from pysynthdp.evaluate.utility.propensity import propensity_of, spaced_note
from pysynthdp.evaluate.utility.regressions import Models, regressions
from pysynthdp.evaluate.utility.result import UtilityComparison
from pysynthdp.evaluate.utility.rules import broken_rules
from pysynthdp.evaluate.utility.tables import MOST_TRIPLES, one_way, residuals, subgroups, three_way, two_way
from pysynthdp.schema import Schema
from pysynthdp.synthesizer import Synthesizer

__all__ = ["compare"]

_FRESH: Final = (
    "A ratio is 1 for a fresh sample of the same population; copies fitted to this very table may lie below "
    "1, down to about a half. A standardised difference is in standard errors of a fresh sample."
)
_GUARD: Final = (
    "The copies carry a guarantee; this comparison does not: it reads the confidential records as they are, "
    "so none of its numbers, nor a choice made by them, may leave."
)
_COPIED: Final = (
    "Records of the table were looked for in the copies, and none came back more often than in a fresh "
    "sample: that is no proof that nothing about a record is disclosed."
)
_MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True, repr=False)
class _Coded:
    """Both sides as cells."""

    cells: tuple[Cells, ...]
    sides: tuple[AnyArray, ...]

    @property
    def sizes(self) -> IntArray:
        """Cells of each column."""
        return np.array([each.size for each in self.cells])


@answers_slips
def compare(
    table: Any,
    release: Any,
    *,
    models: Models = None,
    by: By | None = None,
    rules: Sequence[str] = (),
    holdout: Any = None,
    schema: Schema | None = None,
    refit: Synthesizer | None = None,
    foreseen: int = 0,
    seed: int = 0,
) -> UtilityComparison:
    """Compare copies with the confidential table: INTERNAL, for whoever holds the data.

    Parameters
    ----------
    table : DataFrame, SurveyTable or path
        The confidential table.
    release : SyntheticRelease, its folder, DataFrame, path, or a list of DataFrame or paths
        The copies; those of another tool as data frames or files. Names, types and levels are checked, and
        what differs is listed.
    models : formulas, optional
        Regressions to hold against each other, ``["wage ~ age + sex"]``; some are proposed where this is
        left out, none are fitted for ``[]``.
    by : columns, optional
        Columns by which shares and means are told, ``["region", ("sex", "age")]`` crosses two.
    rules : sequence of str
        Conditions that every row should meet, besides those of the release.
    holdout : DataFrame, optional
        Rows that no model saw, as :func:`pysynthdp.evaluate.halves` makes them: copies and table are then
        measured by their distance to these.
    schema : Schema, optional
        What codes and levels mean, where copies of another tool do not say it.
    refit : Synthesizer, optional
        Settings of the release, for ``foreseen``.
    foreseen : int
        Runs of a parametric bootstrap, some 50: which intervals analysts of the copies get, and how often
        these hold the truth, *if the synthesis model held*. Tables are drawn from a fit to the copies, so no
        real row is read and nothing spent. It takes the time of so many syntheses. Needs ``refit``.
    seed : int
        Of the permutations that make the null of trees, of the halves among which records are looked for, and
        of the runs.

    Returns
    -------
    UtilityComparison
        Print it for page one; ``.worst(5)``, ``.tables()`` and ``.plot()`` give the rest.

    Raises
    ------
    SettingError
        If one of the two is no table, or a setting names no column.
    SchemaError
        If they have no column in common.

    Notes
    -----
    Privacy: reads the confidential table and shows its numbers, whatever guarantee the copies carry; nothing
    of it may leave. It is no part of a release and cannot be saved into one.

    Examples
    --------
    >>> import pandas as pd, pysynthdp as sdp
    >>> table = pd.DataFrame({"age": [20, 35, 50, 65] * 40, "sex": ["F", "M"] * 80})
    >>> print(sdp.compare(table, table).worst(0)["what"].tolist())
    ['ALARM']
    """
    check_foreseen(foreseen, refit)
    sides = taken_sides(table, release, schema=schema)
    cells = tuple(cells_of(sides.real[each.name], each) for each in sides.facts)
    found = _Coded(
        cells, tuple(coded(frame, cells) for frame in (sides.real[sides.names], *sides.all_copies()))
    )
    asked = asked_groups(by, cells)
    frames, maps, singles = _tables(found)
    numbers = read_numbers(_both(sides), sides.facts, lambda one: _taken(sides, one))
    frames["moments"] = moments(numbers, sides.facts)
    frames["indicators"] = indicators(_both(sides), cells, asked, lambda one: _taken(sides, one))
    frames["associations"] = associations(found.sides, cells, numbers)
    frames["missing"] = kinds_of(_both(sides), sides.facts, lambda one: _taken(sides, one))
    frames["rules"], unruled = broken_rules(sides, rules)
    frames["structure"] = sides.differences
    frames["distributions"] = distributions(_both(sides), cells, lambda one: _taken(sides, one))
    fitted = regressions(sides, cells, models, cramers(found.sides[0], found.sizes))
    frames["regressions"] = fitted.to_frame()
    unseen: tuple[str, ...] = ()
    if foreseen and refit is not None:
        seen = foresee(sides, fitted.models, refit, foreseen, seed=seed)
        frames["foreseen"], unseen = seen.frame, seen.missing
    scored = propensity_of(sides.real[sides.names], sides.all_copies(), cells, seed=seed)
    frames["propensity"] = scored.frame
    if holdout is not None:
        first = (sides.real[sides.names], sides.copy(0))
        frames["held-out"] = held_out(getattr(holdout, "frame", holdout), cells, found.sides, first)
    alarms = _alarms(sides, found, seed)
    return UtilityComparison(
        facts=tuple(_facts(sides, frames)),
        alarms=alarms,
        frames=frames,
        propensity=scored,
        residuals=maps,
        fits=fitted.fits,
        missing=(*_missing(frames, singles), *scored.missing, *fitted.missing, *unseen, *unruled),
        notes=tuple(_notes(sides, alarms, foreseen)),
    )


def _both(sides: Sides) -> list[int]:
    """Give the numbers of the sides: -1 for the confidential one, then the copies."""
    return list(range(-1, len(sides.copies)))


def _taken(sides: Sides, number: int) -> pd.DataFrame:
    """Give the frame of a side."""
    return sides.real if number < 0 else sides.copy(number)


def _tables(found: _Coded) -> tuple[dict[str, pd.DataFrame], tuple[pd.DataFrame, ...], list[str]]:
    """Score tables and subgroups, map the worst, and name the columns that have a single cell."""
    names = [each.facts.name for each in found.cells]
    single, pairs = one_way(found.sides, found.sizes), two_way(found.sides, found.sizes)
    triples = three_way(found.sides, found.sizes, pairs.tables)
    counts = [count_single(side, found.sizes) for side in found.sides]
    frames = {
        "one-way": single.to_frame(names),
        "two-way": pairs.tables.to_frame(names),
        "three-way": triples.to_frame(names),
        "subgroups": subgroups(found.cells, pairs, counts[0], np.mean(counts[1:], axis=0)),
    }
    constant = [names[place] for place in np.flatnonzero(single.scored[:, 3] < 1)]
    notes = [f"tables of {name} alone: it has one value on both sides" for name in constant]
    if triples.asked > len(triples.scored):
        notes.append(
            f"three-way tables: of {triples.asked:,} the {MOST_TRIPLES:,} around the worst pairs were counted"
        )
    return frames, residuals(found.sides, found.cells, pairs.tables), notes


def _missing(frames: dict[str, pd.DataFrame], singles: Sequence[str]) -> Iterator[str]:
    """Say what was not computed, and why."""
    yield from singles
    for name, head, names in (("moments", "copies", 1), ("associations", "difference", 2)):
        frame = frames[name]
        lost = frame[frame[head].isna()]
        if len(lost):
            first = " and ".join(str(part) for part in lost.iloc[0, :names])
            count = f"{len(lost):,} of {len(frame):,}"
            yield f"{name}: {count} have too few values, or do not vary ({first} first)"


def _alarms(sides: Sides, cells: _Coded, seed: int) -> tuple[Alarm, ...]:
    """Look for records of the table in each copy; what was found in one is not told again of the next."""
    found: dict[tuple[str, tuple[str, ...]], Alarm] = {}
    real, kept = sides.real[sides.names], real_columns(sides.tags)
    for number, copy in enumerate(sides.all_copies()):
        groups = _aligned(sides, cells, number)
        for alarm in copied_parts(real, copy, sides.facts, kept, groups=groups, seed=seed):
            found.setdefault((alarm.kind, alarm.columns), alarm)
    return tuple(found.values())


def _aligned(sides: Sides, cells: _Coded, number: int) -> list[AnyArray]:
    """Group rows by what stands in the order of the table: columns kept real, and places in units."""
    side, kept, unit = cells.sides[number + 1], sides.tags.kept, sides.tags.unit
    groups = [side[place] for place, name in enumerate(sides.names) if name in kept]
    if unit is not None and unit in sides.real and len(sides.real) == side.shape[1]:
        own = frame_of(sides.copies[number], [unit])[unit]
        groups.append(places_in_units(sides.real[unit], own))
    return groups


def _facts(sides: Sides, frames: dict[str, pd.DataFrame]) -> Iterator[tuple[str, Cell]]:
    """Say what was compared."""
    yield ("confidential rows", len(sides.real))
    yield ("copies", len(sides.copies))
    yield ("rows in each", len(sides.copies[0]))
    apart = sorted({str(name) for name in sides.real.columns} - set(sides.names))
    yield ("columns compared", len(sides.names))
    if apart:
        more = f" and {len(apart) - _MOST_NAMED} more" if len(apart) > _MOST_NAMED else ""
        yield ("columns that copies do not have", ", ".join(apart[:_MOST_NAMED]) + more)
    kept = sorted(sides.tags.kept)
    if kept:
        yield ("columns released REAL, as the release says", ", ".join(kept))
        computed = sorted(real_columns(sides.tags) - set(kept))
        if computed:
            yield ("computed from these alone, so REAL too", ", ".join(computed))
    if len(frames["structure"]):
        yield ("differences in structure", len(frames["structure"]))


def _notes(sides: Sides, alarms: Sequence[Alarm], runs: int) -> Iterator[str]:
    """Say how to read it."""
    yield _FRESH
    if not alarms:
        yield _COPIED
    cut = spaced_note(len(sides.real), len(sides.copies[0]))
    if cut:
        yield f"{cut.capitalize()}; all else sees every row."
    if runs:
        yield foreseen_note(runs)
    if sides.release is not None and sides.release.privacy.status != "none":
        yield _GUARD
