"""A limit counts what one unit of the source loses, by proof, or refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy import (
    GDP,
    ORDERS,
    RDP,
    ZCDP,
    ApproxDP,
    NoGuarantee,
    PrivacyUnit,
    PureDP,
    SourceLimit,
    rdp_epsilon,
)

PERSON = PrivacyUnit(name="person")
COMING = PrivacyUnit("add_remove", name="person")


def test_rhos_of_all_kinds_are_added_by_proof():
    limit = SourceLimit(rho=1.0, unit="person")
    charged = [limit.charged(each, PERSON) for each in (ZCDP(0.1), GDP(0.4), PureDP(0.5))]
    assert limit.used(charged) == pytest.approx(0.1 + 0.4**2 / 2 + 0.5 * math.tanh(0.25), rel=1e-12)
    assert limit.left(charged) == pytest.approx(1 - limit.used(charged))


def test_an_epsilon_limit_adds_curves_and_converts_once():
    limit = SourceLimit(epsilon=6.0, delta=1e-6, unit="person")
    curve = RDP.of(ZCDP(0.2))
    charged = [limit.charged(each, PERSON) for each in (curve, ZCDP(0.3), PureDP(0.1))]
    taus = sum(np.asarray(each.renyi(ORDERS)) for each in (curve, ZCDP(0.3), PureDP(0.1)))
    assert limit.used(charged) == pytest.approx(rdp_epsilon(ORDERS, taus, 1e-6), rel=1e-9)
    assert limit.holds(charged)
    assert not limit.holds([*charged, ZCDP(0.3)])


def test_a_limit_met_exactly_is_met():
    limit = SourceLimit(rho=0.3)
    assert limit.holds([ZCDP(0.1)] * 3)
    assert not limit.holds([ZCDP(0.1), ZCDP(0.1), ZCDP(0.1000001)])


@pytest.mark.parametrize(
    ("relation", "unit", "steps"),
    [
        ("replace_one", PERSON, 1),
        ("replace_one", PrivacyUnit(), 3),
        ("replace_one", COMING, 2),
        ("replace_one", PrivacyUnit("add_remove"), 6),
        ("add_remove", COMING, 1),
        ("add_remove", PrivacyUnit("add_remove"), 6),
        ("replace_one", PrivacyUnit(name="household"), 1),
        ("add_remove", PrivacyUnit("add_remove", name="household"), 2),
    ],
)
def test_other_units_and_relations_are_converted_upward(relation, unit, steps):
    """By the oracle of A0: k steps cost k^2 rho, k epsilon, k mu."""
    others = {"record": 3, "household": 1}
    limit = SourceLimit(rho=9.0, unit="person", relation=relation, others=others)
    assert limit.charged(ZCDP(0.1), unit).rho == pytest.approx(0.1 * steps**2)
    wide = SourceLimit(epsilon=9.0, delta=1e-6, unit="person", relation=relation, others=others)
    assert wide.charged(PureDP(0.1), unit).eps == pytest.approx(0.1 * steps)
    assert wide.charged(GDP(0.1), unit).mu == pytest.approx(0.1 * steps)


def test_what_no_proof_converts_is_refused():
    limit = SourceLimit(epsilon=9.0, delta=1e-6, unit="person", others={"record": 2})
    with pytest.raises(PrivacyError, match=r"one household; protect one person"):
        limit.charged(ZCDP(0.1), PrivacyUnit(name="household"))
    with pytest.raises(PrivacyError, match="kind 'rdp' for one record"):
        limit.charged(RDP.of(ZCDP(0.1)), PrivacyUnit())
    with pytest.raises(PrivacyError, match="nothing leads"):
        SourceLimit(rho=1.0, unit="person", relation="add_remove").charged(ZCDP(0.1), PERSON)
    with pytest.raises(PrivacyError, match="in rho, and a guarantee of kind 'rdp'"):
        SourceLimit(rho=1.0, unit="person").charged(RDP.of(ZCDP(0.1)), PERSON)
    with pytest.raises(PrivacyError, match="without a guarantee"):
        limit.charged(NoGuarantee(), PERSON)


def test_pairs_add_up_as_pairs():
    limit = SourceLimit(epsilon=1.0, delta=1e-5)
    assert limit.holds([ApproxDP(0.4, 1e-6), ApproxDP(0.4, 1e-6)])
    assert not limit.holds([ApproxDP(0.4, 9e-6), ApproxDP(0.4, 9e-6)])  # 1.8e-5 in all


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"rho": 1.0, "epsilon": 1.0, "delta": 1e-6},
        {"epsilon": 1.0},
        {"epsilon": 1.0, "delta": 2.0},
        {"rho": 0.0},
        {"rho": math.nan},
        {"rho": 1.0, "relation": "other"},
        {"rho": 1.0, "others": {"record": 0}},
        {"rho": 1.0, "unit": "two\nlines"},
    ],
)
def test_a_limit_is_one_measure(wrong):
    with pytest.raises(PrivacyError):
        SourceLimit(**wrong)


def test_plain_values_come_back():
    limit = SourceLimit(epsilon=2.0, delta=1e-6, unit="person", relation="add_remove", others={"record": 4})
    assert SourceLimit.from_plain(limit.to_plain()) == limit
