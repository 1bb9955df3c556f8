"""What must hold for every number: monotone, order-free, consistent, never a NaN."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.composition import compose, group_privacy
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.conversion.pure import pure_renyi, pure_zcdp
from pysynthdp.privacy.conversion.zcdp import zcdp_epsilon, zcdp_epsilon_simple
from pysynthdp.privacy.guarantee import guarantee_from_dict, guarantee_to_dict
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.none import NoGuarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.mechanisms.floored import FlooredVariance
from pysynthdp.privacy.mechanisms.gaussian import MeanPerCopy, MeanPerRecord, MeanWithPrior, PlugInMean
from pysynthdp.privacy.mechanisms.grid import MeanOnGrid
from pysynthdp.privacy.mechanisms.multivariate import RidgedNormal
from pysynthdp.privacy.mechanisms.truncated import TruncatedMean
from pysynthdp.privacy.prices.cells_curves import binary_draws, categorical_draws

small = st.floats(1e-4, 8.0)
deltas = st.floats(1e-12, 0.4)
parts = st.one_of(small.map(PureDP), small.map(ZCDP), small.map(GDP), small.map(lambda x: RDP.of(GDP(x))))
MANY = [
    PlugInMean(n=500, lower=-2, upper=5, sigma=1.5),
    MeanPerCopy(n=500, lower=-2, upper=5, sigma=1.5),
    MeanPerRecord(n=500, lower=-2, upper=5, sigma=1.5),
    MeanWithPrior(n=500, lower=-2, upper=5, sigma=1.5, sigma0=0.7),
    MeanOnGrid(n=500, lower=-2, upper=5, sigma=1.5),
    TruncatedMean(n=500, half_width=3.0, sigma=1.5),
    FlooredVariance(n=5000, half_width=2.0, floor=1.0),
    RidgedNormal(n=50_000, columns=3, ridge=0.5),
]


@given(part=parts, first=deltas, second=deltas)
def test_epsilon_falls_as_delta_grows(part, first, second):
    low, high = sorted((first, second))
    assert part.epsilon(low) >= part.epsilon(high) * (1 - 1e-12) >= 0


@given(part=parts, delta=deltas)
def test_delta_undoes_epsilon(part, delta):
    epsilon = part.epsilon(delta)
    assert part.delta(epsilon) <= delta * (1 + 1e-6)
    assert part.delta(epsilon + 0.1) <= part.delta(epsilon)


@given(pieces=st.lists(parts, min_size=2, max_size=4), delta=deltas)
@settings(max_examples=50)
def test_order_of_releases_does_not_matter(pieces, delta):
    found = [compose(list(order)).epsilon(delta) for order in itertools.permutations(pieces)]
    assert max(found) - min(found) <= 1e-9 * max(found) + 1e-15
    assert found[0] >= max(part.epsilon(delta) for part in pieces) * 0.99


@given(part=parts, shares=st.lists(st.floats(0.1, 5), min_size=1, max_size=5))
def test_splitting_and_composing_returns_the_whole(part, shares):
    whole = type(part).compose(part.split(shares))
    assert whole.epsilon(1e-6) == pytest.approx(part.epsilon(1e-6), rel=1e-9)


@given(rho=small, delta=deltas)
def test_tight_never_exceeds_simple_and_gaussian_is_tightest(rho, delta):
    assert zcdp_epsilon(rho, delta) <= zcdp_epsilon_simple(rho, delta)
    assert GDP.from_rho(rho).epsilon(delta) <= zcdp_epsilon(rho, delta) * (1 + 1e-9)


@given(epsilon=st.floats(1e-9, 50))
def test_pure_curve_is_ordered(epsilon):
    curve = pure_renyi(epsilon, ORDERS)
    assert np.all(np.diff(curve) >= -1e-12 * epsilon)
    assert curve[-1] == epsilon
    assert np.all(curve[:-1] <= ORDERS[:-1] * pure_zcdp(epsilon) * (1 + 1e-9))


@given(part=st.one_of(parts, st.builds(ApproxDP, small, deltas)))
def test_guarantees_survive_plain_values(part):
    assert guarantee_from_dict(guarantee_to_dict(part)) == part


@pytest.mark.parametrize("mechanism", MANY, ids=lambda m: m.name)
def test_price_grows_with_records_and_copies(mechanism):
    assert mechanism.name in MECHANISMS
    base = mechanism.price(n_syn=50, copies=2).epsilon(1e-6)
    assert mechanism.price(n_syn=51, copies=2).epsilon(1e-6) > base > 0
    assert mechanism.price(n_syn=50, copies=3).epsilon(1e-6) > base
    joint = compose([mechanism.price(n_syn=50, copies=1)] * 2)
    assert joint.epsilon(1e-6) == pytest.approx(base, rel=1e-9)


@pytest.mark.parametrize("draw", ["map", "many", "one"])
def test_cells_price_falls_with_the_prior_and_grows_with_draws(draw):
    for price in (
        lambda weight, size: binary_draws(800, (weight, weight + 1), n_syn=size, draw=draw),
        lambda weight, size: categorical_draws(800, (weight, weight, 9.0), n_syn=size, draw=draw),
    ):
        assert price(5.0, 400).epsilon(1e-6) > price(8.0, 400).epsilon(1e-6)
        assert price(5.0, 400).epsilon(1e-6) >= price(5.0, 300).epsilon(1e-6)


def test_no_guarantee_absorbs_everything():
    assert compose([PureDP(0.1), NoGuarantee(), ZCDP(1.0)]).name == "none"


def test_pairs_do_not_mix_with_curves_but_add_to_pure():
    with pytest.raises(PrivacyError, match="Renyi form"):
        compose([ApproxDP(1.0, 1e-6), ZCDP(0.1)])
    assert compose([ApproxDP(1.0, 1e-6), PureDP(0.5)]).eps == pytest.approx(1.5)


def test_curve_between_orders_takes_the_next_order_up():
    curve = RDP.of(ZCDP(0.5))
    between = (ORDERS[3] + ORDERS[4]) / 2
    assert curve.renyi(np.array([between]))[0] == curve.taus[4]


def test_two_steps_double_the_shift():
    assert group_privacy(GDP(0.5), 2).rho == pytest.approx(4 * GDP(0.5).rho)


BAD = [math.nan, math.inf, -1.0, "x"]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("make", [PureDP, ZCDP, GDP, lambda x: ApproxDP(x, 1e-6), lambda x: ApproxDP(1, x)])
def test_bad_parameters_are_refused(make, bad):
    with pytest.raises(PrivacyError):
        make(bad)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, 2.0, math.nan])
@pytest.mark.parametrize("part", [PureDP(1.0), ZCDP(1.0), GDP(1.0), RDP.of(ZCDP(1.0)), ApproxDP(1.0, 1e-6)])
def test_bad_delta_is_refused(part, delta):
    with pytest.raises(PrivacyError, match="delta"):
        part.epsilon(delta)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: PlugInMean(n=0, lower=0, upper=1, sigma=1), "n must"),
        (lambda: PlugInMean(n=9, lower=1, upper=0, sigma=1), "upper must exceed"),
        (lambda: PlugInMean(n=9, lower=0, upper=math.inf, sigma=1), "finite"),
        (lambda: PlugInMean(n=9, lower=0, upper=1, sigma=0), "sigma"),
        (lambda: FlooredVariance(n=9, half_width=1, floor=2), "floor"),
        (lambda: FlooredVariance(n=3, half_width=9, floor=0.1), "no order"),
        (lambda: RidgedNormal(n=10, columns=60, ridge=1e-9), "no order"),
    ],
)
def test_bad_constants_name_what_to_change(make, word):
    with pytest.raises(PrivacyError, match=word):
        make().price(n_syn=5, copies=1)
