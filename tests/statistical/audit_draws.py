"""Many independent runs of a system's draws through the public ``draw``, and what their laws say of them.

A run is all that one account pays for: every draw of one fit, each with its copies, records and columns. Runs
are cut from long draws, so that neighbouring records and copies, and the same places of different draws and
columns, fall where a random stream used twice would show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from audit_laws import Array, Law, Levels, Normal, Probe, laws
from audit_systems import System
from scipy.special import ndtri


@dataclass(frozen=True)
class Chances:
    """Records of two levels, each with its own probability of the second, (copies, records)."""

    chance: Array

    def scores(self, records: Array, rng: Any) -> Array:
        low, width = (1 - self.chance) * records, np.where(records == 1, self.chance, 1 - self.chance)
        return ndtri(low + rng.random(records.shape) * width)

    def log_density(self, records: Array) -> Array:
        return np.log(np.where(records == 1, self.chance, 1 - self.chance)).sum(axis=1)


Copies = dict[str, Array]  # column -> (copies, records)


def runs_of(system: System, fitted: Any, runs: int) -> list[list[Copies]]:
    """For each draw and each of its copies the columns of all runs; levels as codes.

    Copies that share nothing but a fit are long ones cut into runs; those of a proper synthesis have each
    their own parameters, so there is one for each run.
    """
    if fitted.plan.proper:
        return [
            [_columns(release.copies[copy * runs : (copy + 1) * runs], fitted, k) for copy in range(copies)]
            for k, copies in system.draws
            for release in [fitted.draw(m=runs * copies, k=k)]
        ]
    return [
        [_columns([copy], fitted, k) for copy in fitted.draw(m=copies, k=k * runs).copies]
        for k, copies in system.draws
    ]


def _columns(copies: Any, fitted: Any, k: int) -> Copies:
    """Columns of some copies as runs of k records."""
    found = {}
    for column in fitted.schema:
        cells = np.concatenate([copy[column.name].to_numpy() for copy in copies]).reshape(-1, k)
        places = {level: code for code, level in enumerate(getattr(column, "levels", ()))}
        found[column.name] = np.vectorize(places.__getitem__)(cells) if places else cells.astype(float)
    return found


def _seen(step: Any, copy: Copies, system: System, fitted: Any) -> tuple[Law | Chances, Array]:
    """Law of a step's records, and the records; given their predictors where it has some."""
    names = [part.column for part in step.targets]
    records = copy[names[0]] if len(names) == 1 else np.stack([copy[name] for name in names], axis=2)
    if step.model.name not in ("ridge", "logridge"):
        (law,) = laws(step, proper=fitted.plan.proper, exact=system.guarantee.exact, rows=np.ones((1, 1)))
        return law, records
    rows = np.column_stack([np.ones(records.size), *(copy[name].ravel() for name in system.predictors)])
    if step.model.name == "ridge":
        probe = Probe()
        mean = step.model.draw(step.params, rows, probe).reshape(records.shape)
        return Normal(np.zeros(1), np.array([[probe.asked["normal"][1] ** 2]])), records - mean
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(60):
        middle = (low + high) / 2
        second = step.model.draw(step.params, rows, Probe(given=middle)) == 1
        low, high = np.where(second, middle, low), np.where(second, high, middle)
    return Chances(low.reshape(records.shape)), records


def log_ratio(system: System, fits: list[Any], drawn: list[list[Copies]]) -> Array:
    """Log-likelihood of each run under the first fit's laws less that under the second's."""
    total = 0.0
    for copy in (copy for draw in drawn for copy in draw):
        for sign, fitted in zip((1, -1), fits, strict=True):
            for step in fitted._machine.fit.steps:
                law, records = _seen(step, copy, system, fitted)
                total = total + sign * law.log_density(records)
    return np.asarray(total)


def scores(system: System, fitted: Any, drawn: list[list[Copies]]) -> Array:
    """Scores (runs, places) that are independent standard normals if the laws are true."""
    rng = np.random.default_rng(12)
    found = []
    for copy in (copy for draw in drawn for copy in draw):
        for step in fitted._machine.fit.steps:
            law, records = _seen(step, copy, system, fitted)
            found.append(law.scores(records, rng))
    return np.concatenate(found, axis=1)


__all__ = ["Chances", "Levels", "log_ratio", "runs_of", "scores"]
