"""Names of any kind, True and False on the left, dates, and failures that say what is wrong with what."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pysynthdp.analysis import fit_copies, glm, logit, ols
from pysynthdp.analysis.formula import read_formula
from pysynthdp.base.errors import FitError
from pysynthdp.tags import ReleaseTags
from tests.unit.analysis.test_declared_codes import Release

N = 200
RNG = np.random.default_rng(5)
X, NOISE = RNG.normal(size=N).round(2), RNG.normal(size=N)
YES = RNG.random(N) < 1 / (1 + np.exp(-1.5 * X))
DAYS = RNG.integers(0, 900, N)


def release(**columns: object) -> Release:
    frame = pd.DataFrame({"x": X, "y": X + NOISE, "s": np.where(YES, "u", "v")} | columns)
    frames = (frame, frame.iloc[::-1].reset_index(drop=True))
    return Release(
        frames, ReleaseTags(kind="complete", synthesised=frozenset(frame), m=2, n_syn=N, n_org=N), schema=()
    )


SLOPE = smf.ols("y ~ x", release().copies[0]).fit().params["x"]


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("C", "y ~ x + C(s)"),
        ("Q", "y ~ Q('x')"),
        ("I", "y ~ x + I(x ** 2)"),
        ("np", "y ~ x + np.exp(x)"),
        ("Sum", "y ~ x + C(s, Sum)"),
        ("Treatment", "y ~ x + C(s, Treatment('v'))"),
        ("bs", "y ~ bs(x, df=4)"),
    ],
)
def test_a_column_with_the_name_of_a_function_is_no_hindrance(name, formula):
    want = smf.ols(formula, release().copies[0]).fit().params
    assert ols(formula, release(**{name: NOISE})).params.to_numpy() == pytest.approx(
        want.to_numpy(), rel=1e-6
    )


def test_the_column_and_the_function_together_are_refused():
    with pytest.raises(FitError, match="uses the column 'C' and calls C"):
        ols("y ~ C + C(s)", release(C=NOISE))
    assert ols("y ~ C", release(C=X)).params["C"] == pytest.approx(SLOPE)


@pytest.mark.parametrize(
    ("name", "formula", "term"),
    [
        (unicodedata.normalize("NFD", "année"), "y ~ année", "année"),
        (unicodedata.normalize("NFD", "année"), unicodedata.normalize("NFD", "y ~ année"), "année"),
        ("année", unicodedata.normalize("NFD", "y ~ année"), "année"),
        ("é x", "y ~ Q('é x')", "Q('é x')"),
        ("é x", "y ~ `é x`", 'Q("é x")'),
        ("class", "y ~ class", 'Q("class")'),
        ("lambda", "y ~ `lambda`", 'Q("lambda")'),
        ("1st", "y ~ `1st`", 'Q("1st")'),
    ],
)
def test_names_of_any_kind_are_found(name, formula, term):
    assert ols(formula, release(**{name: X})).params[term] == pytest.approx(SLOPE)


def test_only_what_is_used_counts_as_used():
    columns = ["y", "x", "np", "C", "Sum", "log"]
    read = read_formula("np.log(y) ~ C(x, Sum)", columns)
    assert (read.columns, read.response) == (frozenset({"y", "x"}), None)
    assert read_formula("y ~ x.between(1, 2)", columns).compared == {"x"}


TRUTHS = {
    "numpy": YES,
    "object": YES.astype(object),
    "nullable": pd.array(YES, dtype="boolean"),
    "arrow": pd.array(YES, dtype="bool[pyarrow]"),
    "category": pd.Categorical(YES),
}
BINARY = {
    "logit": logit,
    "probit": lambda f, r: fit_copies(f, r, smf.probit),
    "mnlogit": lambda f, r: fit_copies(f, r, smf.mnlogit),
    "binomial": lambda f, r: glm(f, r, family="binomial"),
    "gee": lambda f, r: fit_copies(f, r, smf.gee, groups="k", family=sm.families.Binomial()),
    "ols": ols,
}


@pytest.mark.parametrize("store", list(TRUTHS))
@pytest.mark.parametrize("model", list(BINARY))
def test_true_is_one_in_every_family(store, model):
    held = release(yes=TRUTHS[store], number=YES * 1.0, k=np.arange(N) % 20)
    got, want = (BINARY[model](f"{name} ~ x", held) for name in ("yes", "number"))
    assert want.params.iloc[-1] > 0
    np.testing.assert_allclose(got.params, want.params, rtol=1e-6)


@pytest.mark.parametrize("model", list(BINARY))
@pytest.mark.parametrize("left", ["I(y > 0)", "I(s == 'u')", "y > 0"])
def test_an_expression_keeps_its_sign(model, left):
    frame = release().copies[0]
    held = release(number=(frame.y > 0) * 1.0 if "y" in left else YES * 1.0, k=np.arange(N) % 20)
    got, want = (BINARY[model](f"{name} ~ x", held) for name in (left, "number"))
    np.testing.assert_allclose(got.params, want.params, rtol=1e-6)


@pytest.mark.parametrize(
    "times",
    [
        pd.Timestamp("2020-05-01") + pd.to_timedelta(DAYS, unit="D"),
        (pd.Timestamp("2020-05-01 12:30", tz="Europe/Paris") + pd.to_timedelta(DAYS, unit="D")),
        (pd.Timestamp("1950-05-01") + pd.to_timedelta(DAYS, unit="D")).date,
        pd.to_timedelta(DAYS, unit="D"),
        pd.array(pd.to_timedelta(DAYS, unit="D"), dtype="duration[us][pyarrow]"),
        pd.array(
            (pd.Timestamp("2020-05-01") + pd.to_timedelta(DAYS, unit="D")).date, dtype="date32[pyarrow]"
        ),
    ],
    ids=["naive", "zoned", "date objects", "duration", "arrow duration", "arrow date"],
)
def test_times_are_days(times):
    held = release(when=times, days=DAYS)
    got, want = ols("y ~ when", held), ols("y ~ days", held)
    assert got.params["when"] == pytest.approx(want.params["days"], rel=1e-6)
    assert [note for note in got.notes if "when is counted in days" in note]
    assert ols("when ~ x", held).params["x"] == pytest.approx(ols("days ~ x", held).params["x"], rel=1e-6)
    new = pd.DataFrame({"when": held.copies[0].when.iloc[:2]})
    assert got.predict(new)["mean"].to_numpy() == pytest.approx(
        want.predict(pd.DataFrame({"days": DAYS[:2]}))["mean"].to_numpy()
    )


def test_parts_of_times_stay_what_they_are():
    when = pd.Series(pd.Timestamp("2020-05-01") + pd.to_timedelta(DAYS, unit="D")).where(DAYS > 20)
    terms = ols("y ~ C(when.dt.year)", release(when=when)).terms
    assert terms == ("Intercept", "C(when.dt.year)[T.2021]", "C(when.dt.year)[T.2022]") or len(terms) == 3
    assert len(ols("y ~ I(when > '2021-01-01')", release(when=when)).terms) == 2


HOLES = np.where(np.arange(N) % 7 == 0, np.nan, np.arange(N) % 9)
FAILURES = {
    "no tilde": (lambda r: ols("y", r), "has no '~'"),
    "syntax": (lambda r: ols("y ~ x +", r), r"cannot be read: a term is missing after the last '\+'"),
    "python syntax": (lambda r: ols("y ~ np.log(x y)", r), "cannot be read"),
    "text response": (lambda r: ols("s ~ x", r), "s is text, and OLS needs a number"),
    "text left": (lambda r: ols("C(s) ~ x", r), r"C\(s\) is text or levels"),
    "unordered": (
        lambda r: fit_copies("s ~ x", r, OrderedModel, distr="logit"),
        "s is of levels without an order",
    ),
    "absent level": (lambda r: ols("y ~ C(s, Treatment('zz'))", r), "copy 1.*'zz' not found"),
    "all missing": (lambda r: ols("y ~ empty", r), "copy 1: empty is missing in every row"),
    "no whole row": (lambda r: ols("y ~ half + other", r), "no row has all of y, half, other"),
    "groups": (
        lambda r: ols("y ~ x", r, cov_type="cluster", cov_kwds={"groups": "holes"}),
        "copy 1: holes, the column of groups, has missing cells",
    ),
    "no groups": (
        lambda r: ols("y ~ x", r, cov_type="cluster", cov_kwds={"groups": "zz"}),
        "groups names 'zz'",
    ),
    "offset": (
        lambda r: fit_copies("n ~ x", r, smf.poisson, offset="np.log(n)"),
        r"offset names 'np.log\(n\)', which is no column.*exposure takes",
    ),
    "levels": (lambda r: ols("grade ~ x", r), r"I\(grade.astype\(float\)\)"),
    "typing": (lambda r: ols("y ~ aray", r), r"names 'aray'.*did you mean 'array'"),
}


@pytest.mark.parametrize("name", list(FAILURES))
def test_failures_say_what_is_wrong(name):
    fitted, said = FAILURES[name]
    half = np.where(np.arange(N) < N // 2, np.nan, X)
    held = release(
        empty=np.nan,
        half=half,
        other=np.where(np.isnan(half), X, np.nan),
        holes=HOLES,
        n=DAYS % 4,
        array=X,
        grade=pd.Categorical(DAYS % 5),
    )
    with pytest.raises(FitError, match=said) as found:
        fitted(held)
    assert not any(
        word in str(found.value) for word in ("PatsyError", "ValueError", "AttributeError", "failed with")
    )


def test_predictions_name_the_column_and_the_level():
    done = ols("y ~ x + s", release())
    new = pd.DataFrame({"x": [0.0], "s": ["u"], "C": [1.0]})
    assert np.isfinite(done.predict(new)["mean"]).all()
    with pytest.raises(FitError, match="s is 'w' in newdata"):
        done.predict(new.assign(s="w"))
    with pytest.raises(FitError, match="newdata has no column 'x'"):
        done.predict(new[["s"]])
