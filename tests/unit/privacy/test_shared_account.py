"""An account of several releases: the sum is right for every mix of kinds, and wrong uses are refused."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import dp_accounting as dp
import numpy as np
import pandas as pd
import pytest
from dp_accounting.pld import pld_privacy_accountant as pld

import pysynthdp as sdp
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.statements.column import ColumnStatement

AGE = sdp.NumericColumn("age", lower=20, upper=70, may_be_missing=False, fallback=45)
SEX = sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
REGION = sdp.CategoricalColumn("region", ["a", "b", "c"], other="a", may_be_missing=False)
TABLE = pd.DataFrame(
    {
        "age": np.random.default_rng(1).uniform(20, 70, 100),
        "sex": ["F"] * 60 + ["M"] * 40,
        "region": ["a"] * 50 + ["b"] * 30 + ["c"] * 20,
    }
)


def noisy_mean(account, epsilon=0.5, **more):
    return sdp.release_mean(TABLE, AGE, how="laplace", epsilon=epsilon, account=account, **more)


def drawn_mean(account, **more):
    return sdp.release_mean(TABLE, AGE, sigma=15.0, account=account, **more)


def drawn_shares(account, column=REGION):
    return sdp.release_shares(TABLE, column, prior=20.0, account=account)


def test_pure_epsilons_add():
    account = sdp.PrivacyAccount()
    spent = [noisy_mean(account, epsilon) for epsilon in (0.5, 0.25)]
    spent.append(sdp.release_shares(TABLE, SEX, prior=1.0, how="laplace", epsilon=1.0, account=account))
    assert account.total().guarantee == sdp.PureDP(spent[-1].together.guarantee.eps)
    assert account.total().guarantee.eps == pytest.approx(1.75, rel=1e-12)
    assert [each.together.guarantee.eps for each in spent] == pytest.approx([0.5, 0.75, 1.75])


def test_gaussian_shifts_add_in_squares():
    account = sdp.PrivacyAccount()
    for prior_sd in (None, 5.0):
        drawn_mean(account, prior_sd=prior_sd, copies=2)
    weight = 25 / (225 / 100 + 25)
    square = 2 * 50**2 / (100 * 225)  # mu^2 of two posterior draws, B2; with a prior k times it, B5
    assert account.total().guarantee.name == "gdp"
    assert account.total().guarantee.mu ** 2 == pytest.approx(square * (1 + weight), rel=1e-12)


def test_mixed_kinds_add_as_curves_and_stay_above_the_tight_value():
    """Oracle: privacy loss distributions of the same mechanisms (dp-accounting), which are tight."""
    account = sdp.PrivacyAccount(deltas=(1e-6, 1e-4))
    noisy_mean(account, 0.5)
    drawn_mean(account)
    total = account.total()
    assert total.guarantee.name == "rdp"
    tight = pld.PLDAccountant()
    mu = (50**2 / (100 * 225)) ** 0.5
    tight.compose(dp.LaplaceDpEvent(2.0)).compose(dp.GaussianDpEvent(1 / mu))
    for delta, epsilon in total.points:
        assert tight.get_epsilon(delta) < epsilon < 1.35 * tight.get_epsilon(delta)


def test_three_kinds_add_order_by_order():
    account = sdp.PrivacyAccount()
    parts = [noisy_mean(account), drawn_mean(account), drawn_shares(account), drawn_shares(account, SEX)]
    curve = sum(part.guarantee.renyi(ORDERS) for part in parts)
    total = account.total().guarantee.renyi(ORDERS)
    known = np.isfinite(curve)
    np.testing.assert_array_equal(np.isfinite(total), known)
    np.testing.assert_allclose(total[known], curve[known], rtol=1e-12)
    assert bool(np.all(total[known] >= curve[known]))


def test_the_sum_survives_a_file_and_verifies_and_a_changed_part_does_not():
    account = sdp.PrivacyAccount()
    for release in (noisy_mean, drawn_mean, drawn_shares):
        release(account)
    plain = json.loads(json.dumps(account.total().to_dict()))
    read = sdp.PrivacyStatement.from_dict(plain)
    assert read.verify().ok
    assert (read.released, read.records, read.copies) == ("parameters", 0, 3)
    plain["parts"][0]["columns"][0]["constants"]["eps"] = 0.1
    assert not sdp.PrivacyStatement.from_dict(plain).verify().ok


def test_records_and_parameters_share_an_account():
    account = sdp.PrivacyAccount()
    drawn_mean(account)
    schema = sdp.Schema([AGE])
    method = {"age": sdp.models.Gaussian(sigma=15.0)}
    fitted = sdp.Synthesizer(schema=schema, method=method, guarantee=sdp.BySampling(), progress=False).fit(
        TABLE[["age"]]
    )
    release = fitted.draw(2, 50)
    total = account.charge(release.privacy)
    assert total.guarantee.mu**2 == pytest.approx(50**2 / (100 * 225) + 100 * 50**2 / (100 * 15) ** 2)
    assert (total.released, total.records, total.copies) == ("both", 100, 3)
    assert total.verify().ok
    assert "2 copies, 100 records in all; 1 copy of 1 estimate" in str(total)
    assert "estimates from the same table" in total.plain_language()
    plain = json.loads(json.dumps(total.to_dict()))
    assert sdp.PrivacyStatement.from_dict(plain).records == 100


def test_a_release_without_a_guarantee_leaves_the_sum_without_one():
    account = sdp.PrivacyAccount()
    drawn_mean(account)
    total = account.charge(sdp.PrivacyStatement.none([ColumnStatement("x", "norm")], draws=[(10, 2)]))
    assert (total.status, total.points, total.records) == ("none", (), 20)
    later = drawn_mean(account)
    assert later.privacy.status == "idealised"
    assert later.together.status == "none"
    assert "together with the others on its account there is no guarantee" in " ".join(str(later).split())


@pytest.mark.parametrize(
    ("unit", "says"),
    [
        (sdp.PrivacyUnit(name="household"), "name = 'record', the release name = 'household'"),
        (sdp.PrivacyUnit(rows_per_unit=4), "rows_per_unit = 1, the release rows_per_unit = 4"),
        (sdp.PrivacyUnit(key="hid"), "key = None, the release key = 'hid'"),
        (sdp.PrivacyUnit(relation="add_remove"), "relation = 'replace_one', the release relation = 'add_rem"),
    ],
)
def test_another_unit_is_refused_by_name_and_nothing_is_charged(unit, says):
    account = sdp.PrivacyAccount()
    with pytest.raises(sdp.PrivacyError, match=says):
        noisy_mean(account, unit=unit)
    with pytest.raises(sdp.PrivacyError, match=says):
        account.charge(sdp.PrivacyStatement.none([], unit=unit))
    assert account.statements == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda: sdp.PrivacyAccount(unit="person"),
        lambda: sdp.PrivacyAccount(deltas=()),
        lambda: sdp.PrivacyAccount(deltas=1e-6),
        lambda: sdp.PrivacyAccount(deltas="1e-6"),
        lambda: sdp.PrivacyAccount(deltas=("1e-6",)),
        lambda: sdp.PrivacyAccount(deltas=(True,)),
        lambda: sdp.PrivacyAccount(deltas=(0.0,)),
        lambda: sdp.PrivacyAccount().total(),
        lambda: sdp.PrivacyAccount().charge(sdp.ZCDP(0.5)),
        lambda: sdp.PrivacyAccount().charge({"guarantee": "none"}),
        lambda: noisy_mean("account"),
        lambda: noisy_mean(sdp.PrivacyAccount),
        lambda: noisy_mean(1.0),
    ],
)
def test_wrong_uses_are_refused(call):
    with pytest.raises(sdp.PrivacyError):
        call()


def test_a_key_of_the_account_bounds_every_release_and_its_statement_says_so():
    account = sdp.PrivacyAccount(unit=sdp.PrivacyUnit(name="household", key="hid"))
    with pytest.raises(sdp.SchemaError, match="no column 'hid'"):
        noisy_mean(account)
    homes = TABLE.assign(hid=1)
    release = sdp.release_mean(homes, AGE, how="laplace", epsilon=1e7, account=account)
    assert release.estimates[0] == pytest.approx((TABLE["age"][0] + 99 * 45) / 100, abs=1e-3)
    assert "enforced by hid" in " ".join(str(account).split())
    assert "enforced by hid" in " ".join(str(account.total()).split())


def test_an_account_is_not_forked():
    account = sdp.PrivacyAccount()
    noisy_mean(account)
    assert copy.copy(account) is account
    for fork in (copy.deepcopy, pickle.dumps):
        with pytest.raises(sdp.PrivacyError, match=r"two|copied"):
            fork(account)


def test_another_process_cannot_charge(monkeypatch):
    account = sdp.PrivacyAccount()
    monkeypatch.setattr("pysynthdp.privacy.shared_account.os.getpid", lambda: -1)
    with pytest.raises(sdp.PrivacyError, match="process"):
        noisy_mean(account)
    assert account.statements == ()


def test_nothing_is_drawn_before_it_is_charged(monkeypatch):
    """A draw that fails was paid for."""
    account = sdp.PrivacyAccount()
    monkeypatch.setattr("pysynthdp.parameters.mean.add_discrete_laplace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        noisy_mean(account)
    assert len(account.statements) == 1


def test_charges_from_threads_are_all_kept():
    account = sdp.PrivacyAccount()
    statement = noisy_mean(None, 0.125).privacy
    threads = [
        threading.Thread(target=lambda: [account.charge(statement) for _ in range(20)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.total().guarantee.eps == pytest.approx(20.0)


def test_an_account_prints_every_release_and_the_sum():
    account = sdp.PrivacyAccount(unit=sdp.PrivacyUnit(name="person"), deltas=(1e-5,))
    assert "Releases:       0" in str(account)
    noisy_mean(account)
    drawn_shares(account)
    text, page = str(account), account._repr_html_()
    facts = ("one person", "one row a person: assumed, not checked", "epsilon at delta = 1e-05")
    for part in (*facts, "age", "region", "pure", "rdp"):
        assert part in text
        assert part in page
