"""What people type by mistake in an analysis: one line that names it, with fields and the way out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.base.errors import CombiningRuleError, FitError, PysynthdpWarning


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.normal(50, 10, 200).round(), "y": rng.normal(size=200), "g": rng.choice(list("abc"), 200)}
    )
    return sdp.synthesize(table, m=3, rng=1, progress=False)


SLIPS = {
    "formula ends": (lambda r: sdp.ols("y ~ age +", r), "formula", None, "missing after the last '+'"),
    "no response": (lambda r: sdp.ols("~ age", r), "formula", None, "nothing left of the '~'"),
    "unknown column": (lambda r: sdp.ols("y ~ agee", r), "unknown column", "agee", "did you mean 'age'?"),
    "unknown function": (lambda r: sdp.ols("y ~ foo(age)", r), "formula", None, "np.log(x)"),
    "misspelt setting": (lambda r: sdp.ols("y ~ age", r, rul="x"), "setting", None, "did you mean 'rule'?"),
    "covariance": (lambda r: sdp.ols("y ~ age", r, cov_type="HC9"), "setting", None, "did you mean 'HC"),
    "family": (lambda r: sdp.glm("y ~ age", r, family="poison"), "family", None, "did you mean 'poisson'?"),
    "family as a number": (lambda r: sdp.glm("y ~ age", r, family=3), "family", None, "known are: binomial"),
    "rule": (
        lambda r: sdp.ols("y ~ age", r, rule="raab_simpel"),
        "rule",
        None,
        "did you mean 'raab_simple'?",
    ),
    "codes": (lambda r: sdp.ols("y ~ age", r, codes="kep"), "setting", None, "did you mean 'keep'?"),
    "text": (lambda r: sdp.ols("g ~ age", r), "response", "g", "use logit, mnlogit"),
    "three levels": (lambda r: sdp.logit("g ~ age", r), "response", "g", "use mnlogit"),
    "a number in logit": (lambda r: sdp.logit("y ~ age", r), "response", "y", "an indicator such as I(y >"),
    "swapped": (lambda r: sdp.ols(r, "y ~ age"), "call", None, "write ols(formula, release)"),
    "a path": (lambda _: sdp.ols("y ~ age", "rel"), "no release", None, "SyntheticRelease.load"),
    "one fit": (lambda r: sdp.pool(smf.ols("y ~ age", r[0]).fit()), "call", None, "one fit for each copy"),
    "nothing": (lambda _: sdp.pool([]), "fits", None, "give one a copy"),
    "swapped comparison": (
        lambda r: sdp.compare_fits(r[0], r),
        "call",
        None,
        "write compare_fits(pooled",
    ),
}


@pytest.mark.parametrize("case", SLIPS, ids=lambda case: case)
def test_a_slip_is_told_with_its_fields(release, case):
    slip, kind, column, text = SLIPS[case]
    with pytest.raises((FitError, CombiningRuleError)) as caught:
        slip(release)
    assert text in str(caught.value)
    assert (caught.value.kind, caught.value.column) == (kind, column)
    assert "\n" not in str(caught.value)


def test_new_rows_that_cannot_be_predicted_name_column_and_level(release):
    done = sdp.ols("y ~ age + g", release)
    for rows, column, text in [
        (pd.DataFrame({"age": [3.0], "g": ["zz"]}), "g", "levels are a, b, c"),
        (pd.DataFrame({"age": [None], "g": ["a"]}), "age", "missing values in newdata; drop those rows"),
        (pd.DataFrame({"g": ["a"]}), "age", "no column 'age'"),
        ({"age": [3.0], "g": ["a"]}, None, "must be a pandas DataFrame"),
    ]:
        with pytest.raises(FitError, match=text) as caught:
            done.predict(rows)
        assert caught.value.column == column


def test_a_class_with_params_alone_is_told_what_it_lacks():
    class Half:
        params = (1.0, 2.0)

    with pytest.raises(FitError, match=r"copy 1: Half has params and no covariance; give it cov_params\(\)"):
        sdp.pool([Half(), Half()], n_syn=3, n_org=3)


def test_sizes_that_are_not_known_name_both_ways():
    with pytest.raises(CombiningRuleError) as caught:
        sdp.pool([([1.0], [1.0]), ([2.0], [1.0])])
    assert "n_syn= and n_org=, or release=" in str(caught.value)
    assert "n_syn = and n_org =, or data =" in caught.value.said("r")


def test_where_t_is_not_positive_nothing_is_printed_but_why_and_what_to_do():
    fits = [([1.0], [5.0]), ([1.2], [5.0]), ([0.9], [5.0])]
    with pytest.warns(PysynthdpWarning):
        done = sdp.pool(fits, rule="T_f")
    text = str(done)
    assert "full_rrr2003 gives no interval and no p-value; make more copies, or name" in " ".join(
        text.split()
    )
    assert done.pvalues.isna().all()
    assert done.conf_int().isna().all().all()
    with pytest.warns(PysynthdpWarning, match="gives no interval and no p-value") as heard:
        sdp.combine([1.0, 1.2, 0.9], [5.0] * 3, rule="T_f")
    assert heard[0].message.kind == "no interval"


def test_the_nearest_of_all_columns_is_named_and_not_of_those_in_the_model_alone():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"wages": rng.normal(size=60), "age": rng.normal(size=60)})
    release = sdp.synthesize(table, m=2, rng=1, progress=False)
    with pytest.raises(FitError, match="did you mean 'age'"):
        sdp.ols("wages ~ agee", release)
