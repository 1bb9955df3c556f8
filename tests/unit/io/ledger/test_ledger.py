"""The ledger: nothing is overspent, nothing is changed, and whoever looks later can tell."""

from __future__ import annotations

import re
import sqlite3
import stat

import pytest

from pysynthdp.base.errors import BudgetExceeded, PlanError, PrivacyError, ReleaseError
from pysynthdp.cli.exit_codes import Exit, exit_of
from pysynthdp.io.ledger import Override, SpendingLedger, events
from pysynthdp.io.ledger.storage import SQLiteStorage
from pysynthdp.privacy import RDP, ZCDP, PrivacyUnit, PureDP, SourceLimit

PERSON = PrivacyUnit(name="person")
LEAVE = Override("Ann Lee", "Bo Ek", "census order 7")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.db"


@pytest.fixture
def ledger(path):
    made = SpendingLedger(path, by="cron")
    made.init("REG", SourceLimit(rho=0.75, unit="person"), approval="DRB-2026-014")
    return made


def kinds(ledger, source="REG"):
    return [event.kind for event in ledger.account(source).events]


def test_a_reservation_counts_before_anything_is_drawn(ledger):
    attempt = ledger.attempt("REG", PERSON, job="j")
    assert ledger.remaining("REG") == 0.75
    attempt.reserve(ZCDP(0.5))
    assert ledger.remaining("REG") == pytest.approx(0.25)
    attempt.settle("digest of answers")
    assert ledger.remaining("REG") == pytest.approx(0.25)
    assert kinds(ledger) == ["limit", "reserved", "spent"]
    last = ledger.account("REG").events[-1]
    assert (last.body["digest"], last.body["job"]) == ("digest of answers", "j")


def test_more_than_is_left_is_refused_and_leaves_no_trace(ledger):
    ledger.attempt("REG", PERSON, job="j").reserve(ZCDP(0.5))
    before = ledger.account("REG").head
    other = ledger.attempt("REG", PERSON, job="k")
    for refused in (other.reserve, other.check):
        with pytest.raises(BudgetExceeded) as error:
            refused(ZCDP(0.5))
        assert "rho = 0.5000 is asked, and rho = 0.2500 is left of rho = 0.7500" in str(error.value)
        assert "together it would be rho = 1.000" in str(error.value)
    assert ledger.account("REG").head == before


def test_an_attempt_goes_on_once_and_for_the_same_job_only(ledger):
    first = ledger.attempt("REG", PERSON, job="j")
    first.reserve(ZCDP(0.5))
    again = ledger.attempt("REG", PERSON, job="j")
    again.resume(first.attempt)
    again.reserve(ZCDP(0.5))
    assert kinds(ledger) == ["limit", "reserved"]
    assert again.mark == first.mark
    with pytest.raises(PrivacyError, match="reserved for another job"):
        ledger.attempt("REG", PERSON, job="k").resume(first.attempt)
    with pytest.raises(PrivacyError, match="reserved for another job"):
        ledger.attempt("REG", PrivacyUnit("add_remove", name="person"), job="j").resume(first.attempt)
    with pytest.raises(PrivacyError, match="knows no attempt"):
        ledger.attempt("REG", PERSON, job="j").resume("00")
    with pytest.raises(PrivacyError, match="never reserved"):
        ledger.attempt("REG", PERSON, job="j").resume("")
    again.settle("d")
    with pytest.raises(PrivacyError, match="is spent"):
        again.reserve(ZCDP(0.5))
    with pytest.raises(PrivacyError, match="other answers"):
        again.settle("e")
    again.settle("d")
    assert kinds(ledger) == ["limit", "reserved", "spent"]


def test_a_fit_that_is_drawn_from_again_is_charged_the_whole_so_far(ledger):
    attempt = ledger.attempt("REG", PERSON, job="j")
    for rho in (0.2, 0.4):
        attempt.reserve(ZCDP(rho))
        attempt.settle(str(rho))
    assert ledger.account("REG").used == pytest.approx(0.4)
    with pytest.raises(BudgetExceeded):
        attempt.reserve(ZCDP(0.8))
    with pytest.raises(PrivacyError, match="has reserved more"):
        attempt.reserve(ZCDP(0.1))
    assert kinds(ledger) == ["limit", "reserved", "spent", "reserved", "spent"]


def test_what_was_given_up_counts_and_never_goes_on(ledger):
    attempt = ledger.attempt("REG", PERSON, job="j")
    attempt.reserve(ZCDP(0.5))
    assert "abandoned" in str(ledger.abandon("REG", attempt.attempt, reason="disk lost"))
    assert ledger.remaining("REG") == pytest.approx(0.25)
    with pytest.raises(PrivacyError, match="abandoned"):
        ledger.attempt("REG", PERSON, job="j").resume(attempt.attempt)
    with pytest.raises(PrivacyError, match="abandoned"):
        attempt.settle("d")
    with pytest.raises(PrivacyError, match="abandoned already"):
        ledger.abandon("REG", attempt.attempt, reason="again")


def test_an_override_takes_two_and_is_told_ever_after(ledger, path):
    leave = SpendingLedger(path, by="cron", override=LEAVE)
    quiet = leave.attempt("REG", PERSON, job="j")
    quiet.reserve(ZCDP(0.5))
    assert quiet.mark.overrides == ()  # nothing was overridden
    over = leave.attempt("REG", PERSON, job="k")
    over.reserve(ZCDP(0.5))
    assert kinds(ledger) == ["limit", "reserved", "override", "reserved"]
    with pytest.raises(BudgetExceeded):
        ledger.attempt("REG", PERSON, job="l").reserve(ZCDP(0.01))
    leave.init("REG", SourceLimit(rho=2.0, unit="person"), approval="DRB-2", second="Cy")
    later = ledger.attempt("REG", PERSON, job="m")
    later.reserve(ZCDP(0.01))
    for told in (str(later.mark), str(ledger.account("REG")), str(ledger.verify())):
        assert re.search(r"OVERRIDDEN\s+by Ann Lee and Bo Ek", told)
    for names in (("Ann", "Ann"), ("Ann", "ann"), ("Ann", ""), ("", "Bo")):
        with pytest.raises(PrivacyError):
            Override(*names, "why")


def test_a_source_is_opened_by_approval_and_its_limit_moved_by_two(ledger, path):
    with pytest.raises(PrivacyError, match="no source 'OTHER'") as error:
        ledger.attempt("OTHER", PERSON, job="j").check(ZCDP(0.1))
    assert error.value.kind == "ledger approval"
    with pytest.raises(PrivacyError, match="no ledger"):
        SpendingLedger(path.with_name("none.db")).account("REG")
    assert not path.with_name("none.db").exists()
    with pytest.raises(PrivacyError, match="two people"):
        ledger.init("REG", SourceLimit(rho=9.0, unit="person"), approval="x")
    with pytest.raises(PrivacyError, match="both names are the same"):
        ledger.init("REG", SourceLimit(rho=9.0, unit="person"), approval="x", second="cron")
    with pytest.raises(PrivacyError, match="must do so too"):
        ledger.init("REG", SourceLimit(rho=9.0), approval="x", second="Bo")
    ledger.init("REG", SourceLimit(rho=0.1, unit="person"), approval="x", second="Bo")
    assert ledger.remaining("REG") == 0.1


def test_a_unit_that_cannot_be_converted_reserves_nothing(ledger):
    with pytest.raises(PrivacyError, match="protects one record"):
        ledger.attempt("REG", PrivacyUnit(), job="j").reserve(ZCDP(0.1))
    with pytest.raises(PrivacyError, match="in rho"):
        ledger.attempt("REG", PERSON, job="j").reserve(RDP.of(PureDP(0.1)))
    assert kinds(ledger) == ["limit"]


def test_curves_come_back_to_the_last_bit(path):
    ledger = SpendingLedger(path)
    ledger.init("REG", SourceLimit(epsilon=9.0, delta=1e-6), approval="x")
    curve = RDP.of(PureDP(0.3))
    attempt = ledger.attempt("REG", PrivacyUnit(), job="j")
    attempt.reserve(curve)
    attempt.reserve(curve)  # the same to the bit, so it goes on
    assert ledger.account("REG").reservations[attempt.attempt].guarantee == curve
    assert kinds(ledger) == ["limit", "reserved"]


def test_entries_are_added_only(ledger, path):
    ledger.attempt("REG", PERSON, job="j").reserve(ZCDP(0.5))
    with sqlite3.connect(path) as base:
        for change in ("UPDATE pysynthdp_ledger SET at = ''", "DELETE FROM pysynthdp_ledger"):
            with pytest.raises(sqlite3.IntegrityError, match="added only"):
                base.execute(change)


def unlocked(path):
    base = sqlite3.connect(path)
    base.executescript("DROP TRIGGER pysynthdp_ledger_no_update; DROP TRIGGER pysynthdp_ledger_no_delete")
    return base


CHANGES = {
    "a price": "UPDATE pysynthdp_ledger SET body = replace(body, '0.5', '0.1') WHERE seq = 2",
    "a time": "UPDATE pysynthdp_ledger SET at = '2020-01-01' WHERE seq = 2",
    "an entry taken away": "DELETE FROM pysynthdp_ledger WHERE seq = 2",
    "the first one": "DELETE FROM pysynthdp_ledger WHERE seq = 1",
    "no JSON": "UPDATE pysynthdp_ledger SET body = 'x' WHERE seq = 2",
    "another source": "UPDATE pysynthdp_ledger SET source = 'X' WHERE seq = 2",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_ledger_that_was_changed_spends_nothing(ledger, path, change):
    attempt = ledger.attempt("REG", PERSON, job="j")
    attempt.reserve(ZCDP(0.5))
    attempt.settle("d")
    with unlocked(path) as base:
        assert base.execute(change).rowcount == 1
    base.close()
    check = ledger.verify()
    assert not check.ok
    assert "REG" in check.faults
    assert "BROKEN" in str(check)
    with pytest.raises(ReleaseError, match="does not follow") as error:
        ledger.attempt("REG", PERSON, job="k").reserve(ZCDP(0.01))
    assert error.value.kind == "ledger chain"


def test_a_backup_that_forgets_a_release_is_found_by_the_head_of_its_statement(ledger, path):
    ledger.attempt("REG", PERSON, job="j").reserve(ZCDP(0.1))
    backup = path.read_bytes()
    late = ledger.attempt("REG", PERSON, job="k")
    late.reserve(ZCDP(0.5))
    assert ledger.verify(head=late.mark.head).ok
    assert ledger.verify(head=late.mark.head[:16]).ok
    path.write_bytes(backup)
    assert ledger.verify().ok  # whole in itself
    check = ledger.verify(head=late.mark.head)
    assert not check.ok
    assert "NOT in the ledger" in str(check)
    with pytest.raises(PlanError, match="16 digits"):
        ledger.verify(head="ab")


def test_a_clock_that_runs_back_is_told_and_changes_no_order(ledger, monkeypatch):
    ledger.attempt("REG", PERSON, job="j").reserve(ZCDP(0.1))
    monkeypatch.setattr(events, "now", lambda: "2001-01-01T00:00:00+00:00")
    ledger.attempt("REG", PERSON, job="k").reserve(ZCDP(0.1))
    account = ledger.account("REG")
    assert [event.seq for event in account.events] == [1, 2, 3]
    assert account.events[-1].at.startswith("2001")
    assert "ran back" in account.events[-1].body["clock"]
    assert "ran back" in str(account)
    assert ledger.verify().ok
    assert account.used == pytest.approx(0.2)


def test_a_confidential_file_is_recorded_by_a_keyed_digest(ledger, path, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age\n41\n", encoding="utf-8")
    first = ledger.attempt("REG", PERSON, job="j", file=file)
    first.reserve(ZCDP(0.1))
    other = SpendingLedger(tmp_path / "other.db")
    other.init("REG", SourceLimit(rho=0.75, unit="person"), approval="x")
    other.attempt("REG", PERSON, job="j", file=file).reserve(ZCDP(0.1))
    mine, theirs = (each.account("REG").events[-1].body["file"] for each in (ledger, other))
    assert len(mine) == 64
    assert mine != theirs  # by the key of each
    file.write_text("age\n42\n", encoding="utf-8")
    again = ledger.attempt("REG", PERSON, job="j", file=file)
    again.resume(first.attempt)
    with pytest.raises(PrivacyError, match="another table"):
        again.reserve(ZCDP(0.1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_ledger_moves_with_its_chain_and_its_key(ledger, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age\n41\n", encoding="utf-8")
    attempt = ledger.attempt("REG", PERSON, job="j", file=file)
    attempt.reserve(ZCDP(0.5))
    moved = SpendingLedger(tmp_path / "new.db")
    assert ledger.copy_to(moved) == ("REG",)
    assert moved.verify(head=attempt.mark.head).ok
    assert moved.account("REG").events == ledger.account("REG").events
    again = moved.attempt("REG", PERSON, job="j", file=file)
    again.resume(attempt.attempt)
    again.reserve(ZCDP(0.5))  # it is the same file by the same key
    assert moved.remaining("REG") == pytest.approx(0.25)
    with pytest.raises(ReleaseError, match="has accounts already"):
        ledger.copy_to(moved)


def test_other_files_and_other_layouts_are_refused(ledger, path, tmp_path):
    other = tmp_path / "table.csv"
    other.write_text("a\n1\n" * 100, encoding="utf-8")
    with pytest.raises(ReleaseError, match="see that it is a ledger"):
        SpendingLedger(other).account("REG")
    with sqlite3.connect(path) as base:
        base.execute("UPDATE pysynthdp_ledger_facts SET value = '2' WHERE name = 'layout'")
    with pytest.raises(ReleaseError, match="layout '2'"):
        ledger.account("REG")
    for wrong in ("postgresql://x:secret@host/base", 3, "", "env:a b"):
        with pytest.raises(PlanError) as error:
            SpendingLedger(wrong)
        assert "secret" not in str(error.value)


def test_a_full_disk_reserves_nothing_and_is_told_as_one(ledger, monkeypatch):
    connect = SQLiteStorage._connect

    def small(self):
        base = connect(self)
        (pages,) = base.execute("PRAGMA page_count").fetchone()
        base.execute(f"PRAGMA max_page_count = {pages}")
        return base

    long = ledger.attempt("REG", PERSON, job="j" * 9000)  # more than what is left of a page
    before = ledger.account("REG").head
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStorage, "_connect", small)
        with pytest.raises(ReleaseError, match="SQLITE_FULL") as error:
            long.reserve(ZCDP(0.1))
    assert exit_of(error.value) is Exit.RESOURCES
    assert ledger.account("REG").head == before
    long.reserve(ZCDP(0.1))


@pytest.mark.parametrize("text", ["", " ", "a\nb", 3])
def test_names_are_one_line(ledger, text):
    with pytest.raises(PrivacyError, match="one line"):
        ledger.init(text, SourceLimit(rho=1.0), approval="x")
    with pytest.raises(PrivacyError, match="one line"):
        ledger.init("X", SourceLimit(rho=1.0), approval=text)
