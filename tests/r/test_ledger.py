"""What a guarantee costs is charged to a ledger from R too, and refused before the table crosses."""

from __future__ import annotations

import pytest

from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.privacy import PrivacyUnit, SourceLimit

CODE = """
book <- c("[columns.age]", "lower = 16", "upper = 100", "may_be_missing = false", "fallback = 50")
writeLines(book, "book.toml")
draw <- function(x = data.frame(age = rep(16:95, 5)), ...) {
  synthesise(x, m = 1, schema = "book.toml", guarantee = zcdp(rho = 0.5, unit = "person"), ...)
}
made <- draw(ledger = "people.db", source = "REG")
cat(any(grepl("source REG, entry 2", format(privacy_statement(made)))), "")
told <- tryCatch(draw(ledger = "people.db", source = "REG"), pysynthdp_budget_exceeded = function(e) e)
cat(inherits(told, "pysynthdp_privacy_error"), grepl("rho = 0.2500 is left", conditionMessage(told)), "")
for (given in list(list(ledger = "people.db"), list(source = "REG"), list(ledger = NA, source = "REG"))) {
  cat(inherits(tryCatch(do.call(draw, given), error = function(e) e), "pysynthdp_plan_error"), "")
}
free <- tryCatch(
  synthesise(data.frame(age = 1:99), m = 1, ledger = "people.db", source = "REG"), error = function(e) e
)
cat(grepl("without a guarantee", conditionMessage(free)))
"""


@pytest.fixture
def ledger(tmp_path):
    made = SpendingLedger(tmp_path / "people.db")
    made.init("REG", SourceLimit(rho=0.75, unit="person"), approval="x")
    return made


def test_a_synthesis_is_charged(run_r, ledger):
    said = run_r(CODE)
    assert set(said.split()) == {"TRUE"}, said
    account = ledger.account("REG")
    assert [event.kind for event in account.events] == ["limit", "reserved", "spent"]
    assert next(iter(account.reservations.values())).unit == PrivacyUnit(name="person")


AGAIN = """
book <- c("[columns.age]", "lower = 16", "upper = 100", "may_be_missing = false", "fallback = 50")
writeLines(book, "book.toml")
draw <- function(...) {
  synthesise(data.frame(age = rep(16:95, 5)), m = 1, schema = "book.toml", answers = "answers.json",
             guarantee = zcdp(rho = 0.5, unit = "person"), ledger = "people.db", source = "REG", seed = 1)
}
cat(identical(draw()$syn, draw()$syn), file.exists("answers.json"), "")
free <- tryCatch(synthesise(data.frame(age = 1:99), m = 1, answers = "a.json"), error = function(e) e)
odd <- tryCatch(synthesise(data.frame(age = 1:99), m = 1, answers = 1), error = function(e) e)
cat(inherits(free, "pysynthdp_error"), inherits(odd, "pysynthdp_plan_error"), !file.exists("a.json"))
"""


def test_a_run_that_goes_on_with_its_answers_pays_once(run_r, ledger):
    said = run_r(AGAIN)
    assert set(said.split()) == {"TRUE"}, said
    assert [event.kind for event in ledger.account("REG").events] == ["limit", "reserved", "spent"]
