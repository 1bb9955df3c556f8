"""A statement with a guarantee can be recomputed, composed and saved, and refuses every way to cheat."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.ledger import Entry, Ledger
from pysynthdp.privacy.mechanism import PricedColumn
from pysynthdp.privacy.mechanisms.floored import FlooredVariance
from pysynthdp.privacy.mechanisms.gaussian import MeanPerCopy, PlugInMean
from pysynthdp.privacy.mechanisms.grid import MeanOnGrid
from pysynthdp.privacy.prices.gaussian_local import LocalDiagnostic, local_bound
from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.sampling import state_account
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit

UNIT = PrivacyUnit(name="person")


def drawn(*mechanisms, copies=2, unit=UNIT):
    steps = [PricedColumn(f"c{i}", "model", mechanism) for i, mechanism in enumerate(mechanisms)]
    account = Account(steps, unit=unit)
    account.charge(n_syn=800, copies=copies)
    return account


@pytest.fixture
def statement():
    mechanisms = [
        PlugInMean(n=1000, lower=-4, upper=4, sigma=1),
        FlooredVariance(n=1000, half_width=3.0, floor=1.0),
    ]
    return state_account(drawn(*mechanisms), deltas=(1e-6, 1e-9), public=["The ranges are declared."])


def test_verifies_and_survives_json(statement):
    again = PrivacyStatement.from_dict(json.loads(json.dumps(statement.to_dict())))
    assert again == statement
    assert again.verify().ok
    assert len(again.verify().checks) == 10


@pytest.mark.parametrize("status", ["idealised", "void"])
def test_a_verification_says_no_more_than_that_the_arithmetic_is_right(statement, status):
    found = replace(statement, status=status).verify()
    text = " ".join(str(found).split())
    assert (found.agrees, found.ok) == (True, status != "void")
    assert "arithmetic" in found.verdict
    assert ("no guarantee holds" in found.verdict) == (status == "void")
    assert "this says nothing about who made it" in text
    assert "confirmed" not in text


def test_card_and_paragraph_speak_of_the_numbers(statement):
    assert "idealised" in str(statement)
    assert "B1" in statement._repr_html_()
    assert "one person" in statement.plain_language()
    assert "epsilon" in statement.plain_language()
    assert "rounding of the computer that drew the copies is not covered" in statement.plain_language()
    assert "sigma = 1" in str(statement)  # the public constants that verify() reads


@pytest.mark.parametrize(("copies", "weak"), [(1, False), (2000, True)])
def test_a_large_epsilon_is_called_weak(copies, weak):
    statement = state_account(drawn(PlugInMean(n=1000, lower=-4, upper=4, sigma=1), copies=copies))
    assert ("weak protection" in statement.plain_language()) is weak


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("columns", 0, "constants", "sigma"), 2),
        (("columns", 1, "constants", "n"), 900),
        (("columns", 0, "share"), 0.9),
    ],
)
def test_altered_constants_do_not_verify(statement, path, value):
    plain = json.loads(json.dumps(statement.to_dict()))
    place = plain
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not PrivacyStatement.from_dict(plain).verify().ok


def test_smaller_cost_does_not_verify():
    plain = state_account(drawn(PlugInMean(n=1000, lower=-4, upper=4, sigma=1))).to_dict()
    plain["columns"][0]["cost"]["mu"] *= 0.5
    assert not PrivacyStatement.from_dict(plain).verify().ok


@pytest.mark.parametrize("key", ["points", "total", "neighbours", "statement_may_be_published"])
def test_altered_summary_is_refused(statement, key):
    plain = json.loads(json.dumps(statement.to_dict()))
    plain[key] = {"points": [{"delta": 1e-6, "epsilon": 0.1}] * 2, "total": {}, "neighbours": "?"}.get(key)
    with pytest.raises(PrivacyError, match="changed"):
        PrivacyStatement.from_dict(plain)


def test_second_draw_costs_more():
    account = drawn(PlugInMean(n=1000, lower=-4, upper=4, sigma=1), copies=1)
    first = state_account(account).points[0][1]
    account.charge(n_syn=800, copies=1)
    assert state_account(account).points[0][1] > 1.3 * first
    assert state_account(account).copies == 2


def test_one_unguaranteed_column_leaves_the_table_without_a_guarantee():
    bare = ColumnStatement("income", "norm", "none", "its slope is unbounded")
    statement = state_account(drawn(MeanPerCopy(n=100, lower=0, upper=1, sigma=1)), unguaranteed=[bare])
    assert statement.status == "none"
    assert "'income'" in statement.reason
    assert "epsilon" not in json.dumps(statement.to_dict())


def test_something_learned_leaves_the_table_without_a_guarantee():
    account = drawn(MeanPerCopy(n=100, lower=0, upper=1, sigma=1))
    assert state_account(account, learned=["The bounds of c0."]).status == "none"
    good = state_account(account)
    with pytest.raises(PrivacyError, match="learned"):
        PrivacyStatement(good.guarantee, "idealised", "", UNIT, good.columns, learned=("Bounds.",))
    with pytest.raises(PrivacyError, match="no guarantee"):
        PrivacyStatement(good.guarantee, "idealised", "", UNIT, (*good.columns, ColumnStatement("x", "norm")))


def test_seeded_draw_is_void():
    statement = state_account(drawn(PlugInMean(n=100, lower=0, upper=1, sigma=1)), status="void")
    assert not statement.may_be_published
    assert "void: seeded, for testing" in str(statement)
    assert "no privacy guarantee holds" in statement.plain_language()


def test_implemented_needs_a_proved_sampler():
    with pytest.raises(PrivacyError, match="real numbers only"):
        state_account(drawn(PlugInMean(n=100, lower=0, upper=1, sigma=1)), status="implemented")
    exact = state_account(drawn(MeanOnGrid(n=100, lower=0, upper=1, sigma=1)), status="implemented")
    assert exact.guarantee.name == "zcdp"


def test_composed_statements_add_and_verify(statement):
    both = PrivacyStatement.compose(statement, statement)
    assert both.verify().ok
    assert both.points[0][1] > statement.points[0][1]
    assert both.copies == 2 * statement.copies
    assert PrivacyStatement.from_dict(json.loads(json.dumps(both.to_dict()))) == both


def test_composing_takes_the_weakest_status(statement):
    void = state_account(drawn(PlugInMean(n=100, lower=0, upper=1, sigma=1)), status="void")
    bare = PrivacyStatement.none([ColumnStatement("a", "norm")], unit=UNIT)
    assert PrivacyStatement.compose(statement, void).status == "void"
    assert PrivacyStatement.compose(statement, void, bare).status == "none"
    other = state_account(drawn(MeanPerCopy(n=100, lower=0, upper=1, sigma=1), unit=PrivacyUnit()))
    with pytest.raises(PrivacyError, match="same unit"):
        PrivacyStatement.compose(statement, other)


def test_fifty_columns_verify():
    account = drawn(*[FlooredVariance(n=100_000, half_width=3.0 + i / 50, floor=1.0) for i in range(50)])
    assert state_account(account).verify().ok


def local():
    return local_bound(500, 4, mean=0.05, variance=1, orders=2.0, n_draws=500)


@pytest.mark.parametrize(
    "write",
    [pickle.dumps, copy.copy, copy.deepcopy, float, json.dumps, list, np.asarray, lambda x: {"a": [*x]}],
)
def test_local_diagnostic_refuses_to_be_written(write):
    with pytest.raises((PrivacyError, TypeError)):
        write(local())


def test_local_diagnostic_shows_no_number():
    assert not any(letter.isdigit() for letter in f"{local()!r}{local()}")
    assert isinstance(local(), LocalDiagnostic)


def test_local_diagnostic_cannot_enter_a_statement():
    with pytest.raises(PrivacyError):
        state_account(drawn(PlugInMean(n=100, lower=0, upper=1, sigma=local())))


def test_ledger_adds_and_survives_plain_values():
    ledger = Ledger().plus(Entry("a", "counts", ZCDP(0.1), scale=2.0, sensitivity=1.0))
    ledger = ledger.plus(Entry("b", "cross-products", ZCDP(0.2), scale=3.0, sensitivity=1.4))
    assert ledger.total().rho == pytest.approx(0.3)
    assert Ledger.from_dict(json.loads(json.dumps(ledger.to_dict()))) == ledger
    with pytest.raises(PrivacyError, match="empty"):
        Ledger().total()


def test_refusals_and_times_are_not_covered_in_sums_too(statement):
    for stated in (statement, PrivacyStatement.compose(statement, statement)):
        said = " ".join(stated.not_covered)
        assert "a refusal can be seen" in said
        assert "How long the fit took" in said
        assert "Not covered: How long the fit took" in " ".join(str(stated).split())
    bare = PrivacyStatement.none([ColumnStatement("x", "norm", "none", "unbounded fit")])
    assert not any("How long" in fact for fact in bare.not_covered)


def test_a_ledger_tells_each_price_and_the_sum_so_far():
    paid = Ledger()
    for rho in (0.1, 0.3):
        paid = paid.plus(Entry("age", "counts", ZCDP(rho), scale=2.0, sensitivity=1.0))
    table = paid.to_table()
    assert table.columns[3:5] == ("rho", "rho so far")
    assert [row[3:5] for row in table.rows] == [(0.1, 0.1), (0.3, paid.total().rho)]


def test_a_ledger_of_several_kinds_of_price_names_them():
    paid = Ledger().plus(Entry("age", "counts", ZCDP(0.1), scale=2.0, sensitivity=1.0))
    paid = paid.plus(Entry("age", "counts", PureDP(0.1), scale=2.0, sensitivity=1.0))
    assert [row[3] for row in paid.to_table().rows] == ["zcdp", "pure"]


def test_an_empty_ledger_is_a_sentence_not_a_table_of_heads():
    assert Ledger().to_table().columns == ()
    assert "No answer was noised" in str(Ledger())
