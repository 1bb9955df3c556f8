"""An empirical audit: the real code on worst-case neighbours never loses more than it claims.

For each system two neighbouring tables go through the public API; the released records are told apart by a
threshold on the best statistic known, chosen on one half of the runs and counted on the other. With one-sided
Clopper-Pearson bounds at 1e-9 on both rates, ln((P - delta)/Q) bounds the true epsilon from below. The claim
is a function of public constants. At the truth the bound exceeds the claim with probability below 1e-8; with
a planted bug (a claim from half the sensitivity) it does exceed it wherever the claim is tight.

``AUDIT_RUNS`` in the environment sets the number of runs; the audit of record took 1,000,000.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.models.dirichlet import Dirichlet
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.models.gaussian_floor import GaussianFloor
from pysynthdp.models.joint.multivariate_normal import MultivariateNormal
from pysynthdp.models.logridge import LogRidge
from pysynthdp.models.ridge import Ridge
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.noise.protective import add_discrete_laplace
from pysynthdp.privacy.prices.cells_curves import binary_draws, categorical_draws
from pysynthdp.privacy.prices.gaussian_truncated import truncated_epsilon
from pysynthdp.protection.sampling.by_sampling import BySampling

pytestmark = pytest.mark.statistical
RUNS, LEVEL = int(os.environ.get("AUDIT_RUNS", "20000")), 1e-9
Values = np.ndarray


def bound(caught: Values, false: Values, runs: int, delta: float) -> Values:
    """Lower bound on ln((P - delta)/Q) from counts of hits and false alarms."""
    least = np.where(caught > 0, stats.beta.ppf(LEVEL, np.maximum(caught, 1), runs - caught + 1), 0.0)
    most = np.where(false < runs, stats.beta.isf(LEVEL, false + 1, np.maximum(runs - false, 1)), 1.0)
    return np.log(np.maximum(least - delta, 1e-300) / most)


def lower_bound(near: Values, far: Values, delta: float) -> float:
    """Lower confidence bound on epsilon at delta from a statistic under two neighbours."""
    half = len(near) // 2
    cuts = np.unique(np.quantile(np.concatenate([near[:half], far[:half]]), np.linspace(0, 1, 1001)))
    hits, alarms = (half - np.searchsorted(np.sort(x[:half]), cuts, side="left") for x in (near, far))
    best = cuts[np.argmax(bound(hits, alarms, half, delta))]
    caught, false = (np.asarray((x[half:] >= best).sum()) for x in (near, far))
    return float(bound(caught, false, len(near) - half, delta))


@dataclass(frozen=True)
class Audit:
    """Two neighbours, the models, what tells them apart, and the claim from half the sensitivity.

    ``halved`` is None where the bound itself is known to be loose: then only excess is looked for.
    """

    name: str
    tables: tuple[pd.DataFrame, pd.DataFrame]
    settings: dict[str, Any]
    statistic: Callable[[pd.DataFrame], Values]
    halved: Guarantee | None = None
    delta: float = 0.0

    def synthesizer(self) -> sdp.Synthesizer:
        """The settings under a guarantee."""
        return sdp.Synthesizer(**self.settings, guarantee=BySampling(), progress=False)

    def claim(self) -> float:
        """Epsilon of one record, at delta (pure where delta is zero)."""
        cost = self.synthesizer().plan().price(n=len(self.tables[0]), n_syn=1, m=1).guarantee
        return at(cost, self.delta)

    def values(self, table: pd.DataFrame, seed: int) -> Values:
        """The statistic of many one-record releases: given the fit, records are independent."""
        rng = np.random.SeedSequence([len(self.name), seed])
        return self.statistic(self.synthesizer().fit(table).draw(m=1, k=RUNS, rng=rng)[0])

    def found(self) -> float:
        """Lower bound on the loss that is seen, in both orders."""
        near, far = (self.values(table, seed) for seed, table in enumerate(self.tables))
        return max(lower_bound(near, far, self.delta), lower_bound(-far, -near, self.delta))


def at(cost: Guarantee, delta: float) -> float:
    """Epsilon at delta, or the divergence of infinite order."""
    return cost.epsilon(delta) if delta else float(cost.renyi(np.array([np.inf]))[0])


def number(name: str, end: float = 1.0) -> sdp.NumericColumn:
    return sdp.NumericColumn(name, lower=-end, upper=end, may_be_missing=False, fallback=0)


def levels(name: str, count: int) -> sdp.CategoricalColumn:
    own = [f"l{code}" for code in range(count)]
    return sdp.CategoricalColumn(name, own, other="l0", may_be_missing=False)


def pair(name: str, common: list[Any], old: Any, new: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.DataFrame({name: [old, *common]}), pd.DataFrame({name: [new, *common]})


def gaussian(name: str, model: Gaussian, halved: Guarantee, *, others: int = 7, delta: float = 0.05) -> Audit:
    """A number that moves through the whole range; the others stay at its lower end."""
    settings = {"schema": sdp.Schema([number("x", 20)]), "method": {"x": model}}
    ends = pair("x", [-20.0] * others, 20.0, -20.0)
    return Audit(name, ends, settings, lambda copy: copy["x"].to_numpy(), halved, delta)


def cells(count: int, prior: float) -> Audit:
    """Nobody but the record that moves is in the two smallest cells."""
    column = levels("c", count)
    settings = {"schema": sdp.Schema([column]), "method": {"c": Dirichlet(prior=prior)}}
    draws = binary_draws if count == 2 else categorical_draws
    return Audit(
        f"{count} cells",
        pair("c", [column.levels[-1]], column.levels[0], column.levels[1]),
        settings,
        lambda copy: (copy["c"] == column.levels[0]).to_numpy() * 1.0,
        draws(4, (2 * prior,) * count, n_syn=1),  # a record among twice as much moves half as much
    )


def floor() -> Audit:
    """A record at the far end raises mean and variance; both laws are known to the attacker."""
    settings = {"schema": sdp.Schema([number("x")]), "method": {"x": GaussianFloor(floor=0.5)}}
    ends = pair("x", [-0.8] * 3, 1.0, -0.8)
    laws = [(frame["x"].mean(), max(frame["x"].std(), 0.5)) for frame in ends]

    def ratio(copy: pd.DataFrame) -> Values:
        x = copy["x"].to_numpy()
        return stats.norm.logpdf(x, *laws[0]) - stats.norm.logpdf(x, *laws[1])

    return Audit("floor", ends, settings, ratio, delta=0.01)


def joint() -> Audit:
    """The same in two columns at once."""
    settings = {
        "schema": sdp.Schema([number("x"), number("y")]),
        "joint": [(("x", "y"), MultivariateNormal(ridge=1.0))],
    }
    common = pd.DataFrame({"x": [0.0] * 2, "y": [0.0] * 2})
    ends = tuple(pd.concat([pd.DataFrame({"x": [e], "y": [e]}), common]) for e in (1.0, -1.0))
    tables = (ends[0].reset_index(drop=True), ends[1].reset_index(drop=True))
    return Audit("joint", tables, settings, lambda copy: (copy["x"] + copy["y"]).to_numpy(), delta=0.01)


def regression() -> Audit:
    """One informative row: the response at its predictor flips."""
    x = [1.0, *[0.0] * 3]
    tables = tuple(pd.DataFrame({"x": x, "y": [end, *[0.0] * 3]}) for end in (1.0, -1.0))
    settings = {
        "schema": sdp.Schema([number("x"), number("y")]),
        "method": {"x": Gaussian(sigma=50.0), "y": Ridge(penalty=8.0, sigma=0.4)},
    }
    return Audit("ridge", tables, settings, lambda c: (c["y"] * np.sign(c["x"])).to_numpy(), delta=0.01)


def logistic() -> Audit:
    """One record whose level flips."""
    column = levels("c", 2)
    settings = {"schema": sdp.Schema([column]), "method": {"c": LogRidge(penalty=1.0)}}
    ends = pair("c", [], "l1", "l0")
    return Audit("logridge", ends, settings, lambda copy: (copy["c"] == "l1").to_numpy() * 1.0)


def shift(n: int, weight: float = 1.0, spread: float = 16.0) -> GDP:
    """Half of the true shift: weight 40/n over the spread."""
    return GDP(weight * 20 / n / np.sqrt(spread))


AUDITS = [
    gaussian("plug-in", Gaussian(sigma=4.0), shift(8)),
    gaussian("many", Gaussian(sigma=4.0, posterior="many"), shift(8, spread=18.0)),
    gaussian("prior", Gaussian(sigma=4.0, prior_sd=3.0), shift(8, weight=9 / 11)),
    gaussian(
        "truncated",
        Gaussian(sigma=25.0, truncate=True),
        PureDP(truncated_epsilon(2, 20.0, sigma=25.0)),
        others=0,
        delta=0.0,
    ),
    cells(2, 0.3),
    cells(3, 0.3),
    floor(),
    joint(),
    regression(),
    logistic(),
]


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.name)
def test_no_system_loses_more_than_it_claims_and_half_the_sensitivity_is_found_out(audit):
    found = audit.found()
    assert 0 < found <= audit.claim()
    if audit.halved is not None:
        assert found > at(audit.halved, audit.delta)


def test_noisy_statistics_lose_what_they_claim_and_half_the_sensitivity_is_found_out():
    """Two cells of one table: a record that moves changes the sums by two, the noise has scale 2/epsilon."""
    epsilon, gap = 1.0, 2
    noise = add_discrete_laplace(np.zeros(4 * RUNS, dtype=np.int64), gap / epsilon).reshape(2, RUNS, 2)
    sums = np.array([[1, 0], [0, 1]])[:, None, :] + noise
    near, far = (np.sign(table[:, 0] - table[:, 1]) * 1.0 for table in sums)
    quadrant = [((table[:, 0] >= 1) & (table[:, 1] <= 0)) * 1.0 for table in sums]
    found = max(lower_bound(near, far, 0.0), lower_bound(*quadrant, 0.0))
    assert epsilon / 2 < found <= epsilon


def test_a_seeded_mean_is_not_private_at_all():
    """Whoever knows the seed subtracts the noise: two tables apart are told apart for certain (J5)."""
    audit = AUDITS[0]
    near, far = (audit.values(table, 1) for table in audit.tables)
    assert lower_bound(near - far, far - far, 0.0) > audit.claim()
