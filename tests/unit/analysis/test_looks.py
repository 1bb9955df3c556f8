"""What people see of pooled results and comparisons: numbers, names, reasons and pictures."""

from __future__ import annotations

import pickle
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from pysynthdp import compare_fits, logit, ols, pool, synthesize

FORMULA = "income ~ age + C(party)"


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(5)
    party = rng.choice([0.0, 1.0, 2.5], 300)
    age = rng.integers(20, 70, 300)
    sex = rng.choice(["F", "M"], 300)
    return pd.DataFrame({"age": age, "party": party, "sex": sex, "income": 50 + age + rng.normal(0, 5, 300)})


@pytest.fixture(scope="module")
def release(survey):
    return synthesize(survey, m=5, rng=1, progress=False)


@pytest.fixture(scope="module")
def pooled(release):
    return ols(FORMULA, release)


def test_a_level_that_is_a_whole_number_has_no_decimals(pooled):
    for text in (str(pooled), pooled.to_markdown(), pooled._repr_html_()):
        assert "C(party)[T.1]" in text
        assert "C(party)[T.2.5]" in text
    assert "C(party){[}T.1{]}" in pooled.to_latex() or "C(party)[T.1]" in pooled.to_latex()
    assert "C(party)[T.1.0]" in list(pooled.to_frame()["term"])


def test_terms_are_found_by_the_names_that_are_shown(pooled):
    full = pooled.wald_test("C(party)[T.1.0]")
    assert pooled.wald_test("C(party)[T.1]") == full
    assert pooled.wald_test("C(party)[T.1] = 0").stat == pytest.approx(full.stat)
    assert pooled.wald_test(["C(party)[T.1]"]) == full
    pd.testing.assert_frame_equal(pooled.rules("C(party)[T.1]"), pooled.rules("C(party)[T.1.0]"))


def test_only_what_is_shown_is_rounded(pooled):
    assert pooled.to_frame().set_index("term")["p.value"]["age"] < 1e-6
    assert re.search(r"^age .*<0\.001", str(pooled), re.MULTILINE)
    assert "<0.001" in pooled.to_markdown()
    assert not re.search(r"\de-\d", str(pooled))


def test_the_theory_of_a_rule_is_told_to_who_asks(pooled):
    theory = pooled.why.theory
    short, long = " ".join(str(pooled).split()), " ".join(str(pooled.summary(details=True)).split())
    assert theory not in short
    assert theory in long
    assert len(pooled.why.short) < 100
    assert pooled.why.short in short
    html = pooled._repr_html_()
    assert theory in html[html.index("<details") :]
    assert theory not in html[: html.index("<details")]
    assert str(pooled.why).endswith(f". {theory}")
    again = pickle.loads(pickle.dumps(pooled.why))  # noqa: S301 -- our own
    assert (again, again.theory, again.short) == (pooled.why, theory, pooled.why.short)


def test_a_logit_of_text_says_which_level_is_one(release):
    assert "sex: M counts as 1, F as 0." in logit("sex ~ age", release).notes


def test_a_joint_test_prints_as_a_card(pooled):
    test = pooled.wald_test("C(party)")
    assert re.search(r"^df: 2 and ", str(test), re.MULTILINE)
    assert re.search(r"^p:  (<0\.001|0\.\d{3})$", str(test), re.MULTILINE)


def test_a_comparison_repeats_no_column(pooled, survey):
    near = compare_fits(pooled, survey)
    assert (near.overlap >= 0).all()
    assert "overlap.nonnegative" not in str(near)
    assert "negative as 0" not in str(near)
    assert "overlap.nonnegative" in near.to_frame()


def test_a_comparison_shows_both_overlaps_where_they_differ():
    apart = compare_fits(pool([([5.0], [0.01]), ([5.1], [0.01])], n_syn=50, n_org=50), ([0.0], [0.01]))
    assert "overlap.nonnegative" in str(apart)
    assert "mean overlap, negative as 0: " in str(apart)


@pytest.mark.parametrize("formula", ["income ~ age", FORMULA, "income ~ age * C(party) * sex"])
@pytest.mark.parametrize("compared", [False, True])
def test_a_picture_has_the_same_room_for_one_term_as_for_many(release, survey, formula, compared):
    pooled = ols(formula, release)
    axes = compare_fits(pooled, survey).plot() if compared else pooled.plot()
    terms = len(axes.get_yticks())
    low, high = axes.get_ylim()
    per_term = axes.figure.get_size_inches()[1] / terms
    plt.close(axes.figure)
    assert terms == len(pooled.params) - 1
    assert low <= -0.5
    assert high >= terms - 0.5
    assert high - low <= terms + 1.2  # no tall empty box
    assert 0.4 < per_term < 3
