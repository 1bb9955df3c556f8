"""Marginal effects and predictions of every kind of model, against statsmodels and algebra; both engines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.formula import options as formula_options
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pysynthdp.analysis import ReleaseTags, combine, fit_copies, glm, logit, ols, pool
from pysynthdp.analysis.marginal_effects import average_effects
from pysynthdp.base.errors import FitError

N, N_ORG = 300, 200


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def table(seed):
    rng = np.random.default_rng(seed)
    g = pd.Categorical(rng.choice(list("abc"), N), categories=list("abcd"))
    x = rng.normal(size=N)
    y = 1 + x + 0.5 * (g == "b") + rng.normal(size=N) + rng.normal(size=N // 6)[np.arange(N) // 6]
    return pd.DataFrame(
        {
            "y": y,
            "x": x,
            "g": g,
            "s": rng.choice(["u", "v"], N),
            "code": rng.integers(1, 4, N),
            "yes": pd.Categorical(np.where(y > 1, "yes", "no"), categories=["no", "yes"]),
            "count": rng.poisson(np.exp(0.3 * x)),
            "level": pd.cut(y, [-99, 0, 1, 99], labels=["l", "m", "h"]),
            "region": pd.Categorical(rng.choice(["n", "s", "w"], N)),
            "hh": np.arange(N) // 6,
            "time": rng.exponential(np.exp(-0.5 * x)),
        }
    )


FRAMES = tuple(table(seed) for seed in range(5))
TAGS = ReleaseTags(
    kind="complete", m=5, n_syn=N, n_org=N_ORG, synthesised=frozenset(str(c) for c in FRAMES[0].columns)
)
RELEASE = Copies(FRAMES, TAGS)


@pytest.fixture(params=["formulaic", "patsy"])
def engine(request):
    if request.param == "patsy":
        pytest.importorskip("patsy")
    before = formula_options.formula_engine
    formula_options.formula_engine = request.param
    yield request.param
    formula_options.formula_engine = before


def pooled(pairs):
    return combine(np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs]), n_syn=N, n_org=N_ORG)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "fit",
    [
        lambda: logit("yes ~ x + s", RELEASE),
        lambda: fit_copies("yes ~ x + s", RELEASE, smf.probit),
        lambda: fit_copies("count ~ x + s", RELEASE, smf.poisson),
        lambda: glm("count ~ x + s", RELEASE, family="poisson"),
        lambda: glm("yes ~ x + s", RELEASE, family="binomial"),
    ],
)
def test_effects_without_interactions_are_those_of_statsmodels(fit):
    # with three levels statsmodels moves one dummy and leaves the others, which is no comparison of levels
    result = fit()
    theirs = [f.get_margeff(dummy=True) for f in result.fits]
    want = pooled([(m.margeff, m.margeff_se**2) for m in theirs])
    got = result.marginal_effects().set_index("term").loc[["s[v - u]", "x"]]
    np.testing.assert_allclose(got["estimate"], want.qbar, rtol=1e-6)
    np.testing.assert_allclose(got["std.error"], want.se, rtol=1e-5)
    np.testing.assert_allclose(got["df"], want.df, rtol=1e-4)


@pytest.mark.usefixtures("engine")
def test_effects_follow_interactions():
    result = ols("y ~ x * g + C(code)", RELEASE)
    got = result.marginal_effects().set_index("term")
    pairs = []
    for frame, fit in zip(FRAMES, result.fits, strict=True):
        weights = pd.Series(0.0, index=fit.params.index)
        weights["x"] = 1
        for level in "bc":
            weights[next(n for n in weights.index if ":" in n and f"[T.{level}]" in n)] = (
                frame.g == level
            ).mean()
        pairs.append((weights @ fit.params, weights @ fit.cov_params() @ weights))
    want = pooled(pairs)
    assert got.loc["x", "estimate"] == pytest.approx(float(want.qbar), rel=1e-7)
    assert got.loc["x", "std.error"] == pytest.approx(float(want.se), rel=1e-6)
    assert got.loc["code[3 - 1]", "estimate"] == pytest.approx(result.params["C(code)[T.3]"])
    assert set(got.index) == {"x", "g[b - a]", "g[c - a]", "code[2 - 1]", "code[3 - 1]"}


@pytest.mark.usefixtures("engine")
def test_effects_follow_splines_inside_the_range():
    result = ols("y ~ bs(x, df=4)", RELEASE)
    effect = result.marginal_effects().loc[0]
    slope = ols("y ~ x", RELEASE).params["x"]
    assert effect["estimate"] == pytest.approx(slope, abs=0.15)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("formula", "model", "options"),
    [("level ~ x + g", OrderedModel, {"distr": "logit"}), ("region ~ x + g", smf.mnlogit, {})],
)
def test_effects_on_probabilities_add_to_zero(formula, model, options):
    result = fit_copies(formula, RELEASE, model, **options)
    got = result.marginal_effects()
    variable = got["term"].str.split(":", n=1).str[1]
    np.testing.assert_allclose(got.groupby(variable)["estimate"].sum(), 0, atol=1e-8)
    assert (got["std.error"] > 0).all()
    shown = result.predict(FRAMES[0].head(4))
    np.testing.assert_allclose(shown.groupby(level=0)["mean"].sum(), 1)
    parts = [np.asarray(f.predict(FRAMES[0].head(4).astype({"g": object}))) for f in result.fits]
    np.testing.assert_allclose(shown["mean"], np.mean(parts, axis=0).ravel())


def test_ordinal_effects_have_the_variance_of_the_delta_method():
    fit = fit_copies("level ~ x", RELEASE, OrderedModel, distr="logit").fits[0]
    names, (values, variances) = average_effects(fit)
    assert names == ("l:x", "m:x", "h:x")
    x = fit.model.exog[:, 0]

    def effect(params):
        cuts = np.array([params[1], params[1] + np.exp(params[2])])
        density = [np.exp(c - params[0] * x) / (1 + np.exp(c - params[0] * x)) ** 2 for c in cuts]
        low = -params[0] * density[0].mean()
        return np.array([low, -params[0] * (density[1] - density[0]).mean(), params[0] * density[1].mean()])

    at = np.asarray(fit.params)
    slope = np.column_stack([(effect(at + d) - effect(at - d)) / 2e-6 for d in 1e-6 * np.eye(3)])
    np.testing.assert_allclose(values, effect(at), rtol=1e-6)
    np.testing.assert_allclose(variances, np.diag(slope @ fit.cov_params() @ slope.T), rtol=1e-5)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("model", "options"),
    [(smf.quantreg, {}), (smf.rlm, {}), (smf.mixedlm, {"groups": "hh"}), (smf.gee, {"groups": "hh"})],
)
def test_linear_effects_are_coefficients(model, options):
    result = fit_copies("y ~ x", RELEASE, model, **options)
    got = result.marginal_effects().loc[0]
    assert got["estimate"] == pytest.approx(result.params["x"], rel=1e-7)
    assert got["std.error"] == pytest.approx(result.bse["x"], rel=1e-6)
    origin = result.predict(pd.DataFrame({"x": [0.0]}))
    assert origin.loc[0, "mean"] == pytest.approx(result.params["Intercept"])
    assert origin.loc[0, "mean_se"] == pytest.approx(result.bse["Intercept"], rel=1e-6)


def test_an_exposure_stays_in_the_effects():
    frames = tuple(f.assign(years=np.linspace(1, 3, N)) for f in FRAMES)
    result = fit_copies(
        "count ~ x", Copies(frames, TAGS), smf.glm, family=sm.families.Poisson(), exposure="years"
    )
    effect = result.marginal_effects().loc[0, "estimate"]
    # of a log-linear model: the coefficient times the mean, which Poisson fits keep at the observed mean
    want = np.mean(
        [f.params["x"] * frame["count"].mean() for f, frame in zip(result.fits, frames, strict=True)]
    )
    assert effect == pytest.approx(want, rel=1e-6)


def test_effects_at_the_mean_come_from_statsmodels_or_are_refused():
    result = logit("yes ~ x", RELEASE)
    want = pooled([(m.margeff, m.margeff_se**2) for m in (f.get_margeff(at="mean") for f in result.fits)])
    np.testing.assert_allclose(result.marginal_effects(at="mean")["estimate"], want.qbar)
    with pytest.raises(FitError, match="average effects only"):
        ols("y ~ x", RELEASE).marginal_effects(at="mean")


def test_what_has_no_mean_is_refused_by_name():
    with pytest.raises(FitError, match="copy 1: PHReg"):
        fit_copies("time ~ x", RELEASE, smf.phreg).marginal_effects()
    with pytest.raises(FitError, match="no model"):
        pool([([1.0], [1.0]), ([1.1], [1.0])], n_syn=9, n_org=9).marginal_effects()


def test_an_absent_level_has_no_pooled_effect():
    frames = (*FRAMES[:4], FRAMES[4][FRAMES[4].g != "c"].reset_index(drop=True))
    got = ols("y ~ x + g", Copies(frames, TAGS)).marginal_effects().set_index("term")
    assert np.isnan(got.loc["g[c - a]", "estimate"])
    assert np.isfinite(got.loc["g[b - a]", "std.error"])


@pytest.mark.usefixtures("engine")
def test_both_engines_pool_the_same():
    result = fit_copies("yes ~ x * g + C(code) + np.exp(x / 9)", RELEASE, smf.logit)
    assert result.terms[0] == "Intercept"
    effects = [f.llf for f in result.fits]
    direct = [sm.Logit(f.model.endog, f.model.exog).fit(disp=0).llf for f in result.fits]
    np.testing.assert_allclose(effects, direct)
    tests = result.anova()
    assert tests.loc["x:g", "df1"] == 2
    assert tests.loc["C(code)", "df1"] == 2
