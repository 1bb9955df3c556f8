"""Fits of m copies must be of one model, made from the copies in their order, and mean the same."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from patsy import build_design_matrices, dmatrix
from statsmodels.miscmodels.ordinal_model import OrderedModel
from statsmodels.tools.sm_exceptions import SingularMatrixWarning

from pysynthdp.analysis import ReleaseTags, apply, fit_copies, glm, logit, ols, pool
from pysynthdp.base.errors import FitError, PysynthdpWarning
from pysynthdp.tags.steps import TaggedStep

COLUMNS = frozenset({"y", "x", "z", "g", "n", "yes"})


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def table(seed, n=300):
    rng = np.random.default_rng(seed)
    g, x, z = rng.choice(list("abcd"), n), rng.normal(size=n).round(3), rng.gamma(2, size=n).round(3)
    y = (1 + x + 2 * (g == "c") - (g == "a") + rng.normal(size=n)).round(3)
    return pd.DataFrame({"y": y, "x": x, "z": z, "g": g, "n": rng.poisson(2, n), "yes": (y > 1).astype(int)})


def release(copies=None, **tags):
    copies = tuple(table(seed) for seed in range(1, 6)) if copies is None else tuple(copies)
    linear = {"draws": "number", "model": "norm", "linear_on": "plain"}
    steps = tuple(TaggedStep(columns=(name,), **linear) for name in copies[0].columns)
    made = {"kind": "complete", "synthesised": COLUMNS, "n_syn": len(copies[0]), "n_org": 300, **tags}
    made.setdefault("steps", steps)
    return Copies(copies, ReleaseTags(m=len(copies), **made))


def fits(formula, copies, model=smf.ols, **options):
    return [model(formula, copy).fit(disp=0, **options) for copy in copies]


def sizes(copies):
    return {"n_syn": len(copies[0]), "n_org": 300}


@pytest.mark.parametrize(
    ("odd", "says"),
    [
        (lambda d: smf.ols("np.log1p(n) ~ x + g", d).fit(), "explains np.log1p"),
        (lambda d: smf.ols("y ~ x", d).fit(), "was fitted by y ~ x,"),
        (lambda d: smf.rlm("y ~ x + g", d).fit(), "RLM"),
        (lambda d: smf.ols("y ~ x + g", d).fit(cov_type="HC3"), "covariance HC3"),
        (lambda d: smf.ols("y ~ x + g", d.head(80)).fit(), "complete rows"),
    ],
)
def test_one_fit_of_another_model_is_refused_by_its_copy(odd, says):
    made = release()
    mixed = [*fits("y ~ x + g", made.copies[:2]), odd(made.copies[2]), *fits("y ~ x + g", made.copies[3:])]
    with pytest.raises(FitError, match="copy 3") as found:
        pool(mixed, release=made)
    assert says in str(found.value)


def test_families_must_agree():
    made = release()
    mixed = [smf.glm("n ~ x", d, family=sm.families.Poisson()).fit() for d in made.copies]
    mixed[1] = smf.glm("n ~ x", made.copies[1]).fit()
    with pytest.raises(FitError, match=r"copy 2.*Gaussian, Identity.*Poisson, Log"):
        pool(mixed, release=made)


def test_the_order_of_terms_is_no_other_model():
    made = release()
    mixed = [*fits("y ~ x + z", made.copies[:2]), *fits("y ~ z+x", made.copies[2:])]
    plain = pool(fits("y ~ x + z", made.copies), release=made)
    pd.testing.assert_series_equal(pool(mixed, release=made).params, plain.params)


def test_the_covariance_that_was_pooled_is_in_the_header():
    made = release()
    assert "HC3" in str(pool(fits("y ~ x", made.copies, cov_type="HC3"), release=made).summary())
    assert "HC1" in str(ols("y ~ x", made, cov_type="HC1"))
    assert "nonrobust" in str(ols("y ~ x", made))


@pytest.mark.parametrize(
    ("formula", "level", "gone"),
    [
        ("y ~ x + g", "a", {"Intercept", "g[T.b]", "g[T.c]", "g[T.d]"}),
        ("y ~ x * g + z", "a", None),  # all but z
        ("y ~ x + C(g, Sum)", "d", None),
        ("y ~ x + C(g, Sum)", "b", None),
        ("y ~ x + g", "c", {"g[T.c]"}),
        ("y ~ 0 + g + x", "a", {"g[a]"}),
        ("y ~ g:x + z", "a", None),
    ],
)
def test_a_copy_without_a_level_takes_out_what_rests_on_it(formula, level, gone):
    copies = list(release().copies)
    copies[1] = copies[1][copies[1].g != level]
    done = pool(fits(formula, copies), **sizes(copies))
    missing = set(done.params.index[done.params.isna()])
    kept = {"y ~ x * g + z": {"z"}, "y ~ g:x + z": {"Intercept", "z", "x:g[b]", "g[b]:x"}}.get(formula, {"x"})
    if formula == "y ~ g:x + z":
        # every level has a slope of its own, so that of the level that one copy lacks is missing alone
        assert missing == {"g[a]:x"}
    elif gone is None:
        assert set(done.params.index) - missing == kept
    else:
        assert missing == gone
    assert any("copy 2" in note for note in done.notes)


def test_the_slope_that_stays_is_the_mean_over_the_copies():
    copies = list(release().copies)
    copies[1] = copies[1][copies[1].g != "a"]
    made = fits("y ~ x + g", copies)
    assert pool(made, **sizes(copies)).params["x"] == pytest.approx(np.mean([f.params["x"] for f in made]))


def test_terms_that_are_collinear_in_one_copy_are_not_pooled():
    copies = [copy.assign(w=copy.z.to_numpy()[::-1]) for copy in release().copies]
    copies[1] = copies[1].assign(w=2 * copies[1].x)
    with pytest.warns(Warning, match="rank-deficient"):
        done = pool(fits("y ~ x + w + z", copies), **sizes(copies))
    assert set(done.params.index[done.params.isna()]) == {"x", "w"}
    with pytest.warns(Warning, match="rank-deficient"), pytest.raises(FitError, match="every copy"):
        pool(fits("y ~ x + w", [copy.assign(w=3 * copy.x) for copy in copies]), **sizes(copies))


def test_an_unused_category_as_reference_is_found_as_collinear():
    copies = [copy.assign(g=pd.Categorical(copy.g, list("abcd"))) for copy in release().copies]
    copies[2] = copies[2][copies[2].g != "a"]
    with pytest.warns(Warning, match="rank-deficient"):
        done = pool(fits("y ~ x + g", copies), **sizes(copies))
    assert set(done.params.index[done.params.notna()]) == {"x"}


def test_a_basis_learned_in_each_copy_is_noted_and_a_fixed_one_not():
    made = release()
    for formula in ("y ~ bs(x, df=4)", "y ~ standardize(x)", "y ~ center(z) * x"):
        assert any(
            "learned from each copy" in note for note in pool(fits(formula, made.copies), release=made).notes
        )
    fixed = "y ~ bs(x, knots=[0.0], degree=3, lower_bound=-9, upper_bound=9)"
    assert not pool(fits(fixed, made.copies), release=made).notes
    cut = pool(fits("y ~ C(pd.qcut(z, 3)) + x", made.copies), release=made)
    assert set(cut.params.index[cut.params.notna()]) == {"x"}


@pytest.mark.parametrize(
    "formula", ["y ~ bs(x, df=5) + g", "y ~ 0 + cr(x, df=4)", "y ~ standardize(x) * g", "y ~ center(z)"]
)
def test_wrappers_learn_a_basis_once_from_all_copies(formula):
    made = release()
    done = ols(formula, made)
    assert not done.notes
    together = pd.concat(made.copies)
    design = dmatrix(formula.split("~")[1], together).design_info
    for copy, fit in zip(made.copies, done.fits, strict=True):
        (X,) = build_design_matrices([design], copy)
        beta = np.linalg.lstsq(np.asarray(X), copy.y.to_numpy(), rcond=None)[0]
        np.testing.assert_allclose(fit.fittedvalues, np.asarray(X) @ beta, atol=1e-8)
        np.testing.assert_allclose(fit.params, beta, atol=1e-6)
    ends = pd.DataFrame({"x": [together.x.min(), together.x.max()], "z": [1.0, 2.0], "g": ["a", "b"]})
    assert done.predict(ends)["mean"].notna().all()


@pytest.mark.parametrize(
    "formula", ["y ~ C(pd.qcut(z, 4))", "y ~ C(pd.cut(z, 3)) + x", "y ~ pd.cut(z, [0, 1, 99])"]
)
def test_cuts_are_the_same_in_all_copies(formula):
    done = ols(formula, release())
    assert done.params.notna().all()
    edges = np.unique(np.concatenate([fit.model.exog.sum(axis=0).shape for fit in done.fits]))
    assert edges.size == 1
    assert "pd." in done.params.index[1]


def test_other_models_learn_once_too():
    copies = [
        copy.assign(o=pd.Categorical(pd.cut(copy.y, [-99, 0, 2, 99]), ordered=True))
        for copy in release().copies
    ]
    made = release(copies)
    assert not logit("yes ~ bs(x, df=4)", made).notes
    assert not glm("n ~ standardize(x)", made, family="poisson").notes
    assert not fit_copies("o ~ center(x)", made, OrderedModel, distr="logit").notes


def test_missing_values_teach_a_basis_nothing():
    made = release([copy.assign(x=copy.x.where(copy.index > 9)) for copy in release().copies])
    assert ols("y ~ center(x)", made).params["center(x)"] == pytest.approx(ols("y ~ x", made).params["x"])


def test_fits_in_another_order_are_refused():
    made = release()
    for formula in ("y ~ x + g", "yes ~ g"):
        with pytest.raises(FitError, match="copy 1 was made from copy 5"):
            pool(fits(formula, made.copies)[::-1], release=made)
    with pytest.raises(FitError, match="copy 2 was made from copy 1"):
        pool(fits("y ~ x", [made.copies[0]] * 5), release=made)


def test_fits_of_another_table_are_refused():
    made = release()
    with pytest.raises(FitError, match="no copy of this release"):
        pool(fits("y ~ x", [table(seed) for seed in range(11, 16)]), release=made)


def test_honest_fits_pass_without_a_word():
    made = release([copy.assign(x=copy.x.where(copy.index > 9)) for copy in release().copies])
    own = [copy.dropna().sample(frac=1, random_state=1).reset_index(drop=True) for copy in made.copies]
    assert pool(fits("y ~ x + g", own), release=made).notes == ()
    recoded = [copy.assign(y=np.log(copy.y - copy.y.min() + 1)) for copy in made.copies]
    assert pool(fits("y ~ x", recoded), release=made).notes == ()
    typed = [copy.assign(g=copy.g.astype("category"), yes=copy.yes.astype("float")) for copy in made.copies]
    assert pool(fits("yes ~ g", typed), release=made).notes == ()


def test_a_subgroup_is_noted():
    made = release()
    some = [copy[copy.x > 0].reset_index(drop=True) for copy in made.copies]
    (note,) = pool(fits("y ~ x", some), release=made).notes
    assert "% of the copies' complete rows" in note


def test_equal_fits_are_refused_for_they_are_of_something_else():
    real, made = table(99), release()
    with pytest.raises(FitError, match="something else"):
        pool(fits("y ~ x", [real] * 5), n_syn=300, n_org=300)
    arrays = [sm.OLS(real.y, sm.add_constant(real.x)).fit() for _ in range(5)]
    with pytest.raises(FitError, match="something else"):
        pool(arrays, release=made)
    with pytest.raises(FitError, match="no copy of this release"):
        apply(lambda copy: smf.ols("y ~ x", real).fit(), made)  # noqa: ARG005
    assert any("to the last digit" in note for note in apply(lambda copy: (3.0, 0.1), made).notes)  # noqa: ARG005


def test_equal_fits_of_columns_that_were_kept_pass():
    real = table(99)
    copies = [copy.assign(y=real.y, x=real.x) for copy in release().copies]
    made = release(copies, kind="partial", synthesised=COLUMNS - {"x", "y"})
    done = pool(fits("y ~ x", made.copies), release=made)
    assert done.params["x"] == pytest.approx(smf.ols("y ~ x", real).fit().params["x"])
    assert any("b is zero" in note for note in done.notes)
    assert pool(fits("y ~ x + z", made.copies), release=made).notes == ()


def test_terms_that_are_collinear_in_one_copy_leave_the_others_in_wrappers_too():
    made = release()
    one = made.copies[1]
    rows = one.index[one.g == "d"]
    one.loc[rows[1:], "g"] = "a"  # the level is drawn once: its place and its slope cannot be told apart
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = ols("y ~ x * g", made)
        binary = glm("yes ~ x * g", made, family="binomial")
    gone = ["g[T.d]", "x:g[T.d]"]
    assert done.params[done.params.isna()].index.tolist() == gone
    assert any("in copy 2 they are collinear" in note for note in done.notes)
    with pytest.warns(SingularMatrixWarning):
        alone = [smf.ols("y ~ x * g", copy).fit() for copy in made.copies]
    kept = done.params.index.difference(gone)
    np.testing.assert_allclose(done.params[kept], np.mean([fit.params[kept] for fit in alone], axis=0))
    assert set(gone) <= set(binary.params[binary.params.isna()].index)
    with pytest.warns(PysynthdpWarning, match="copy 2"):
        told = done.predict(pd.DataFrame({"x": [0.5, 0.5], "g": ["a", "d"]}))
    assert told.iloc[:, 0].isna().tolist() == [False, True]
