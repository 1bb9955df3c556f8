"""The choice of a rule by tags, refusals, and the wrappers, against statsmodels fits pooled by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pysynthdp.analysis import ReleaseTags, apply, combine, fit_copies, glm, logit, ols, pool
from pysynthdp.analysis.choose import model_columns
from pysynthdp.analysis.estimands import gini_of, mean_of, quantile_of, share_of
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.base.errors import CombiningRuleError, FitError, PysynthdpWarning


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def table(seed, n=240):
    rng = np.random.default_rng(seed)
    g = pd.Categorical(rng.choice(list("abc"), n), categories=list("abcd"))
    x, hh = rng.normal(size=n), np.arange(n) // 6
    y = 1 + x + 0.5 * (g == "b") + rng.normal(size=n) + rng.normal(size=n // 6)[hh]
    return pd.DataFrame(
        {
            "y": y,
            "x": x,
            "g": g,
            "s": rng.choice(["u", "v"], n),
            "yes": pd.Categorical(np.where(y > 1, "yes", "no"), categories=["no", "yes"]),
            "hh": hh,
            "count": rng.negative_binomial(3, 3 / (3 + np.exp(0.3 * x))),
            "region": pd.Categorical(rng.choice(["n", "s", "w"], n)),
            "level": pd.cut(y, [-99, 0, 1, 2, 99], labels=["l", "m", "h", "t"]),
            "w": rng.uniform(0.5, 2, n),
            "time": rng.exponential(np.exp(-0.5 * x)),
        }
    )


FRAMES = tuple(table(seed) for seed in range(5))


def tags(**changes):
    base = {
        "kind": "complete",
        "m": 5,
        "n_syn": 240,
        "n_org": 160,
        "synthesised": frozenset(FRAMES[0].columns),
    }
    return ReleaseTags(**{**base, **changes})


def release(frames=FRAMES, **changes):
    return Copies(frames, tags(m=len(frames), **changes))


def one(**changes):
    return release(FRAMES[:1], **changes)


def nest(**changes):
    frames = tuple(table(seed) for seed in range(10))
    labels = tuple("abcde"[i // 2] for i in range(10))
    return release(frames, nests=labels, **{"n_org": 240, **changes})


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (release(), "partial_size_adjusted"),
        (release(parameters="drawn"), "partial_size_adjusted"),
        (release(kind="partial", synthesised=frozenset("y"), kept=frozenset("x")), "partial_size_adjusted"),
        (release(sampling="subsample"), "partial_size_adjusted"),
        (release(sampling="census"), "census_fresh_samples"),
        (release(noise="per_copy_fresh"), "partial_size_adjusted"),
        (release(kind="imputed", synthesised=frozenset()), "missing_rubin1987"),
        (one(), "raab_simple"),
        (one(parameters="drawn"), "raab_proper"),
        (one(kind="partial", synthesised=frozenset("xy"), kept=frozenset("g")), "raab_simple"),
        (nest(), "missing_then_partial_reiter2004"),
        (nest(n_org=300), "missing_then_partial_size_adjusted"),
        (nest(nesting="two_stage"), "two_stage_partial"),
        (release(nesting="pseudo_population"), "pseudo_population_single"),
        (nest(nesting="pseudo_population"), "pseudo_population_nested"),
    ],
)
def test_the_tags_choose_the_rule(data, rule):
    fit = ols("y ~ x", data)
    assert fit.rule == rule
    assert bool(fit.rules().loc[rule, "applies"])
    assert fit.why().count(". ") == 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (one(kind="partial", synthesised=frozenset("y"), kept=frozenset("x")), "real variable"),
        (one(kept=frozenset("x"), synthesised=frozenset("y")), "real variable"),
        (release(noise="shared"), "noise_var"),
        (release(noise="per_copy_from_one"), "noise_floored"),
        (release(n_org=None), "n_org"),
        (release(nesting="pseudo_population", draws="even"), "are drawn at fitted parameters"),
        (release(nesting="pseudo_population", parameters="drawn"), "are drawn at fitted parameters"),
        (one(nesting="pseudo_population"), "one of each population"),
    ],
)
def test_auto_refuses_and_names_the_way_out(data, says):
    with pytest.raises(CombiningRuleError, match=says):
        ols("y ~ x", data)


def test_rules_that_ignore_noise_are_refused_by_name():
    ignoring = {name for name in RULES if name != "shared_noise_added"}
    for name in ignoring:
        with pytest.raises(CombiningRuleError, match="not valid here"):
            ols("y ~ x", release(noise="shared"), rule=name, noise_var=0.01)


def test_shared_noise_is_added():
    v = np.array([0.01, 0.02])
    fit = ols("y ~ x", release(noise="shared"), noise_var=v)
    plain = ols("y ~ x", release())
    np.testing.assert_allclose(fit.T - plain.T, v, rtol=1e-10)
    np.testing.assert_allclose(np.diag(fit.T_cov) - np.diag(plain.T_cov), v, rtol=1e-10)
    assert "its variance is added" in str(fit)


def test_a_rule_by_name_is_checked_and_names_a_valid_one():
    with pytest.raises(CombiningRuleError, match="partial_size_adjusted"):
        ols("y ~ x", release(), rule="full_rrr2003")
    with pytest.raises(CombiningRuleError, match="n_syn = n_org"):
        ols("y ~ x", release(), rule="T_p")
    with pytest.raises(CombiningRuleError, match="partial_size_adjusted"):
        ols("y ~ x", release(), rule="no_such_rule")


def test_t_f_by_name_warns_with_few_copies():
    with pytest.warns(PysynthdpWarning, match="20 copies"):
        fit = ols("y ~ x", release(parameters="drawn"), rule="T_f")
    assert fit.rule == "full_rrr2003"


def test_imputed_data_without_nest_labels_warns():
    with pytest.warns(PysynthdpWarning, match="labelled"):
        assert ols("y ~ x", release(nesting="imputed")).rule == "partial_size_adjusted"


def test_few_copies_are_remarked():
    assert "uncertain" in " ".join(ols("y ~ x", release(FRAMES[:3])).notes)


def test_partly_replaced_rows_are_refused_or_selected():
    with pytest.raises(FitError, match="replaced rows"):
        ols("y ~ x", release(rows_replaced="part"))
    fits = [smf.ols("y ~ x", frame).fit() for frame in FRAMES]
    with pytest.raises(CombiningRuleError, match="replaced rows"):
        pool(fits, release=release(rows_replaced="part"))
    marked = tuple(frame.assign(new=np.arange(240) % 2 == 0) for frame in FRAMES)
    got = ols("y ~ x", release(marked, rows_replaced="new"))
    want = pool([smf.ols("y ~ x", f[f.new]).fit() for f in marked], release=release())
    np.testing.assert_allclose(got.T, want.T)


def test_pooling_equals_the_formula_on_statsmodels_fits():
    fits = [smf.ols("y ~ x + g", f.assign(g=f.g.astype(str))).fit() for f in FRAMES]
    q = np.array([fit.params for fit in fits])
    U = np.array([fit.cov_params() for fit in fits])
    got = ols("y ~ x + g", release())
    f, B = 240 / 160, np.cov(q, rowvar=False)
    T = f * U.mean(0) + B / 5
    np.testing.assert_allclose(got.params, q.mean(0), rtol=1e-12)
    np.testing.assert_allclose(got.cov_params(), T, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(got.bse, np.sqrt(np.diag(T)), rtol=1e-10)
    df = 4 * (1 + f * np.diag(U.mean(0)) / (np.diag(B) / 5)) ** 2
    np.testing.assert_allclose(got.df, df, rtol=1e-9)
    np.testing.assert_allclose(got.pvalues, 2 * stats.t.sf(abs(got.params) / got.bse, df), rtol=1e-9)
    pd.testing.assert_frame_equal(got.b_cov, pd.DataFrame(B, got.terms, got.terms))


def test_wald_test_of_a_factor_is_the_partial_form():
    got = ols("y ~ x + C(g)", release()).wald_test("C(g)")
    fits = [smf.ols("y ~ x + C(g)", f.assign(g=f.g.astype(str))).fit() for f in FRAMES]
    names = ["C(g)[T.b]", "C(g)[T.c]"]
    q = np.array([fit.params[names] for fit in fits])
    U = 1.5 * np.mean([fit.cov_params().loc[names, names] for fit in fits], axis=0)
    r = np.trace(np.cov(q, rowvar=False) @ np.linalg.inv(U)) / 2 / 5
    stat = q.mean(0) @ np.linalg.solve(U, q.mean(0)) / (2 * (1 + r))
    df2 = 4 + 4 * (1 + 0.75 / r) ** 2
    assert (got.stat, got.df1, got.df2) == pytest.approx((stat, 2, df2), rel=1e-9)
    assert got.pvalue == pytest.approx(stats.f.sf(stat, 2, df2), rel=1e-9)


def test_a_wald_test_of_one_coefficient_is_its_t_squared():
    fit = ols("y ~ x + g", release())
    assert fit.wald_test("x").stat == pytest.approx(fit.tvalues["x"] ** 2)
    assert fit.wald_test("x = 1").stat == pytest.approx(((fit.params["x"] - 1) / fit.bse["x"]) ** 2)
    same = fit.wald_test("g[T.b] = g[T.c]")
    matrix = fit.wald_test([[0, 1, -1, 0]])
    assert same.stat == pytest.approx(matrix.stat)
    with pytest.raises(CombiningRuleError, match="no term"):
        fit.wald_test(["nothing"])


def test_likelihood_ratio_and_wald_agree_for_large_tables():
    large = release(tuple(table(seed, 6000) for seed in range(5)))
    fit = logit("yes ~ x + g", large)
    wald, ratio = fit.wald_test("g"), fit.lr_test("yes ~ x")
    assert ratio.name == "lr_partial_reiter2005"
    assert ratio.stat == pytest.approx(wald.stat, rel=0.02)
    assert ratio.r == pytest.approx(wald.r, rel=0.1)
    small = logit("yes ~ x", large)
    assert fit.lr_test(small).stat == pytest.approx(ratio.stat)
    assert ols("y ~ x + g", release()).lr_test("y ~ x").stat > 0
    with pytest.raises(CombiningRuleError, match="smaller"):
        small.lr_test("yes ~ x + g")


def test_anova_has_one_line_a_term():
    done = ols("y ~ x * g + C(s)", release()).anova()
    assert sorted(done.index) == ["C(s)", "g", "x", "x:g"]
    assert done.loc["x:g", "df1"] == 2


MODELS = {
    "wls": ("y ~ x + s", smf.wls, {"weights": "w"}, 3),
    "robust": ("y ~ x", smf.ols, {"cov_type": "HC3"}, 2),
    "cluster": ("y ~ x", smf.ols, {"cov_type": "cluster", "cov_kwds": {"groups": "hh"}}, 2),
    "probit": ("yes ~ x", smf.probit, {}, 2),
    "poisson": ("count ~ x + s", smf.poisson, {}, 3),
    "negative binomial": ("count ~ x", smf.negativebinomial, {}, 3),
    "glm": ("count ~ x", smf.glm, {"family": sm.families.Poisson()}, 2),
    "multinomial": ("region ~ x + s", smf.mnlogit, {}, 6),
    "ordinal": ("level ~ x", OrderedModel, {"distr": "logit"}, 4),
    "quantile": ("y ~ x", smf.quantreg, {"q": 0.25}, 2),
    "robust linear": ("y ~ x", smf.rlm, {}, 2),
    "gee": ("y ~ x", smf.gee, {"groups": "hh"}, 2),
    "mixed": ("y ~ x", smf.mixedlm, {"groups": "hh"}, 2),
    "hazards": ("time ~ x", smf.phreg, {}, 1),
    "splines": ("y ~ bs(x, df=4)", smf.ols, {}, 5),
    "interaction": ("y ~ x * g", smf.ols, {}, 6),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_any_statsmodels_fit(name):
    formula, model, options, size = MODELS[name]
    if name == "splines":
        frames = tuple(f.assign(x=f.x.clip(-2, 2)) for f in FRAMES)
        formula = "y ~ bs(x, df=4, lower_bound=-2, upper_bound=2)"
    else:
        frames = FRAMES
    one_by_one = fit_copies(formula, release(frames), model, **options)
    threads = fit_copies(formula, release(frames), model, n_jobs=2, **options)
    assert len(one_by_one.params) == size
    assert (one_by_one.bse > 0).all()
    pd.testing.assert_series_equal(one_by_one.params, threads.params)


def test_ordinal_thresholds_are_in_order_with_delta_method_variances():
    fit = fit_copies("level ~ x", release(), OrderedModel, distr="logit")
    assert fit.params[["l/m", "m/h", "h/t"]].is_monotonic_increasing
    raw = fit.fits[0]
    step = 1e-5
    jacobian = np.column_stack(
        [
            (
                raw.model.transform_threshold_params(raw.params + d)[1:-1]
                - raw.model.transform_threshold_params(raw.params - d)[1:-1]
            )
            / (2 * step)
            for d in step * np.eye(4)
        ]
    )
    want = jacobian @ np.asarray(raw.cov_params()) @ jacobian.T
    np.testing.assert_allclose(fit.estimates[0].cov[1:, 1:], want, rtol=1e-6)


def test_multinomial_terms_carry_the_level():
    fit = fit_copies("region ~ x", release(), smf.mnlogit)
    assert fit.terms == ("s:Intercept", "s:x", "w:Intercept", "w:x")
    assert fit.wald_test("x").df1 == 2


def test_logit_codes_the_second_level_as_one():
    codes = [f.assign(yes=(f.yes == "yes").astype(float)) for f in FRAMES]
    want = np.mean([smf.logit("yes ~ x", f).fit(disp=0).params for f in codes], axis=0)
    np.testing.assert_allclose(logit("yes ~ x", release()).params, want, rtol=1e-8)
    np.testing.assert_allclose(glm("yes ~ x", release(), family="binomial").params, want, rtol=1e-6)


def test_an_absent_level_keeps_the_coding_and_is_reported():
    frames = (*FRAMES[:4], FRAMES[4][FRAMES[4].g != "c"])
    fit = ols("y ~ x + g", release(frames))
    assert list(fit.params.index) == ["Intercept", "g[T.b]", "g[T.c]", "x"]
    assert np.isnan(fit.params["g[T.c]"])
    assert np.isfinite(fit.bse[["Intercept", "g[T.b]", "x"]]).all()
    assert "g[T.c]" in str(fit)
    assert "copy 5" in str(fit)
    with pytest.warns(PysynthdpWarning, match=r"g\[T.c\]"):
        test = fit.wald_test("g")
    assert (test.df1, test.left_out) == (1, ("g[T.c]",))
    assert test.pvalue == pytest.approx(fit.wald_test(["g[T.b]"]).pvalue)
    with pytest.raises(CombiningRuleError, match="every copy"):
        fit.wald_test("g[T.c]")


def test_an_absent_reference_level_takes_its_terms_along_and_leaves_the_rest():
    frames = (*FRAMES[:4], FRAMES[4][FRAMES[4].g != "a"])
    done = ols("y ~ x + g", release(frames))
    assert done.params[done.params.isna()].index.tolist() == ["Intercept", "g[T.b]", "g[T.c]"]
    assert np.isfinite(done.params["x"])
    assert any("copy 5" in note for note in done.notes)
    with pytest.raises(FitError, match=r"copy 5.*merge rare levels"):
        logit("I(y > 0) ~ x + g", release(frames))


def test_an_empty_cell_of_an_interaction_is_refused_by_name():
    frames = (*FRAMES[:4], FRAMES[4][(FRAMES[4].g != "c") | (FRAMES[4].s != "v")])
    with pytest.raises(FitError, match=r"copy 5: .*g\[T.c\].*cannot be estimated"):
        ols("y ~ g * s", release(frames))


def test_a_level_of_no_copy_is_left_out():
    assert "g[T.d]" not in ols("y ~ g", release()).terms


def test_a_slip_in_a_formula_names_the_column_and_the_nearest():
    with pytest.raises(FitError, match=r"'coutn', which is no column of the copies; did you mean 'count'\?"):
        ols("y ~ coutn", release())
    with pytest.raises(FitError, match="'nothing', which is no column of the copies; columns are "):
        ols("y ~ nothing", release())


def test_a_failing_copy_is_named_without_data():
    broken = FRAMES[2].assign(count=-FRAMES[2]["count"] - 1)
    with pytest.raises(FitError, match=r"copy 3.*has no fit|copy 3.*finite"), np.errstate(all="ignore"):
        glm("np.log(count + 1) ~ x", release((*FRAMES[:2], broken, *FRAMES[3:])))
    with pytest.raises(FitError, match="collinear"):
        ols("y ~ x + I(2 * x)", release())


def test_negative_variance_gives_no_interval_but_a_reason():
    with pytest.warns(PysynthdpWarning):
        fit = ols("y ~ x + g", release(tuple(FRAMES[0] for _ in range(5)), parameters="drawn"), rule="T_f")
    assert (fit.T < 0).all()
    assert fit.bse.isna().all()
    assert fit.conf_int().isna().all().all()
    assert fit.pvalues.isna().all()
    assert "make more copies" in str(fit.summary())


def test_missing_rows_are_dropped_as_statsmodels_does():
    holes = tuple(f.assign(x=f.x.where(f.index > 20)) for f in FRAMES)
    want = np.mean([smf.ols("y ~ x", f).fit().params for f in holes], axis=0)
    np.testing.assert_allclose(ols("y ~ x", release(holes)).params, want, rtol=1e-12)


def test_nullable_and_text_columns_are_understood():
    odd = tuple(
        f.assign(x=f.x.astype("Float64"), s=f.s.astype("string"), t=(f.x > 0).astype("boolean"))
        for f in FRAMES
    )
    odd = release(odd, synthesised=frozenset(odd[0].columns))
    assert ols("y ~ x + s + t", odd).terms == ("Intercept", "s[T.v]", "t[T.True]", "x")


def test_frames_latex_and_markdown():
    fit = ols("y ~ x + g", release())
    frame = fit.to_frame()
    wanted = ["term", "estimate", "std.error", "statistic", "df", "p.value", "conf.low", "conf.high"]
    assert list(frame.columns) == wanted
    np.testing.assert_allclose(frame[["conf.low", "conf.high"]], fit.conf_int())
    assert fit.to_markdown().count("\n") == len(fit.terms) + 3
    assert "\\begin{tabular}" in fit.to_latex()
    assert "<table" in fit._repr_html_()
    assert "not published" not in str(fit.summary(details=True))
    assert "b share" in fit.summary(details=True).as_text()


def test_predictions_pool_means_and_variances():
    fit = ols("y ~ x + g", release())
    new = FRAMES[0].head(3)
    got = fit.predict(new)
    parts = [f.get_prediction(new.assign(g=new.g.astype(object))) for f in fit.fits]
    q = np.array([p.predicted_mean for p in parts])
    u = np.array([p.se_mean**2 for p in parts])
    want = combine(q, u, n_syn=240, n_org=160)
    np.testing.assert_allclose(got["mean"], want.qbar)
    np.testing.assert_allclose(got["mean_se"], want.se)
    with pytest.raises(FitError, match="copy 1"):
        fit.predict(new.drop(columns="x"))


def test_apply_pools_estimands_by_subgroup():
    got = apply(mean_of("y", by="g"), release())
    q = np.array([f[f.g == "b"].y.mean() for f in FRAMES])
    u = np.array([f[f.g == "b"].y.var() / (f.g == "b").sum() for f in FRAMES])
    want = combine(q, u, n_syn=240, n_org=160)
    assert got.T["mean(y)[g=b]"] == pytest.approx(float(want.T))
    assert apply(share_of("yes", "yes"), release()).params.iloc[0] == pytest.approx(
        np.mean([(f.yes == "yes").mean() for f in FRAMES])
    )
    with pytest.raises(FitError, match="copy 1"):
        apply(lambda frame: frame["nothing"], release())


@pytest.mark.statistical
def test_variances_of_quantile_and_gini_match_their_sampling_spread():
    # 1,200 samples of a lognormal, n = 500. When right, variance and spread differ by a quarter with p < 1e-9
    # (chi-square, 1,199 df); a variance that leaves out the mean's part of the Gini is off by 2.
    rng = np.random.default_rng(42)
    samples = [pd.DataFrame({"x": rng.lognormal(0, 0.8, 500)}) for _ in range(1200)]
    for estimand in (quantile_of("x", 0.8), gini_of("x"), mean_of("x")):
        done = [estimand(sample) for sample in samples]
        spread = np.var([d.values[0] for d in done])  # noqa: PD011 -- not pandas
        assert np.mean([d.cov[0, 0] for d in done]) == pytest.approx(spread, rel=0.25)


def test_gini_of_known_tables():
    even = pd.DataFrame({"x": np.ones(50)})
    assert gini_of("x")(even).values[0] == pytest.approx(0)  # noqa: PD011 -- not pandas
    line = pd.DataFrame({"x": np.arange(1, 1001.0)})
    assert gini_of("x")(line).values[0] == pytest.approx(1 / 3, abs=1e-3)  # noqa: PD011 -- not pandas


@pytest.mark.parametrize(
    ("formula", "columns"),
    [
        ("y ~ x + C(g)", {"y", "x", "g"}),
        ("np.log(y) ~ bs(x, df=4):g", {"y", "x", "g"}),
        ("Q('a b') ~ x", {"a b", "x"}),
        ("`a b` ~ x", {"a b", "x"}),
        ("y ~ .", {"y", "x", "g", "a b", "log"}),
        (None, {"y", "x", "g", "a b", "log"}),
    ],
)
def test_columns_are_read_from_formulas(formula, columns):
    assert model_columns(formula, ["y", "x", "g", "a b", "log"]) == columns


def test_pairs_and_mismatched_fits():
    pairs = [(pd.Series({"a": 1.0, "b": 2.0}), [0.1, 0.2]), (pd.Series({"a": 1.1, "b": 2.2}), [0.1, 0.2])]
    fit = pool(pairs, n_syn=10, n_org=10)
    assert fit.terms == ("a", "b")
    with pytest.raises(CombiningRuleError, match="5 copies"):
        pool(pairs, release=release())
    with pytest.raises(FitError, match="copy 1"):
        pool([object()], release=None)


def test_forest_plot_needs_no_more_than_axes():
    plt = pytest.importorskip("matplotlib")
    plt.use("Agg")
    ax = ols("y ~ x + g", release()).plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["g[T.b]", "g[T.c]", "x"]
    plt.pyplot.close("all")


def test_biased_copies_give_estimates_without_an_interval():
    pooled = pool([([1.0], [0.1]), ([1.2], [0.1])], release=release(FRAMES[:2], bias="shrunk"))
    assert pooled.rule == "estimates_only"
    assert pooled.params.iloc[0] == pytest.approx(1.1)
    assert np.isnan(pooled.bse.iloc[0])
    assert np.isnan(pooled.conf_int().to_numpy()).all()
    assert "biased" in str(pooled.summary())
