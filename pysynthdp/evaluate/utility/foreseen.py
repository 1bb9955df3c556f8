"""Intervals foreseen by a parametric bootstrap: what copies give if the synthesis model held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.analysis.estimates import estimates_of
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PysynthdpError, SettingError
from pysynthdp.base.words import Said, Words
from pysynthdp.evaluate.fits import Comparison, compare_fits
from pysynthdp.evaluate.risk.intervals import wilson
from pysynthdp.evaluate.risk.wording import REFIT
from pysynthdp.evaluate.sealed import sealed_release
from pysynthdp.evaluate.sides import Sides, frame_of
from pysynthdp.synthesizer import Synthesizer

__all__ = ["HEADING", "Foreseen", "check_foreseen", "foreseen", "foreseen_note"]

HEADING: Final = "if the synthesis model held"
FEWEST: Final = 10  # runs
_TIMES: Final = 20  # as many rows as the table has stand for the population
_MOST: Final = 400_000  # of them, unless the table has more
_RUNS: Final = Said("foreseen=50", "--foreseen 50", "foreseen = 50")
_HEADS: Final = (
    "condition",
    "model",
    "term",
    "truth",
    "estimate",
    "low",
    "high",
    "coverage",
    "coverage low",
    "coverage high",
    "own coverage",
    "width ratio",
    "runs",
)
Fit = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Foreseen intervals, and what was not foreseen.

    Parameters
    ----------
    frame : DataFrame
        One row a model and term; ``condition`` says in each that the synthesis model was taken for true.
    missing : tuple of str
        What was not computed, and why.
    """

    frame: pd.DataFrame
    missing: tuple[str, ...]


def check_foreseen(runs: int, refit: Synthesizer | None) -> None:
    """Refuse runs without the settings of the release, too few of them, and settings without runs.

    Raises
    ------
    SettingError
        In these cases.
    """
    if isinstance(runs, bool) or not isinstance(runs, int | np.integer) or (runs and runs < FEWEST):
        raise SettingError(f"foreseen must be 0 or a whole number of at least {FEWEST}", kind="setting")
    if runs and refit is None:
        what = "foreseen intervals need the settings of the release"
        raise SettingError(what, kind="setting", remedy=Words("give {refit}", refit=REFIT))


def foreseen_note(runs: int) -> str:
    """Say what a foreseen interval is, and what it is not."""
    return (
        f"Intervals {HEADING}: in {runs} runs a table was drawn from a fit to the copies, copies were made "
        "of it and analysed. They tell whether the pooled intervals keep their level where the model is "
        "right, and nothing of the records: what the model lacks is lacking on both sides. They prove "
        "nothing, and no gate looks at them."
    )


def foreseen(
    sides: Sides, models: Mapping[str, tuple[str, Fit]], refit: Synthesizer, runs: int, *, seed: int
) -> Foreseen:
    """Foresee the intervals of regressions by a parametric bootstrap of the copies.

    Parameters
    ----------
    sides : Sides
        The table, of which only the number of rows is taken, and the copies.
    models : mapping of str to (formula, fit)
        Regressions by name, and which function pools them.
    refit : Synthesizer
        Settings of the release.
    runs : int
        Tables that are drawn, each fitted and synthesised anew.
    seed : int
        Of all drawing but that of protective noise.

    Returns
    -------
    Foreseen

    Notes
    -----
    Privacy: reads released copies only; fits to these touch no real row, cost no budget and are in no ledger,
    under a guarantee too. A fit to the copies stands for the synthesis model. Twenty times as many rows as
    the table has are drawn from it, and are the population: their estimate is the truth. Each run takes from
    them a table by independent draws, makes the m copies of the release, pools, and counts whether the
    interval holds the truth; its limits are Wilson's. ``own coverage`` is that of the table of the run
    itself, which an analyst of real records would have.
    """
    release = sides.release
    reason = _why_not(release) if models else "no regression was fitted"
    if reason is not None or release is None:
        return Foreseen(pd.DataFrame(columns=list(_HEADS)), (f"foreseen intervals: {reason}",))
    rng = np.random.default_rng((seed, runs))
    try:
        world = _World.of(sides, refit, rng)
        found = _Runs(models)
        for _ in range(runs):
            table = world.table(rng)
            made = sealed_release(world.settings, table, m=release.tags.m, k=world.k, rng=rng)
            found.add(made, table, world.population)
    except (PysynthdpError, ValueError, np.linalg.LinAlgError) as error:
        what = str(error) if isinstance(error, PysynthdpError) else "the copies cannot be fitted again"
        return Foreseen(pd.DataFrame(columns=list(_HEADS)), (f"foreseen intervals: {what}",))
    return Foreseen(found.to_frame(), tuple(found.missing(runs)))


def _why_not(release: Any | None) -> str | None:
    """Say why copies cannot be made again."""
    if release is None:
        return "these are copies of another tool, and how they were made is not known"
    if release.tags.nests is not None or release.tags.sampling != "none":
        return "copies of several tables, or of samples of them, are not made again"
    return None


@dataclass(frozen=True, slots=True, repr=False)
class _World:
    """A population in which the synthesis model holds, and how tables and copies are drawn from it.

    Parameters
    ----------
    population : DataFrame
        Drawn from a fit to the copies.
    settings : Synthesizer
        Of the release, for tables that have the columns of the copies.
    n, k : int
        Rows, or units, of a table and of a copy; k None where columns are kept real.
    unit : str or None
        Column of the units.
    """

    population: pd.DataFrame
    settings: Synthesizer
    n: int
    k: int | None
    unit: str | None

    @classmethod
    def of(cls, sides: Sides, refit: Synthesizer, rng: np.random.Generator) -> _World:
        """Fit to the copies and draw a population."""
        tags = sides.tags
        copies = _stacked(sides, tags.unit)
        absent = [name for name in refit.drop if name not in copies.columns]
        settings = replace(refit, drop=[name for name in refit.drop if name not in absent])
        n = tags.n_org or (len(sides.real) if tags.unit is None else sides.real[tags.unit].nunique())
        many = None if refit.keep else max(n, min(_TIMES * n, _MOST))
        population = sealed_release(settings, copies, m=1, k=many, rng=rng).copies[0]
        return cls(population, settings, n, None if refit.keep else tags.n_syn, tags.unit)

    def table(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw a table: rows, or whole units, each independently of the others."""
        if self.unit is None:
            rows = rng.integers(len(self.population), size=self.n)
            return self.population.iloc[rows].reset_index(drop=True)
        codes = pd.factorize(self.population[self.unit])[0]
        order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
        starts = np.cumsum(sizes) - sizes
        drawn = rng.integers(sizes.size, size=self.n)
        rows = np.concatenate([order[starts[unit] : starts[unit] + sizes[unit]] for unit in drawn])
        table = self.population.iloc[rows].reset_index(drop=True)
        return table.assign(**{self.unit: np.repeat(np.arange(1, self.n + 1), sizes[drawn])})


def _stacked(sides: Sides, unit: str | None) -> pd.DataFrame:
    """Put copies below each other, as many as are needed; units of different copies are different units."""
    parts: list[pd.DataFrame] = []
    for copy in sides.copies:
        parts.append(frame_of(copy, [str(name) for name in copy.columns]))
        if sum(map(len, parts)) >= _MOST:
            break
    if unit is not None:
        ids = [pd.factorize(part[unit])[0] for part in parts]
        first = np.cumsum([0, *(one.max() + 1 for one in ids[:-1])])
        parts = [
            part.assign(**{unit: one + start + 1}) for part, one, start in zip(parts, ids, first, strict=True)
        ]
    return pd.concat(parts, ignore_index=True)


class _Runs:
    """What came of each run, by model and term."""

    def __init__(self, models: Mapping[str, tuple[str, Fit]]) -> None:
        self.models = models
        self.truth: dict[str, dict[str, float]] = {}
        self.found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        self.failed: dict[str, int] = {}

    def add(self, made: Any, table: pd.DataFrame, population: pd.DataFrame) -> None:
        """Analyse the copies of one run, and the table that they were made of."""
        for name, (formula, fit) in self.models.items():
            try:
                pooled = fit(formula, made)
                if name not in self.truth:
                    true = estimates_of(pooled.fit_table(population))
                    self.truth[name] = dict(zip(true.terms, map(float, true.values), strict=True))
                held = compare_fits(pooled, table)
            except (PysynthdpError, ValueError, np.linalg.LinAlgError):
                self.failed[name] = self.failed.get(name, 0) + 1
                continue
            self._keep(name, held)

    def _keep(self, name: str, held: Comparison) -> None:
        """Keep estimate and limits of each term, on both sides."""
        rows = np.column_stack([held.pooled, held.pooled_limits, held.confidential_limits])
        for term, row in zip(held.terms, rows.tolist(), strict=True):
            if term in self.truth[name]:
                self.found.setdefault((name, term), []).append(tuple(row))

    def to_frame(self) -> pd.DataFrame:
        """One row a term, the lowest coverage first."""
        rows = [
            (HEADING, name, term, *_summary(np.array(runs), self.truth[name][term]))
            for (name, term), runs in self.found.items()
        ]
        frame = pd.DataFrame(rows, columns=list(_HEADS))
        return frame.sort_values("coverage", kind="stable").reset_index(drop=True)

    def missing(self, runs: int) -> list[str]:
        """Name models that failed in some runs."""
        return [
            f"foreseen intervals of {name}: in {many} of {runs} runs it could not be fitted"
            for name, many in self.failed.items()
        ]


def _summary(runs: FloatArray, truth: float) -> tuple[float, ...]:
    """Summarise runs (estimate, low, high, own low, own high): who covered, and how wide they were."""
    estimate, low, high, own_low, own_high = runs[np.isfinite(runs).all(axis=1)].T
    many = estimate.size
    if not many:
        return (truth, *[np.nan] * 8, 0)
    hits, own = (int(((a <= truth) & (truth <= b)).sum()) for a, b in ((low, high), (own_low, own_high)))
    width = (high - low).mean() / (own_high - own_low).mean()
    coverage = (hits / many, *wilson(hits, many))
    return (truth, estimate.mean(), low.mean(), high.mean(), *coverage, own / many, width, many)
