"""The account charges every draw and cannot be forked where draws cost."""

import copy
import pickle
import threading

import pytest

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.mechanism import PricedColumn
from pysynthdp.privacy.mechanisms.gaussian import MeanPerCopy, PlugInMean
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.privacy.unit import PrivacyUnit


@pytest.fixture
def account():
    mean = PlugInMean(n=1000, lower=-4, upper=4, sigma=1)
    other = MeanPerCopy(n=1000, lower=0, upper=1, sigma=0.5)
    return Account([PricedColumn("a", "plug", mean), PricedColumn("b", "post", other)])


def test_two_draws_cost_their_sum(account):
    first = account.charge(n_syn=1000, copies=1).rho
    second = account.charge(n_syn=500, copies=3).rho
    plug = 64 * 2500 / (2 * 1000**2)
    post = (1000 / 2000 + 3 * 500 / 1500) / (2 * 1000 * 0.25)
    assert second == pytest.approx(plug + post, rel=1e-12)
    assert first < second
    assert [step.rho for step in account.by_step()] == pytest.approx([plug, post], rel=1e-12)


def test_nothing_drawn_has_no_total(account):
    with pytest.raises(PrivacyError, match="nothing has been drawn"):
        account.total()


def test_failed_charge_charges_nothing(account):
    with pytest.raises(PrivacyError):
        account.charge(n_syn=0, copies=1)
    assert account.draws == ()


@pytest.mark.parametrize("fork", [pickle.dumps, copy.deepcopy])
def test_priced_account_refuses_to_fork(account, fork):
    with pytest.raises(PrivacyError, match="forked"):
        fork(account)


def test_copy_in_process_is_the_same_account(account):
    twin = copy.copy(account)
    twin.charge(n_syn=10, copies=1)
    assert account.draws == (Draw(10, 1),)


def test_other_process_cannot_draw(account, monkeypatch):
    monkeypatch.setattr("pysynthdp.privacy.account.os.getpid", lambda: -1)
    with pytest.raises(PrivacyError, match="process"):
        account.charge(n_syn=10, copies=1)


def test_free_account_survives_pickle_and_deepcopy():
    account = Account(unit=PrivacyUnit(name="person"))
    account.charge(n_syn=10, copies=2)
    for twin in (pickle.loads(pickle.dumps(account)), copy.deepcopy(account)):  # noqa: S301  # our own bytes
        twin.charge(n_syn=1, copies=1)
        assert (twin.records, account.records, twin.unit.name) == (21, 20, "person")


def test_threads_lose_no_draw():
    account = Account()
    threads = [
        threading.Thread(target=lambda: [account.charge(n_syn=1, copies=1) for _ in range(200)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.copies == 1600


def test_unproved_relation_is_refused():
    mean = PricedColumn("a", "plug", PlugInMean(n=1000, lower=-4, upper=4, sigma=1))
    with pytest.raises(PrivacyError, match="add_remove"):
        Account([mean], unit=PrivacyUnit(relation="add_remove")).charge(n_syn=1, copies=1)


def test_rows_of_a_unit_count_squared():
    mean = PricedColumn("a", "plug", PlugInMean(n=1000, lower=-4, upper=4, sigma=1))
    one = Account([mean]).charge(n_syn=100, copies=1).rho
    three = Account([mean], unit=PrivacyUnit(rows_per_unit=3)).charge(n_syn=100, copies=1).rho
    assert three == pytest.approx(9 * one, rel=1e-12)
