"""What a fit, its draws and released parameters cost is reserved in a ledger before a row is read."""

from __future__ import annotations

import copy
import json
import os
import signal
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import BudgetExceeded, PlanError, PrivacyError
from pysynthdp.io import answers_file
from pysynthdp.io.ledger.storage import SQLiteStorage
from pysynthdp.models import Dirichlet, Gaussian
from pysynthdp.privacy.account import Account

N = 300
PERSON = sdp.PrivacyUnit(name="person")
SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        sdp.NumericColumn("age", lower=16, upper=100, decimals=0, may_be_missing=False, fallback=50),
    ]
)
NOISED = sdp.ByNoise(sdp.ZCDP(0.5), unit=PERSON)
SAMPLED = sdp.BySampling(unit=PERSON)


@pytest.fixture
def table():
    rng = np.random.default_rng(2)
    return pd.DataFrame({"sex": rng.choice(["F", "M"], N), "age": rng.integers(16, 100, N)})


@pytest.fixture
def ledger(tmp_path):
    made = sdp.SpendingLedger(tmp_path / "people.db")
    made.init("REG", sdp.SourceLimit(rho=0.75, unit="person"), approval="x")
    return made


@pytest.fixture
def wide(tmp_path):
    """Room for sampling, which no rho is proved of."""
    made = sdp.SpendingLedger(tmp_path / "wide.db")
    made.init("REG", sdp.SourceLimit(epsilon=1e9, delta=1e-6, unit="person"), approval="x")
    return made


def noised(**more):
    return sdp.Synthesizer(schema=SCHEMA, guarantee=NOISED, progress=False, **more)


def sampled():
    methods = {"sex": Dirichlet(prior=20.0), "age": Gaussian(sigma=15.0)}
    return sdp.Synthesizer(schema=SCHEMA, method=methods, guarantee=SAMPLED, progress=False)


def kinds(ledger):
    return [event.kind for event in ledger.account("REG").events]


class Untouched:
    """A table that says so when it is looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the table was asked for {name}")


def test_a_noised_fit_is_charged_once_and_its_statement_says_where(ledger, table):
    fitted = noised().fit(table, ledger=ledger.where, source="REG")
    assert kinds(ledger) == ["limit", "reserved", "spent"]
    account = ledger.account("REG")
    (reserved,) = account.reservations.values()
    assert reserved.guarantee == sdp.ZCDP(0.5)
    one, two = fitted.draw(m=2, rng=1), fitted.draw(m=2, rng=2)
    assert kinds(ledger) == ["limit", "reserved", "spent"]  # copies are free
    for release in (one, two):
        assert release.privacy.guarantee.rho <= 0.5 * (1 + 1e-12)
        (mark,) = release.privacy.ledger
        assert (mark.source, mark.entry, mark.head) == ("REG", 2, account.events[1].digest)
        assert ledger.verify(head=mark.head).ok
        assert f"entry 2, head {mark.head[:16]}" in " ".join(str(release.privacy).split())
        again = sdp.PrivacyStatement.from_dict(json.loads(json.dumps(release.privacy.to_dict())))
        assert again == release.privacy
        assert release.privacy.verify().ok


def test_more_than_is_left_is_refused_before_the_table_is_looked_at(ledger, table):
    noised().fit(table, ledger=ledger, source="REG")
    before = ledger.account("REG").head
    with pytest.raises(BudgetExceeded, match=r"rho = 0.5000 is asked, and rho = 0.2500 is left"):
        noised().fit(Untouched(), ledger=ledger, source="REG")
    assert ledger.account("REG").head == before


def test_the_same_fit_again_is_another_spending_with_other_noise(wide, table):
    one, two = (noised().fit(table, ledger=wide, source="REG") for _ in range(2))
    assert kinds(wide) == ["limit", "reserved", "spent", "reserved", "spent"]
    assert one.draw(m=1, rng=1)[0].to_csv() != two.draw(m=1, rng=1)[0].to_csv()


def test_answers_on_file_are_charged_once_for_all(ledger, table, tmp_path):
    path = tmp_path / "answers.json"
    one = noised().fit(table, answers=path, ledger=ledger, source="REG").draw(m=1, rng=1)
    two = noised().fit(answers=path, ledger=ledger, source="REG").draw(m=1, rng=1)
    assert kinds(ledger) == ["limit", "reserved", "spent"]
    assert one[0].equals(two[0])
    assert one.privacy.ledger == two.privacy.ledger


@pytest.mark.parametrize("written", range(4))
def test_a_crash_after_noise_was_drawn_goes_on_and_is_charged_once(
    ledger, table, tmp_path, monkeypatch, written
):
    """The file is written empty, then by each answer; a fault at each of these, and at the settling."""
    path, keep, count = tmp_path / "answers.json", answers_file.save_answers, iter(range(100))

    def dies(saved, where):
        if next(count) == written:
            raise KeyboardInterrupt
        keep(saved, where)

    with monkeypatch.context() as patch:
        patch.setattr("pysynthdp.protection.noise.fitting.save_answers", dies)
        with pytest.raises(KeyboardInterrupt):
            noised().fit(table, answers=path, ledger=ledger, source="REG")
    kept = answers_file.load_answers(path)
    assert len(() if kept is None else kept.answers) == max(written - 1, 0)
    noised().fit(table, answers=path, ledger=ledger, source="REG")
    assert kinds(ledger) == ["limit", "reserved", "spent"]
    done = answers_file.load_answers(path)
    for before, after in zip(() if kept is None else kept.answers, done.answers, strict=False):
        assert np.array_equal(before, after)  # no new noise
    assert ledger.account("REG").events[-1].body["digest"] == done.digest


def deaths(monkeypatch, fit):
    """Kill a child of ours in each place in turn where something gets on disk; yield after each death."""
    real, writing = os.fsync, SQLiteStorage.writing
    ticks, last = [], [0]

    def tick():
        ticks.append(1)
        if len(ticks) == last[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def flushed(number):
        tick()
        real(number)
        tick()

    @contextmanager
    def alone(self, source):
        tick()
        with writing(self, source) as tables:
            yield tables
            tick()
        tick()

    for at in range(1, 100):
        child = os.fork()
        if not child:
            last[0] = at
            monkeypatch.setattr(os, "fsync", flushed)
            monkeypatch.setattr(SQLiteStorage, "writing", alone)
            try:
                fit()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            return
        yield at


@pytest.mark.skipif(os.name == "nt", reason="forks and kills as Unix does")
def test_killed_anywhere_it_goes_on_and_is_charged_once(table, tmp_path, monkeypatch):
    """Before, between and after every flush and every commit."""

    def fresh(number):
        (tmp_path / str(number)).mkdir()
        ledger = sdp.SpendingLedger(tmp_path / str(number) / "people.db")
        ledger.init("REG", sdp.SourceLimit(rho=0.75, unit="person"), approval="x")
        return ledger, tmp_path / str(number) / "answers.json"

    place = fresh(0)
    reserved = []

    def fit():
        noised().fit(table, answers=place[1], ledger=place[0], source="REG")

    for at in deaths(monkeypatch, fit):
        ledger, path = place
        kept = answers_file.load_answers(path)
        drawn = () if kept is None else kept.answers
        reserved.append(kinds(ledger)[1:2] == ["reserved"])
        assert reserved[-1] or not drawn  # nothing is noised that was not reserved
        fit()
        assert kinds(ledger) == ["limit", "reserved", "spent"]
        for before, after in zip(drawn, answers_file.load_answers(path).answers, strict=False):
            assert np.array_equal(before, after)  # no new noise
        place = fresh(at)
    assert len(reserved) > 15
    assert {*reserved} == {True, False}


def test_a_crash_before_it_said_that_it_was_spent_is_mended_by_the_next_run(
    ledger, table, tmp_path, monkeypatch
):
    path = tmp_path / "answers.json"
    with monkeypatch.context() as patch:
        patch.setattr(sdp.io.ledger.Attempt, "settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            noised().fit(table, answers=path, ledger=ledger, source="REG")
    assert kinds(ledger) == ["limit", "reserved"]
    noised().fit(answers=path, ledger=ledger, source="REG")
    assert kinds(ledger) == ["limit", "reserved", "spent"]


def test_only_the_same_job_goes_on(wide, table, tmp_path):
    path = tmp_path / "answers.json"
    noised().fit(table, answers=path, ledger=wide, source="REG")
    other = sdp.ByNoise(sdp.ZCDP(0.4), unit=PERSON)
    with pytest.raises(PrivacyError, match="another plan or budget"):
        sdp.Synthesizer(schema=SCHEMA, guarantee=other).fit(table, answers=path, ledger=wide, source="REG")
    stranger = sdp.SpendingLedger(wide.where, job="another job")
    with pytest.raises(PrivacyError, match="reserved for another job"):
        noised().fit(table, answers=path, ledger=stranger, source="REG")
    assert kinds(wide) == ["limit", "reserved", "spent"]


def test_answers_that_no_ledger_knows_are_refused(ledger, table, tmp_path):
    path = tmp_path / "answers.json"
    noised().fit(table, answers=path)
    with pytest.raises(PrivacyError, match="never reserved"):
        noised().fit(table, answers=path, ledger=ledger, source="REG")
    assert kinds(ledger) == ["limit"]


def test_answers_that_were_put_back_from_a_backup_draw_no_second_noise(ledger, table, tmp_path):
    path = tmp_path / "answers.json"
    noised().fit(table, answers=path, ledger=ledger, source="REG")
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["answers"], plain["ledger"] = plain["answers"][:1], plain["ledger"][:1]
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(PrivacyError, match="is spent"):
        noised().fit(table, answers=path, ledger=ledger, source="REG")
    with pytest.raises(PrivacyError, match="reserved in a ledger, and not all"):
        noised().fit(table, answers=path)


def test_every_draw_from_a_sampling_fit_is_charged_as_in_memory(wide, table, tmp_path):
    fitted = sampled().fit(table, ledger=wide, source="REG")
    assert kinds(wide) == ["limit"]  # nothing was drawn
    one = fitted.draw(m=1, k=50)
    folder = fitted.draw_to(tmp_path / "out", m=2, k=20)
    assert kinds(wide) == ["limit", "reserved", "spent", "reserved", "spent"]
    account = wide.account("REG")
    twin = Account(fitted.account.priced, unit=PERSON)
    twin.charge(n_syn=50, copies=1)
    total = twin.charge(n_syn=20, copies=2)
    (reserved,) = account.reservations.values()
    assert reserved.guarantee == total == fitted.account.total()
    assert account.used == pytest.approx(total.epsilon(1e-6))
    assert one.privacy.ledger[0].entry == 2
    assert sdp.SyntheticRelease.load(folder).privacy.ledger[0].entry == 4


def test_a_draw_that_is_refused_draws_and_charges_nothing(table, tmp_path):
    ledger = sdp.SpendingLedger(tmp_path / "small.db")
    plan = sampled().fit(table).plan
    price = plan.price(n=N, n_syn=50, m=1).epsilon(1e-6)
    ledger.init("REG", sdp.SourceLimit(epsilon=price * 1.01, delta=1e-6, unit="person"), approval="x")
    fitted = sampled().fit(table, ledger=ledger, source="REG")
    fitted.draw(m=1, k=50)
    with pytest.raises(BudgetExceeded):
        fitted.draw(m=1, k=50)
    assert fitted.account.copies == 1
    with pytest.raises(PrivacyError, match="seeded"):
        fitted.draw(m=1, k=1, rng=3)
    assert kinds(ledger) == ["limit", "reserved", "spent"]


def test_marks_go_where_the_fit_goes(ledger, table, tmp_path):
    fitted = noised().fit(table, ledger=ledger, source="REG")
    (mark,) = fitted.account.marks
    loaded = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit.zip"))
    assert loaded.draw(m=1, rng=1).privacy.ledger == (mark,)
    assert copy.deepcopy(fitted.account).marks == (mark,)
    folder = fitted.draw(m=1, rng=1).save(tmp_path / "out")
    assert sdp.SyntheticRelease.load(folder).privacy.ledger == (mark,)
    assert sdp.verify(folder).exit_code == 0


def test_a_file_is_recorded_and_what_is_none_is_not(wide, table, tmp_path):
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    noised().fit(path, ledger=wide, source="REG")
    noised().fit(table, ledger=wide, source="REG")
    noised().fit(table, ledger=sdp.SpendingLedger(wide.where, file="sql:people?order_by=id"), source="REG")
    bodies = [event.body for event in wide.account("REG").events if event.kind == "reserved"]
    assert [len(body.get("file", "")) for body in bodies] == [64, 0, 0]


def test_neighbouring_tables_leave_the_same_entries(wide, table):
    """But for digests of noised answers, of times and of names that are drawn."""

    def left(people):
        noised().fit(people, ledger=wide, source="REG")
        *_, reserved, spent = wide.account("REG").events
        drawn = ("attempt", "digest")
        return [{**each.body, **dict.fromkeys(drawn)} for each in (reserved, spent)]

    other = table.assign(age=table.age.where(table.index > 0, 99), sex=table.sex.where(table.index > 0, "M"))
    assert not other.equals(table)
    assert left(table) == left(other)


def test_what_has_no_price_takes_no_ledger(ledger, table):
    with pytest.raises(PrivacyError, match="without a guarantee"):
        sdp.Synthesizer().fit(table, ledger=ledger, source="REG")
    testing = sdp.ByNoise(sdp.ZCDP(0.5), unit=PERSON, testing=True)
    with pytest.raises(PrivacyError, match="seeded protects nothing"):
        sdp.Synthesizer(schema=SCHEMA, guarantee=testing).fit(table, ledger=ledger, source="REG")
    for given in ({"ledger": ledger}, {"source": "REG"}):
        with pytest.raises(PlanError, match="go together"):
            noised().fit(Untouched(), **given)
        with pytest.raises(PlanError, match="go together"):
            sdp.release_mean(Untouched(), SCHEMA["age"], how="laplace", epsilon=1.0, **given)
    with pytest.raises(PrivacyError, match="no source 'OTHER'"):
        noised().fit(Untouched(), ledger=ledger, source="OTHER")
    with pytest.raises(PrivacyError, match="one record"):
        sdp.Synthesizer(schema=SCHEMA, guarantee=sdp.ZCDP(0.1)).fit(Untouched(), ledger=ledger, source="REG")
    assert kinds(ledger) == ["limit"]


def test_a_protection_that_names_a_price_must_reserve_it(ledger, table, monkeypatch):
    monkeypatch.setattr(type(NOISED), "fit", lambda *_: None)
    with pytest.raises(PrivacyError, match="reserved none"):
        noised().fit(table, ledger=ledger, source="REG")


def test_released_parameters_are_charged_before_they_are_read(ledger, table):
    told = {"unit": PERSON, "ledger": ledger, "source": "REG"}
    mean = sdp.release_mean(table, SCHEMA["age"], how="laplace", epsilon=1.0, **told)
    shares = sdp.release_shares(table, SCHEMA["sex"], prior=20.0, how="laplace", epsilon=0.5, **told)
    assert kinds(ledger) == ["limit", "reserved", "spent", "reserved", "spent"]
    used = sum(epsilon * np.tanh(epsilon / 2) for epsilon in (1.0, 0.5))
    assert ledger.account("REG").used == pytest.approx(used)
    assert [each.privacy.ledger[0].entry for each in (mean, shares)] == [2, 4]
    cells = table.assign(age=pd.Series([object()] * N))
    with pytest.raises(BudgetExceeded):
        sdp.release_mean(cells, SCHEMA["age"], how="laplace", epsilon=1.0, **told)
    assert kinds(ledger) == ["limit", "reserved", "spent", "reserved", "spent"]


def test_one_call_charges_as_a_fit_does_and_goes_on_with_its_answers(table, ledger, tmp_path):
    asked = {"schema": SCHEMA, "guarantee": NOISED, "progress": False}
    asked |= {"ledger": ledger, "source": "REG", "answers": tmp_path / "answers.json"}
    first, again = (sdp.synthesize(table, m=1, rng=1, **asked) for _ in range(2))
    pd.testing.assert_frame_equal(first[0], again[0])
    assert [event.kind for event in ledger.account("REG").events] == ["limit", "reserved", "spent"]
    with pytest.raises(BudgetExceeded):
        sdp.synthesize(table, m=1, **{**asked, "answers": None})
