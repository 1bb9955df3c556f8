"""Noised answers from end to end: what is refused and stated, what a crash costs, what copies look like."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer, ols
from pysynthdp.analysis import mean_of, quantile_of
from pysynthdp.base.errors import CombiningRuleError, PlanError, PrivacyError, ReleaseError
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.synthesizer.fitted import FittedSynthesizer

N = 3_000
SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        CategoricalColumn("area", ["city", "town", "land"], other="land", missing={"?": "refused"}),
        NumericColumn("age", lower=16, upper=100, decimals=0, may_be_missing=False, fallback=50),
        NumericColumn("pay", lower=0, upper=10, missing={-8: "not asked"}, spikes=[0]),
        CategoricalColumn("land", ["here"], other="here", may_be_missing=False),
    ]
)
NUMBERS = Schema(
    [NumericColumn(name, lower=-4, upper=4, may_be_missing=False, fallback=0) for name in ("a", "b", "c")]
)


def table(n: int = N, seed: int = 0) -> pd.DataFrame:
    """A survey with missing values, codes and spikes."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    age = np.clip(rng.normal(48, 14, n), 16, 100).round()
    pay = np.clip(3 + 0.03 * age + (sex == "M") + rng.normal(0, 1, n), 0.1, 10)
    pay[rng.random(n) < 0.2] = 0
    pay[rng.random(n) < 0.1] = -8
    pay[rng.random(n) < 0.1] = np.nan
    area = rng.choice(np.array(["city", "town", "land", "?", None], dtype=object), n)
    return pd.DataFrame({"sex": sex, "area": area, "age": age, "pay": pay, "land": "here"})


def numbers(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Three correlated numbers."""
    S = 0.5 ** np.abs(np.subtract.outer(range(3), range(3)))
    X = np.random.default_rng(seed).multivariate_normal(np.full(3, 0.3), S, n)
    return pd.DataFrame(X, columns=list("abc"))


def settings(**changes) -> Synthesizer:
    """A synthesizer with a guarantee, whose own settings are told apart here."""
    own = {name: changes.pop(name) for name in ("unit", "hints", "fresh", "testing") if name in changes}
    asked = ByNoise(changes.pop("guarantee", ZCDP(1.0)), **own)
    return Synthesizer(**{"schema": SCHEMA, "guarantee": asked, "progress": False, **changes})


def test_copies_have_the_tables_types_and_about_its_moments():
    real = table()
    release = settings(guarantee=ZCDP(50.0)).fit(real).draw(rng=1)
    assert release.m == 20
    copy = release[0]
    assert list(copy.columns) == list(real.columns)
    assert set(copy.area.dropna().unique()) == {"city", "town", "land", "?"}
    assert (copy.land == "here").all()
    both = pd.concat(release.copies)
    assert both.pay.isna().mean() == pytest.approx(real.pay.isna().mean(), abs=0.02)
    assert (both.pay == -8).mean() == pytest.approx((real.pay == -8).mean(), abs=0.02)
    assert (both.pay == 0).mean() == pytest.approx((real.pay == 0).mean(), abs=0.02)
    there, real_there = both[both.pay.abs() > 1e-9].query("pay != -8"), real[real.pay > 0]
    assert there.pay.mean() == pytest.approx(real_there.pay.mean(), abs=0.12)
    for sex in ("F", "M"):
        assert there[there.sex == sex].pay.mean() == pytest.approx(
            real_there[real_there.sex == sex].pay.mean(), abs=0.15
        )
    slope = np.polyfit(there.age, there.pay, 1)[0]
    assert slope == pytest.approx(np.polyfit(real_there.age, real_there.pay, 1)[0], abs=0.01)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_statement_follows_from_integers_and_never_exceeds_the_asked_rho(relation, rows):
    unit = PrivacyUnit(relation, rows)
    fitted = settings(unit=unit, guarantee=ZCDP(8.0)).fit(table())
    release = fitted.draw(m=2, rng=1)
    total = fitted._machine.fit.source.state.answers[0].cost * rows**2
    assert Fraction(8) * Fraction(999, 1000) < total <= Fraction(8)
    assert release.privacy.guarantee.rho <= 8.0 * (1 + 1e-12)
    assert release.privacy.status == "implemented"
    verification = release.privacy.verify()
    assert verification.ok
    assert verification.checks[0].stated == release.privacy.guarantee.rho  # the number on the card
    assert PrivacyStatement.from_dict(json.loads(json.dumps(release.privacy.to_dict()))).verify().ok
    ledger = fitted.ledger
    assert ledger.total().rho == pytest.approx(float(total), rel=1e-9)
    assert all(entry.scale == int(entry.scale) for entry in ledger.entries)
    for entry in ledger.entries:
        assert entry.guarantee.rho == pytest.approx((entry.sensitivity / entry.scale) ** 2 / 2, rel=1e-9)
    assert len(ledger.entries) == (4 if relation == "add_remove" else 3)


def test_the_number_of_rows_is_itself_noised_under_add_remove():
    fitted = settings(unit=PrivacyUnit("add_remove"), guarantee=ZCDP(0.5)).fit(table())
    assert abs(fitted.n_org - N) < 200
    assert len({settings(unit=PrivacyUnit("add_remove")).fit(table()).n_org for _ in range(5)}) > 1


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("sex", {"other": None}),
        ("age", {"upper": None}),
        ("age", {"fallback": None}),
        ("pay", {"declared": False}),
        ("area", {"declared": False}),
        ("age", {"may_be_missing": True, "dtype": "int64"}),
    ],
)
def test_what_is_not_declared_is_refused_by_name_without_a_table(column, change):
    with pytest.raises(PrivacyError, match=column):
        settings(schema=SCHEMA.amend(column, **change)).plan()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"guarantee": GDP(1.0)}, "not proved"),
        ({"guarantee": PureDP(1.0)}, "ZCDP"),
        ({"method": {"pay": "lognorm"}}, "norm"),
        ({"method": {"area": "polr"}}, "polyreg"),
        ({"method": {"pay": "sample"}}, "sample"),
        ({"keep": ["sex"]}, "sex"),
        ({"formulas": ["pay ~ sex * age"]}, "interaction"),
        ({"hints": {"sex": (0, 1)}}, "sex"),
        ({"hints": {"age": (0, -1)}}, "age"),
        ({"schema": None}, "declare"),
    ],
)
def test_what_noise_cannot_guarantee_is_refused(changes, says):
    with pytest.raises((PrivacyError, PlanError), match=says):
        settings(**changes).fit(table())


@pytest.mark.parametrize("rho", [0, -1, float("nan"), float("inf")])
def test_a_budget_must_be_positive(rho):
    with pytest.raises(PrivacyError, match="rho"):
        ZCDP(rho)


def test_an_epsilon_at_a_delta_is_met():
    fitted = settings(guarantee=ApproxDP(2.0, 1e-6)).fit(table())
    statement = fitted.draw(m=2, rng=1).privacy
    assert statement.points[0][0] == 1e-6
    assert 1.999 < statement.points[0][1] <= 2.0


ODD = [
    None,
    np.nan,
    np.inf,
    -np.inf,
    1e300,
    -8,
    "?",
    "no number",
    b"x",
    (1, [2]),
    [3],
    True,
    pd.NaT,
    pd.NA,
    10**400,
]


@pytest.mark.parametrize("cell", ODD, ids=repr)
@pytest.mark.parametrize("column", list(SCHEMA.names))
@pytest.mark.parametrize("method", [{}, {"age": "normrank", "pay": "normrank"}], ids=["plain", "shaped"])
def test_no_odd_cell_raises_or_is_told(column, cell, method, recwarn):
    real = table(300).astype(object)
    values = real[column].tolist()
    values[7] = cell
    real[column] = pd.Series(values, dtype=object)
    release = settings(guarantee=ZCDP(20.0), method=method).fit(real).draw(m=1, rng=1)
    assert not recwarn.list
    assert release.privacy.may_be_published


def test_absurd_bounds_show_only_in_flags():
    tight = SCHEMA.amend("age", lower=16, upper=100)
    fitted = settings(schema=tight, hints={"age": (20, 1.0)}, guarantee=ZCDP(5.0)).fit(table())
    release = fitted.draw(m=12, rng=1)
    assert any("clipped" in flag for flag in release.tags.details["flags"])
    assert "flag: clamped or clipped" in " ".join(str(ols("age ~ sex", release).summary()).split())
    assert "clipped" in str(release.privacy)


def test_a_table_too_small_is_refused_in_plain_words_before_spending():
    with pytest.raises(PrivacyError, match="30 rows"):
        settings(guarantee=ZCDP(0.01)).fit(table(30))


def test_a_seed_of_the_noise_is_refused_and_in_testing_makes_everything_void():
    with pytest.raises(PrivacyError, match="testing=True"):
        settings().fit(table(), noise_seed=1)
    fits = [settings(testing=True).fit(table(), noise_seed=1) for _ in range(2)]
    release = fits[0].draw(m=10, rng=1)
    assert release.privacy.status == "void"
    assert not release.privacy.may_be_published
    assert release.tags.details["void"]
    pd.testing.assert_frame_equal(release[3], fits[1].draw(m=10, rng=1)[3])
    assert settings(testing=True).fit(table()).draw(m=1, rng=1).privacy.status == "void"
    rehearsal = settings().rehearse(table(), m=2, rng=1)
    assert rehearsal.privacy.status == "void"


def test_drawing_is_seeded_by_its_own_seed_and_noise_is_not():
    first, second = settings().fit(table()), settings().fit(table())
    pd.testing.assert_frame_equal(first.draw(m=2, rng=5)[1], first.draw(m=2, rng=5)[1])
    assert not first.draw(m=1, rng=5)[0].equals(second.draw(m=1, rng=5)[0])


def test_answers_on_disk_are_used_again_and_the_table_is_not(tmp_path):
    path = tmp_path / "answers.json"
    first = settings().fit(table(), answers=path)
    again = settings().fit(None, answers=path)
    pd.testing.assert_frame_equal(first.draw(m=2, rng=5)[1], again.draw(m=2, rng=5)[1])
    assert again.ledger == first.ledger
    with pytest.raises(PrivacyError, match="another plan"):
        settings(guarantee=ZCDP(2.0)).fit(table(), answers=path)
    kept = json.loads(path.read_text())
    shorter = [kept["answers"][0][:-1], *kept["answers"][1:]]
    finer = [{**kept["ledger"][0], "scale": kept["ledger"][0]["scale"] / 2}, *kept["ledger"][1:]]
    for changed in ({"answers": shorter}, {"ledger": finer}, {"ledger": kept["ledger"][::-1]}):
        path.write_text(json.dumps({**kept, **changed}))
        with pytest.raises(PrivacyError, match="other questions"):
            settings().fit(table(), answers=path)
    path.write_text(json.dumps({**kept, "ledger": kept["ledger"][:1]}))
    with pytest.raises(ReleaseError, match="damaged"):
        settings().fit(table(), answers=path)
    path.write_text(json.dumps({**kept, "format_version": 1}))
    with pytest.raises(ReleaseError, match="version"):
        settings().fit(table(), answers=path)
    path.write_text("{}")
    with pytest.raises(ReleaseError, match="answers"):
        settings().fit(table(), answers=path)


def test_a_crash_after_the_first_answer_goes_on_with_it(tmp_path, monkeypatch):
    path = tmp_path / "answers.json"
    calls = []

    def crash_at_second(values, scale):
        calls.append(scale)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return values

    monkeypatch.setattr("pysynthdp.protection.noise.fitting.add_discrete_gaussian", crash_at_second)
    with pytest.raises(KeyboardInterrupt):
        settings().fit(table(), answers=path)
    kept = json.loads(path.read_text())
    assert len(kept["answers"]) == len(kept["ledger"]) == 1
    assert not list(tmp_path.glob(".*"))
    monkeypatch.undo()
    fitted = settings().fit(table(), answers=path)
    done = json.loads(path.read_text())
    assert done["answers"][0] == kept["answers"][0]
    assert len(done["answers"]) == 3
    assert len(fitted.ledger.entries) == 3
    path.write_text(json.dumps({**done, "answers": done["answers"][:1], "ledger": done["ledger"][:1]}))
    with pytest.raises(PrivacyError, match="rows"):
        settings().fit(table(N - 1), answers=path)


def test_without_table_and_answers_there_is_nothing(tmp_path):
    with pytest.raises(PrivacyError, match="answers=path"):
        settings().fit(None, answers=tmp_path / "none.json")


def test_a_saved_fit_draws_the_same_and_keeps_its_statement(tmp_path):
    fitted = settings().fit(table())
    expected = fitted.draw(m=2, rng=5)
    loaded = FittedSynthesizer.load(fitted.save(tmp_path / "fit.zip"))
    got = loaded.draw(m=2, rng=5)
    pd.testing.assert_frame_equal(got[1], expected[1])
    assert got.privacy.guarantee == expected.privacy.guarantee
    assert got.tags.details == expected.tags.details


def test_fresh_noise_for_each_copy_splits_the_budget():
    fitted = settings(schema=NUMBERS, fresh=5).fit(numbers())
    release = fitted.draw(rng=1)
    assert release.m == 5
    assert release.tags.noise == "per_copy_fresh"
    assert release.privacy.guarantee.rho == pytest.approx(1.0, rel=1e-3)
    assert release.privacy.verify().ok
    assert ols("c ~ a + b", release).rule.startswith("partial")
    with pytest.raises(PrivacyError, match="spent"):
        fitted.draw(m=6)


def test_pooling_follows_the_tags():
    mixed = settings().fit(table())
    formula = "age ~ sex"
    assert ols(formula, mixed.draw(m=20, rng=1)).rule == "noise_floored"
    with pytest.raises(CombiningRuleError, match="one copy"):
        ols(formula, mixed.draw(m=1, rng=1))
    with pytest.raises(CombiningRuleError, match="noise"):
        ols(formula, mixed.draw(m=20, rng=1, parameters="fitted"))
    plain = settings(schema=NUMBERS).fit(numbers())
    assert ols("c ~ a + b", plain.draw(m=1, rng=1)).rule == "effective_rows_drawn"
    assert ols("c ~ a + b", plain.draw(m=1, rng=1, parameters="fitted")).rule == "effective_rows_fitted"


def test_the_header_of_a_summary_says_what_is_valid_and_what_is_doubtful():
    release = settings().fit(table()).draw(m=5, rng=1)
    text = str(ols("age ~ sex * pay", release).summary())
    assert "under the synthesis model" in text
    assert "few copies" in text
    assert "interactions" in text


def test_a_number_drawn_by_norm_has_no_shape_of_its_own_under_noise():
    release = settings().fit(table()).draw(m=20, rng=1)
    told = release.apply(quantile_of("age", 0.5))
    assert "age has the shape that 'norm' gives it" in told.flags[-1]
    assert any(note.startswith("age: under noise in the answers") for note in told.notes)
    assert not any("shape" in flag for flag in release.apply(mean_of("age", by="sex")).flags)


def test_noise_that_dominates_is_flagged():
    fitted = settings(schema=NUMBERS, guarantee=ZCDP(0.0005), testing=True).fit(numbers(1_500), noise_seed=1)
    release = fitted.draw(m=20, rng=1)
    assert "noise-dominated" in " ".join(release.tags.details["flags"])
    assert "n_eff" not in release.tags.details
    header, card = str(ols("c ~ a + b", release).summary()), str(release.privacy)
    for shown in (" ".join(text.split()) for text in (header, card)):
        assert "noise-dominated" in shown
        assert "low signal-to-noise" not in shown  # a remark about rules, which moves no estimate
    assert "low signal-to-noise" in release.tags.details["remarks"][0]
    with pytest.raises(CombiningRuleError):
        ols("c ~ a + b", release, rule="effective_rows_drawn")


def test_price_and_expected_precision_need_no_table():
    plan = settings().plan()
    assert plan.price(n=N).guarantee.rho == pytest.approx(1.0, rel=1e-3)
    expected = plan.expected_precision(n=N)
    assert all(length > 1 for _, length in expected.lengths)
    plain = settings(schema=NUMBERS).plan().expected_precision(n=N)
    assert plain.lost > 0
    assert "Expected precision" in str(plain)
    with pytest.raises(PrivacyError, match="guarantee"):
        Synthesizer(schema=SCHEMA).plan().expected_precision(n=N)


def test_the_plan_shows_what_each_step_is_really_drawn_from():
    steps = {row[1]: row[3] for row in settings().plan().to_table().rows}
    assert steps["pay (kind)"] == "sex, area"  # not age, a number, which is drawn later
    assert steps["age"] == "sex, area, pay"
    assert "noisy answers" in str(settings().plan())
    assert "each copy's own" in str(settings(fresh=3).plan())


def test_the_predictor_matrix_shows_who_is_drawn_from_whom():
    matrix = settings().plan().predictor_matrix
    assert matrix.loc["pay", "age"] == matrix.loc["pay", "sex"] == matrix.loc["age", "area"] == 1
    own = settings(predictor_matrix={"pay": ["sex"]}).plan().predictor_matrix
    assert own.loc["pay", "age"] == 0
    assert own.loc["pay", "sex"] == 1


def test_the_ledger_names_every_query_with_its_sensitivity_scale_and_share():
    fitted = settings(unit=PrivacyUnit("add_remove", 2), fresh=2).fit(table())
    ledger = fitted.ledger
    assert len(ledger.entries) == 8  # rows, two stages, clipped rows; twice
    assert sum(ledger.shares) == pytest.approx(1)
    for entry, share in zip(ledger.entries, ledger.shares, strict=True):
        assert share == pytest.approx(entry.guarantee.rho / ledger.total().rho)
    text = str(ledger)
    for words in ("number of rows", "first stage", "whitened", "clipped", "noise scale", "share"):
        assert words in text
    assert Synthesizer(progress=False).fit(table()).ledger.entries == ()


def test_copies_of_the_shared_fit_are_nearer_to_the_model_and_carry_no_interval():
    fitted = settings(guarantee=ZCDP(50.0)).fit(table())

    def shares(parameters: str) -> np.ndarray:
        copies = fitted.draw(8, rng=3, parameters=parameters)
        assert copies.tags.draws == ("even" if parameters == "fitted" else "independent")
        return np.array([copy.area.value_counts(normalize=True)["city"] for copy in copies])

    # independent rows have a standard error of 0.0073, and redrawn moments one more
    assert shares("fitted").std() < 0.002 < shares("drawn").std()
    with pytest.raises(CombiningRuleError):
        ols("pay ~ sex", fitted.draw(3, rng=1, parameters="fitted"))
