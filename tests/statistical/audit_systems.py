"""Systems under audit: worst neighbouring tables, settings, draws, and how much of the claim they must lose.

Each system names the mechanisms that it audits. ``least`` is the share of the claimed Renyi curve that its
neighbours lose at the order where they lose most; below 1 it is how loose the bound is known to be, beyond
what any neighbours found so far lose.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from audit_laws import Law, laws, total_renyi

import pysynthdp as sdp
from pysynthdp.models.dirichlet import Dirichlet
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.models.gaussian_floor import GaussianFloor
from pysynthdp.models.joint.multivariate_normal import MultivariateNormal
from pysynthdp.models.logridge import LogRidge
from pysynthdp.models.ridge import Ridge
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.sampling.by_sampling import BySampling

Tables = tuple[pd.DataFrame, pd.DataFrame]
Draws = Sequence[tuple[int, int]]
AUDITED = ORDERS[[*range(0, 100, 7), 110, 120, 200]]  # from 1.01 to 130, and the order of pure epsilon
EXACT = BySampling(exact=True)
NO_FEATURES = np.ones((1, 1))


@dataclass(frozen=True)
class System:
    """Neighbours, settings, draws of (records, copies), and rows of features that a step is audited at."""

    name: str
    mechanisms: tuple[str, ...]
    tables: Tables
    settings: dict[str, Any]
    least: float
    draws: Draws = ((1, 1),)
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    guarantee: BySampling = field(default_factory=BySampling)
    predictors: tuple[str, ...] = ()
    runs: int = 5000  # of all draws, where they are counted

    def synthesizer(self) -> sdp.Synthesizer:
        return sdp.Synthesizer(**self.settings, guarantee=self.guarantee, progress=False)

    def fits(self) -> list[Any]:
        """Both tables through the public fit."""
        return [self.synthesizer().fit(table) for table in self.tables]

    def claim(self, fitted: Any) -> Guarantee:
        """What the release says after all draws."""
        for k, copies in self.draws:
            release = fitted.draw(m=copies, k=k)
        return release.privacy.guarantee

    def laws(self, fitted: Any) -> list[list[Law]]:
        """Law of each step's records, at each row of features."""
        proper, exact = fitted.plan.proper, self.guarantee.exact
        return [
            laws(step, proper=proper, exact=exact, rows=self.rows.get(step.targets[0].column, NO_FEATURES))
            for step in fitted._machine.fit.steps
        ]

    def spent(self) -> np.ndarray:
        """Share of the claim that is lost, at each audited order."""
        near, far = self.fits()
        lost = total_renyi(self.laws(near), self.laws(far), self.draws, AUDITED)
        claimed = self.claim(near).renyi(AUDITED)
        open_orders = np.isinf(claimed)
        return np.where(open_orders, 0.0, lost / np.where(open_orders, 1.0, claimed))


def number(name: str, end: float = 1.0) -> sdp.NumericColumn:
    return sdp.NumericColumn(name, lower=-end, upper=end, may_be_missing=False, fallback=0)


def levels(name: str, count: int) -> sdp.CategoricalColumn:
    own = [f"l{code}" for code in range(count)]
    return sdp.CategoricalColumn(name, own, other="l0", may_be_missing=False)


def pair(common: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> Tables:
    """Two tables whose first rows differ."""
    first, second = (
        pd.DataFrame({name: [row[name], *common[name]] for name in common}) for row in (old, new)
    )
    return first, second


def mean_system(
    name: str,
    mechanism: str,
    model: Gaussian,
    *,
    n: int = 8,
    end: float = 20.0,
    least: float = 0.999,
    **more: Any,
) -> System:
    """A number that moves from one end of the range, and beyond it, to the other."""
    proper = more.pop("proper", False)
    tables = pair({"x": [-end] * (n - 1)}, {"x": 1e9}, {"x": -end})
    settings = {"schema": sdp.Schema([number("x", end)]), "method": {"x": model}, "proper": proper}
    return System(name, (mechanism,), tables, settings, least, **more)


def level_system(
    name: str, mechanism: str, prior: Sequence[float], *, n: int = 5, least: float = 0.999, **more: Any
) -> System:
    """The record that moves is alone in the two cells of smallest weight; the rest is in the last one."""
    kind, proper = more.pop("posterior", None), more.pop("proper", False)
    column = levels("c", len(prior))
    first, second = column.levels[:2]
    tables = pair({"c": [column.levels[-1]] * (n - 1)}, {"c": first}, {"c": second})
    model = Dirichlet(prior=tuple(prior), posterior=kind)
    settings = {"schema": sdp.Schema([column]), "method": {"c": model}, "proper": proper}
    return System(name, (mechanism,), tables, settings, least, **more)


def floor_system() -> System:
    """The others have a variance at the floor and a mean as far from the record as that allows (C3)."""
    n, d, raised = 640, 4.0, 10
    common = [d] * raised + [-d] * (n - 1 - raised)
    floor = float(np.std(common))
    tables = pair({"x": common}, {"x": d}, {"x": float(np.mean(common))})
    settings = {"schema": sdp.Schema([number("x", d)]), "method": {"x": GaussianFloor(floor=floor)}}
    return System("floor", ("floored_variance",), tables, settings, 0.97, draws=((2, 3),))


def level_floor_system() -> System:
    """The others do not vary at all, so that the floor alone keeps the records apart."""
    n, d = 640, 4.0
    tables = pair({"x": [-d] * (n - 1)}, {"x": d}, {"x": -d})
    settings = {"schema": sdp.Schema([number("x", d)]), "method": {"x": GaussianFloor(floor=1.0)}}
    return System("floor, others alike", ("floored_variance",), tables, settings, 0.025)


def tie_system() -> System:
    """The mean lies half a step from the grid on both sides of the record's move (H1)."""
    tables = pair({"x": [0.0, *[-20.0] * 6]}, {"x": 20.0}, {"x": -20.0})
    settings = {"schema": sdp.Schema([number("x", 20)]), "method": {"x": Gaussian(sigma=4.0)}}
    return System("grid, at a tie", ("mean_on_grid",), tables, settings, 0.999, guarantee=EXACT)


def joint_system() -> System:
    """The others lie in one corner, so that the ridge alone resists a record in the opposite one (D6)."""
    n, ridge = 800, 0.05
    common = {name: [-1.0] * (n - 1) for name in "xy"}
    tables = pair(common, {"x": 1.0, "y": 1.0}, {"x": -1.0, "y": -1.0})
    settings = {
        "schema": sdp.Schema([number("x"), number("y")]),
        "joint": [(("x", "y"), MultivariateNormal(ridge=ridge))],
    }
    return System("joint", ("ridged_normal",), tables, settings, 0.45, draws=((3, 2),))


def predicted(
    target: sdp.NumericColumn | sdp.CategoricalColumn, model: Any, predictors: str
) -> dict[str, Any]:
    """A target drawn from numbers that hardly cost."""
    columns = [number(name) for name in predictors]
    wide = {name: Gaussian(sigma=1e4) for name in predictors}
    return {"schema": sdp.Schema([*columns, target]), "method": {**wide, target.name: model}}


def ridge_system(
    name: str, settings: dict[str, Any], tables: Tables, row: Sequence[float], least: float, **more: Any
) -> System:
    rows = {"y": np.array([row])}
    return System(name, ("ridge_regression", "plug_in_mean"), tables, settings, least, rows=rows, **more)


def informative_system() -> System:
    """One informative row whose response flips; the penalty outweighs the other rows."""
    n = 3
    tables = pair({"x": [0.0] * (n - 1), "y": [0.0] * (n - 1)}, {"x": 1.0, "y": 9.0}, {"x": 1.0, "y": -9.0})
    settings = predicted(number("y"), Ridge(penalty=400.0, sigma=0.01), "x")
    return ridge_system("ridge", settings, tables, (1.0, 1.0), 0.9)


def steered_system() -> System:
    """The others steer predictions of the moving row away from both of its responses (H2's second term)."""
    n, penalty, apart, steering = 1001, 80.0, 8, 4
    free, known = "abcdefgh"[:apart], "pqrs"[:steering]
    side = np.where(np.arange(n - 1) % 2, 1.0, -1.0)
    size = (penalty / (n - 1) / steering) ** 0.5
    common = dict.fromkeys(free, [0.0] * (n - 1)) | dict.fromkeys(known, size * side) | {"y": side}
    old = dict.fromkeys(free, 1.0) | dict.fromkeys(known, -1.0) | {"y": 1.0}
    new = dict.fromkeys(free, 1.0) | dict.fromkeys(known, 1.0) | {"y": -1.0}
    settings = predicted(number("y"), Ridge(penalty=penalty, sigma=1.0), free + known)
    row = (1.0,) * (1 + apart) + (0.0,) * steering
    return ridge_system("ridge, steered", settings, pair(common, old, new), row, 0.22)


def saturated_system() -> System:
    """A row that is predicted wrongly before and after it moves, in a direction of its own (H3)."""
    width, penalty, n = 10, 50.0, 12001
    names = "abcdefghij"[:width]
    side = np.where(np.arange(n - 1) % 2, 1.0, -1.0)
    common = {name: [0.0] * (n - 1) for name in names} | {"z": side, "y": np.where(side > 0, "l1", "l0")}
    old = dict.fromkeys(names, 1.0) | {"z": -1.0, "y": "l1"}
    new = dict.fromkeys(names, 1.0) | {"z": 1.0, "y": "l0"}
    settings = predicted(levels("y", 2), LogRidge(penalty=penalty), names + "z")
    rows = {"y": np.array([[1.0] * (width + 1) + [z] for z in (-1.0, 0.0)])}
    tables = pair(common, old, new)
    return System("logridge", ("logistic_ridge", "plug_in_mean"), tables, settings, 0.6, rows=rows)


def clipped_system() -> System:
    """Rows longer than the norm that is set, fitted and drawn at (H2)."""
    tables = pair({"x": [0.0], "y": [0.0]}, {"x": 1.0, "y": 1.0}, {"x": 1.0, "y": -1.0})
    settings = predicted(number("y"), Ridge(penalty=400.0, sigma=0.01, row_norm=0.5), "x")
    return ridge_system("ridge, clipped", settings, tables, (1.0, 1.0), 0.9)


def joined_system() -> System:
    """A record that joins moves half as far as a replaced one, which the price covers too (H3)."""
    tables = pd.DataFrame({"y": ["l1"]}), pd.DataFrame({"y": ["l1"] * 2})
    settings = {"schema": sdp.Schema([levels("y", 2)]), "method": {"y": LogRidge(penalty=200.0)}}
    unit = BySampling(unit=PrivacyUnit("add_remove"))
    return System("logridge, joined", ("logistic_ridge",), tables, settings, 0.12, guarantee=unit)


def inner_system() -> System:
    """A conditioned law far from the ends of its range is the Gaussian one (B6's zCDP)."""
    tables = pair({"x": [0.0] * 7}, {"x": 20.0}, {"x": -20.0})
    settings = {"schema": sdp.Schema([number("x", 20)]), "method": {"x": Gaussian(sigma=2.0, truncate=True)}}
    return System("truncated, inner", ("truncated_mean",), tables, settings, 0.99, draws=((2, 1),))


def group_system() -> System:
    """A unit of three rows moves with all of them."""
    tables = pd.DataFrame({"x": [20.0] * 3 + [-20.0] * 5}), pd.DataFrame({"x": [-20.0] * 8})
    settings = {"schema": sdp.Schema([number("x", 20)]), "method": {"x": Gaussian(sigma=4.0)}}
    unit = BySampling(unit=PrivacyUnit(rows_per_unit=3))
    return System("three rows a unit", ("plug_in_mean",), tables, settings, 0.999, guarantee=unit)


def several_system() -> System:
    """Four columns and three draws of one fit; every column that may is at its own worst."""
    n = 6
    common = {"w": [0.0] * (n - 1), "y": [0.0] * (n - 1), "x": [-20.0] * (n - 1), "c": ["l2"] * (n - 1)}
    old, new = {"w": 1.0, "y": 1.0, "x": 20.0, "c": "l0"}, {"w": 1.0, "y": -1.0, "x": -20.0, "c": "l1"}
    method = {
        "w": Gaussian(sigma=1e3),
        "y": Ridge(penalty=2000.0, sigma=0.005),
        "x": Gaussian(sigma=40.0),
        "c": Dirichlet(prior=(3.0, 5.0, 9.0)),
    }
    schema = sdp.Schema([number("w"), number("y"), number("x", 20), levels("c", 3)])
    settings = {"schema": schema, "method": method, "predictor_matrix": {"y": ["w"]}}
    names = ("plug_in_mean", "ridge_regression", "cells_per_record")
    return System(
        "several columns and draws",
        names,
        pair(common, old, new),
        settings,
        0.9,
        draws=((2, 1), (1, 2), (3, 1)),
        rows={"y": np.ones((1, 2))},
    )


@functools.cache
def systems() -> dict[str, System]:
    """All systems, by name."""
    twice = ((3, 2), (1, 1))
    made = [
        mean_system("plug-in", "plug_in_mean", Gaussian(sigma=4.0), draws=twice),
        mean_system(
            "one mean a copy", "mean_per_copy", Gaussian(sigma=4.0), proper=True, draws=((3, 2), (5, 1))
        ),
        mean_system(
            "one mean a record", "mean_per_record", Gaussian(sigma=4.0, posterior="many"), draws=twice
        ),
        mean_system("prior, plug-in", "mean_with_prior", Gaussian(sigma=4.0, prior_sd=3.0), draws=twice),
        mean_system(
            "prior, copy", "mean_with_prior", Gaussian(sigma=4.0, prior_sd=3.0), proper=True, draws=twice
        ),
        mean_system(
            "prior, record",
            "mean_with_prior",
            Gaussian(sigma=4.0, prior_sd=3.0, posterior="many"),
            draws=twice,
        ),
        mean_system(
            "truncated", "truncated_mean", Gaussian(sigma=25.0, truncate=True), n=2, least=0.998, draws=twice
        ),
        mean_system(
            "truncated, record",
            "truncated_mean",
            Gaussian(sigma=25.0, prior_sd=20.0, posterior="many", truncate=True),
            n=2,
            least=0.998,
        ),
        inner_system(),
        mean_system("grid", "mean_on_grid", Gaussian(sigma=4.0), draws=twice, guarantee=EXACT),
        mean_system(
            "grid, copy",
            "mean_on_grid",
            Gaussian(sigma=4.0),
            n=40,
            least=0.94,
            proper=True,
            draws=((2, 2),),
            guarantee=EXACT,
        ),
        tie_system(),
        group_system(),
        floor_system(),
        level_floor_system(),
        joint_system(),
        informative_system(),
        steered_system(),
        clipped_system(),
        saturated_system(),
        joined_system(),
        level_system("two levels", "cells_per_record", (0.3, 0.5), draws=twice),
        level_system("three levels", "cells_per_record", (0.3, 0.5, 2.0), draws=twice),
        level_system("mode", "cells_per_record", (1.3, 1.5, 2.0), posterior="map", draws=twice),
        level_system("whole weights", "cells_per_record", (0.3, 0.5, 2.0), draws=twice, guarantee=EXACT),
        level_system("two shares a copy", "cells_per_copy", (0.3, 0.5), proper=True, draws=twice),
        level_system(
            "two shares a long copy",
            "cells_per_copy",
            (3.0, 5.0),
            n=9,
            proper=True,
            least=0.98,
            draws=((2000, 2),),
        ),
        level_system("three shares a copy", "cells_per_copy", (0.3, 0.5, 2.0), proper=True, draws=twice),
        level_system("urn", "cells_by_urn", (0.3, 0.5, 2.0), proper=True, draws=twice, guarantee=EXACT),
        several_system(),
    ]
    return {system.name: system for system in made}


def inner_mean_system(name: str, mechanism: str, sigma: float, *, n: int, **more: Any) -> System:
    """A number whose draws hardly reach the ends of its range; the record moves from one to the other."""
    tables = pair({"x": [0.0] * (n - 1)}, {"x": 20.0}, {"x": -20.0})
    settings = {"schema": sdp.Schema([number("x", 20)]), "method": {"x": Gaussian(sigma=sigma)}}
    settings["proper"] = more.pop("proper", False)
    return System(name, (mechanism,), tables, settings, 0.99, **more)


def drawn_columns_system() -> System:
    """Five columns, two of them regressions on the first, which costs next to nothing."""
    n = 12
    common = {"g": ["l1"] * (n - 1), "y": [0.0] * (n - 1), "z": ["l0", *["l1"] * (n - 2)]}
    common |= {"x": [0.0] * (n - 1), "c": ["l2"] * (n - 1)}
    old = {"g": "l1", "y": 1.0, "z": "l1", "x": 20.0, "c": "l0"}
    new = {"g": "l1", "y": -1.0, "z": "l0", "x": -20.0, "c": "l1"}
    method = {
        "g": Dirichlet(prior=1e4),
        "y": Ridge(penalty=2000.0, sigma=0.0024),
        "z": LogRidge(penalty=20.0),
        "x": Gaussian(sigma=4.0),
        "c": Dirichlet(prior=(3.0, 5.0, 9.0)),
    }
    columns = [levels("g", 2), number("y"), levels("z", 2), number("x", 20), levels("c", 3)]
    settings = {"schema": sdp.Schema(columns), "method": method, "predictor_matrix": {"y": ["g"], "z": ["g"]}}
    names = ("cells_per_record", "ridge_regression", "logistic_ridge", "plug_in_mean")
    tables = pair(common, old, new)
    return System("several columns", names, tables, settings, 0.5, draws=((6, 1), (2, 1)), predictors=("g",))


def drawn_floor_system() -> System:
    tables = pair({"x": [0.0] * 39}, {"x": 4.0}, {"x": 0.0})
    settings = {"schema": sdp.Schema([number("x", 4)]), "method": {"x": GaussianFloor(floor=0.5)}}
    return System("floor", ("floored_variance",), tables, settings, 0.1, draws=((2, 2),))


def drawn_joint_system() -> System:
    tables = pair({"x": [0.0] * 39, "y": [0.0] * 39}, {"x": 1.0, "y": -1.0}, {"x": 0.0, "y": 0.0})
    joint = [(("x", "y"), MultivariateNormal(ridge=0.01))]
    settings = {"schema": sdp.Schema([number("x"), number("y")]), "joint": joint}
    return System("joint", ("ridged_normal",), tables, settings, 0.1, draws=((2, 2),))


@functools.cache
def drawn_systems() -> dict[str, System]:
    """Systems that are drawn many times: large losses a run, and ranges that hardly any draw leaves."""
    two, one = ((2, 2), (2, 1)), ((3, 1),)
    own = {"proper": True, "guarantee": EXACT}
    narrow = Gaussian(sigma=25.0, truncate=True)
    third = (0.25, 0.25, 0.25)
    made = [
        inner_mean_system("several draws", "plug_in_mean", 4.0, n=8, draws=two),
        inner_mean_system(
            "proper", "mean_per_copy", 4.0, n=12, proper=True, draws=((24, 1), (12, 1)), runs=800
        ),
        inner_mean_system("exact", "mean_on_grid", 6.0, n=8, draws=((3, 2), (1, 1)), guarantee=EXACT),
        inner_mean_system("exact, proper", "mean_on_grid", 4.0, n=12, draws=((8, 1),), runs=800, **own),
        mean_system("truncated", "truncated_mean", narrow, n=2, least=0.99, draws=two),
        level_system("levels", "cells_per_record", third, n=1, draws=two),
        level_system("whole weights", "cells_per_record", third, n=1, draws=two, guarantee=EXACT),
        level_system("shares a copy", "cells_per_copy", third, n=1, proper=True, draws=one, runs=2000),
        level_system("urn", "cells_by_urn", third, n=1, draws=one, runs=2000, **own),
        level_system(
            "long shares", "cells_per_copy", (2, 3, 4), proper=True, draws=((60, 1), (40, 1)), runs=500
        ),
        level_system("long urn", "cells_by_urn", (2, 3, 4), draws=((60, 1), (40, 1)), runs=500, **own),
        drawn_floor_system(),
        drawn_joint_system(),
        drawn_columns_system(),
    ]
    return {system.name: system for system in made}
