"""The audits of guarantees by sampling with many more tables and runs than the tests have time for.

Run: python -m benchmarks.attacks.sampling_audit [OUT.csv [TABLES [RUNS]]]

exact: the systems of ``tests/statistical/audit_systems.py`` on their worst neighbours, as a ``share`` of the
    claim.
searched: TABLES random neighbours a mechanism with random public constants (n, sigma, prior, penalty, ridge,
    floor, draws), each climbed for a while towards a larger share; none may exceed 1.
counted: the events of ``tests/statistical/test_sampler_audit.py`` over RUNS runs: the lower bound at 1e-9 as
    a share of the claim.
planted: the same with a planted bug; ``margin`` is how many standard errors the bound lies above the claim:
    the test misses the bug with about the probability of that normal tail.
"""

from __future__ import annotations

import csv
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "statistical"))

import test_sampler_audit as sampler  # noqa: E402
from audit_draws import log_ratio  # noqa: E402
from audit_systems import EXACT, NO_FEATURES, System, drawn_systems, levels, number, systems  # noqa: E402

import pysynthdp as sdp  # noqa: E402
from pysynthdp.base.errors import PrivacyError  # noqa: E402
from pysynthdp.models.dirichlet import Dirichlet  # noqa: E402
from pysynthdp.models.gaussian import Gaussian  # noqa: E402
from pysynthdp.models.gaussian_floor import GaussianFloor  # noqa: E402
from pysynthdp.models.joint.multivariate_normal import MultivariateNormal  # noqa: E402
from pysynthdp.models.logridge import LogRidge  # noqa: E402
from pysynthdp.models.ridge import Ridge  # noqa: E402
from pysynthdp.protection.sampling.by_sampling import BySampling  # noqa: E402

Rng = np.random.Generator
CLIMB = 15  # changes of one cell tried from each pair of tables


def between(rng: Rng, low: float, high: float) -> float:
    """Draw a constant, evenly on the scale of logarithms."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draws(rng: Rng) -> tuple[tuple[int, int], ...]:
    return tuple((int(rng.integers(1, 5)), int(rng.integers(1, 3))) for _ in range(rng.integers(1, 3)))


def one_number(
    model: Callable[[Rng], Any], *, proper: bool = False, exact: bool = False
) -> Callable[[Rng], System]:
    def make(rng: Rng) -> System:
        settings = {"schema": sdp.Schema([number("x", 2.0)]), "method": {"x": model(rng)}, "proper": proper}
        return blank(settings, draws(rng), exact)

    return make


def one_level(kind: str | None, *, proper: bool = False, exact: bool = False) -> Callable[[Rng], System]:
    def make(rng: Rng) -> System:
        count = int(rng.integers(2, 5))
        prior = tuple(round(between(rng, 0.2, 8) + (kind == "map"), 2) for _ in range(count))
        column = levels("c", count)
        model = Dirichlet(prior=prior, posterior=kind)
        settings = {"schema": sdp.Schema([column]), "method": {"c": model}, "proper": proper}
        return blank(settings, draws(rng), exact)

    return make


def regression(model: Callable[[Rng], Any], target: Any) -> Callable[[Rng], System]:
    def make(rng: Rng) -> System:
        names = "abc"[: rng.integers(1, 4)]
        method = {name: Gaussian(sigma=1e6) for name in names} | {"y": model(rng)}
        settings = {"schema": sdp.Schema([*(number(name) for name in names), target]), "method": method}
        corners = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * len(names))).reshape(len(names), -1).T
        rows = {"y": np.column_stack([np.ones(len(corners)), corners])}
        return dataclasses.replace(blank(settings, draws(rng), exact=False), rows=rows)

    return make


def joint(rng: Rng) -> System:
    names = "abc"[: rng.integers(2, 4)]
    model = MultivariateNormal(ridge=between(rng, 0.05, 20))
    settings = {"schema": sdp.Schema([number(name) for name in names]), "joint": [(tuple(names), model)]}
    return blank(settings, draws(rng), exact=False)


def blank(settings: dict[str, Any], drawn: Any, exact: bool) -> System:
    """Make a system that has no tables yet."""
    empty = pd.DataFrame(), pd.DataFrame()
    rows = {"y": NO_FEATURES}
    return System("", (), empty, settings, 0.0, drawn, rows, EXACT if exact else BySampling())


def sigma(low: float, high: float, **more: Any) -> Callable[[Rng], Gaussian]:
    return lambda rng: Gaussian(sigma=between(rng, low, high), **more)


SEARCHED: dict[str, Callable[[Rng], System]] = {
    "plug_in_mean": one_number(sigma(0.1, 10)),
    "mean_per_copy": one_number(sigma(0.1, 10), proper=True),
    "mean_per_record": one_number(sigma(0.1, 10, posterior="many")),
    "mean_with_prior": one_number(
        lambda rng: Gaussian(sigma=between(rng, 0.1, 10), prior_sd=between(rng, 0.1, 10))
    ),
    "truncated_mean": one_number(sigma(1.0, 10, truncate=True)),
    "mean_on_grid": one_number(sigma(0.5, 10), exact=True),
    "floored_variance": one_number(lambda rng: GaussianFloor(floor=between(rng, 0.3, 2.0))),
    "ridged_normal": joint,
    "ridge_regression": regression(lambda rng: Ridge(penalty=between(rng, 0.1, 100), sigma=1.0), number("y")),
    "logistic_ridge": regression(lambda rng: LogRidge(penalty=between(rng, 0.5, 100)), levels("y", 2)),
    "cells_per_record": one_level(None),
    "cells_per_record, mode": one_level("map"),
    "cells_per_copy": one_level(None, proper=True),
    "cells_by_urn": one_level(None, proper=True, exact=True),
}


def cell(rng: Rng, column: Any) -> Any:
    """Draw a cell, mostly an extreme one."""
    if isinstance(column, sdp.CategoricalColumn):
        return column.levels[rng.integers(len(column.levels))]
    return column.upper * (rng.choice([-1.0, 0.0, 1.0]) if rng.random() < 0.8 else rng.uniform(-1, 1))


def tables(rng: Rng, schema: sdp.Schema) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Neighbours; the common rows are often all alike."""
    n = int(rng.integers(2, 40))
    alike = rng.random() < 0.5
    columns = {}
    for column in schema:
        first = cell(rng, column)
        columns[column.name] = [first if alike else cell(rng, column) for _ in range(n)]
    near = pd.DataFrame(columns)
    far = near.copy()
    for frame in (near, far):
        for column in schema:
            frame.loc[0, column.name] = cell(rng, column)
    return near, far


def changed(rng: Rng, system: System) -> System:
    """One cell changed: of a common row in both tables, or of the row that differs in one."""
    near, far = (table.copy() for table in system.tables)
    column = list(system.settings["schema"])[rng.integers(len(near.columns))]
    row, value = int(rng.integers(len(near))), cell(rng, column)
    for frame in [near, far] if row else [(near, far)[rng.integers(2)]]:
        frame.loc[row, column.name] = value
    return dataclasses.replace(system, tables=(near, far))


def searched(make: Callable[[Rng], System], count: int, seed: int) -> tuple[float, int]:
    """Largest share over random systems and tables, climbed; and how many were priced."""
    rng, largest, priced = np.random.default_rng(seed), 0.0, 0
    for _ in range(count):
        system = make(rng)
        system = dataclasses.replace(system, tables=tables(rng, system.settings["schema"]))
        try:
            best = float(system.spent().max())
        except PrivacyError:  # no order is bounded at these constants, or none with so few rows
            continue
        for _ in range(CLIMB):
            trial = changed(rng, system)
            share = float(trial.spent().max())
            if share > best:
                system, best = trial, share
        largest, priced = max(largest, best), priced + 1
    return largest, priced


def counted(name: str, plant: Callable[[Any], None] | None) -> tuple[float, float]:
    """Bound as a share of the claim, and its distance from the claim in standard errors."""
    system, event = drawn_systems()[name], sampler.EVENTS[name]
    with pytest.MonkeyPatch.context() as patch:
        if plant is not None:
            plant(patch)
        fits, runs = sampler.drawn(name)
        found = event.found(system, fits, runs)
        claimed = event.claimed(system.claim(system.fits()[0]))
        near, far = (log_ratio(system, fits, each) for each in runs)
    size, shares = len(near), [(ratio >= event.epsilon).mean() for ratio in (near, far)]
    errors = [math.sqrt(max(share * (1 - share), 1 / size) / size) for share in shares]
    if event.pure:  # P - e^claim Q, as for delta
        least, most = (math.exp(claimed) * x for x in (math.exp(found - claimed), 1.0))
        most_false = sampler.at_most(round(shares[1] * size), size)
        return found / claimed, (least - most) * most_false / math.hypot(
            errors[0], math.exp(claimed) * errors[1]
        )
    return found / claimed, (found - claimed) / math.hypot(errors[0], math.exp(event.epsilon) * errors[1])


def results(count: int, runs: int) -> Iterator[tuple[str, str, str, int, float, float | str]]:
    """Audit, system, bug, size, share of the claim, and margin."""
    for system in systems().values():
        yield "exact", system.name, "", 1, float(system.spent().max()), ""
    for seed, (name, make) in enumerate(SEARCHED.items()):
        share, priced = searched(make, count, seed)
        yield "searched", name, "", priced * (CLIMB + 1), share, ""
    for name in sampler.EVENTS:
        for bug in [
            None,
            *(plant for at, plant in (*sampler.WRONG_CLAIMS, *sampler.WRONG_DRAWS) if at == name),
        ]:
            sampler.SCALE = runs / 5000 if bug is None else 1.0
            share, margin = counted(name, bug)
            size = round(drawn_systems()[name].runs * sampler.SCALE)
            kind = "counted" if bug is None else "planted"
            yield kind, name, "" if bug is None else bug.__name__, size, share, round(margin, 1)


def main(out: str = "", count: str = "100", runs: str = "50000") -> None:
    """Print, and write where asked."""
    head = ("date", "audit", "system", "bug", "size", "share", "margin")
    today, rows = datetime.now(UTC).date().isoformat(), []
    for row in results(int(count), int(runs)):
        rows.append((today, *row[:4], f"{row[4]:.4f}", row[5]))
        print(*rows[-1], sep=",", flush=True)
    if out:
        with Path(out).open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
