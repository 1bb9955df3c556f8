"""Fits by sums over blocks are those of statsmodels, to 1e-10, or are left to it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.analysis import fitting, sums
from pysynthdp.analysis.fitted_copies import fit_frames, read_analysis
from pysynthdp.analysis.sums import design, linear, sandwich, triangle
from pysynthdp.analysis.sums.fitted import SumsFit

FAMILIES = sm.families
RESPONSES = {"Gaussian": "y", "Binomial": "d", "Poisson": "c", "Gamma": "p", "InverseGaussian": "p"}


def table(n: int = 3000) -> pd.DataFrame:
    """Numbers, levels of which one never occurs, truths, missing cells, clusters, weights."""
    rng = np.random.default_rng(1)
    g = pd.Categorical.from_codes(rng.integers(0, 4, n), list("abcde"))
    frame = pd.DataFrame(
        {
            "x": rng.normal(10, 3, n),
            "z": rng.exponential(size=n),
            "year": rng.integers(1990, 2020, n),
            "b": rng.random(n) < 0.3,
            "g": g,
            "h": rng.choice(["u", "v", "w"], n),
            "k": rng.integers(0, 4, n),
            "w": rng.random(n) + 0.1,
            "cl": rng.integers(0, 90, n),
        }
    )
    frame["y"] = frame.x - frame.z + 0.3 * (frame.g == "b") + rng.normal(size=n) * (1 + frame.z)
    frame["c"] = rng.poisson(np.exp(0.1 * frame.z + 0.2 * frame.b))
    frame["d"] = (rng.random(n) < 1 / (1 + np.exp(0.2 * frame.b - 0.4 * frame.z))).astype(int)
    frame["p"] = rng.gamma(2, 1 / (0.5 + 0.3 * frame.z))
    frame.loc[::17, "x"] = np.nan
    frame.loc[::31, "g"] = None
    return frame


FRAME = table()


def fits_of(frames, formula, model, options, fit_options, rows):
    """Fit frames, from so many rows on by sums."""
    asked = read_analysis(formula, list(frames[0]), model, options, fit_options, {})
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the inverse link of a Gamma has no bounds, says statsmodels
        patch.setattr(sums, "FROM_ROWS", rows)
        return fit_frames(asked, frames)[0]


def compare(formula, model=smf.ols, options=None, fit_options=None, frame=FRAME, rows=None):
    """Fit two copies both ways; give whether sums were taken and the largest difference."""
    frames = [frame, frame.iloc[: len(frame) * 2 // 3].reset_index(drop=True)]
    given = (formula, model, options or {}, fit_options or {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design, "ROWS", rows or 617)
        ours = fits_of(frames, *given, 0)
    theirs = fits_of(frames, *given, 10**9)
    far = []
    for one, two in zip(ours, theirs, strict=True):
        assert list(one.params.index) == list(two.params.index)
        assert (one.nobs, one.df_resid, one.use_t) == (two.nobs, two.df_resid, two.use_t)
        cov = np.asarray(two.cov_params())
        se = np.sqrt(np.diagonal(cov))
        far += list(np.abs(one.params - two.params) / np.maximum(np.abs(two.params), se))
        far += list((np.abs(np.asarray(one.cov_params()) - cov) / np.outer(se, se)).ravel())
        far.append(abs(one.scale / two.scale - 1))
    return all(isinstance(one, SumsFit) for one in ours), max(far)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ x + z",
        "y ~ x*g",
        "y ~ x + C(k)",
        "y ~ 0 + g + x",
        "y ~ np.log(z) + I(x**2) + b",
        "y ~ g:h + x",
        "y ~ bs(x, df=4) + h",
        "y ~ year",
        "np.log(z) ~ x*h*b",
        "y ~ pd.qcut(x, 3)",
        "y ~ center(x) + C(h, Sum)",
        "y ~ 1",
        "y ~ x - 1",
        "y ~ I(x > 3)",
        "y ~ C(g, Treatment('c'))*z + x:z",
        "y ~ np.log(x - 5)",
        "I(y > 3) ~ x + Q('z')",
    ],
)
def test_least_squares_are_those_of_statsmodels(formula):
    by_sums, far = compare(formula)
    assert by_sums
    assert far < 1e-10


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "cluster", "uncorrected", "t"])
@pytest.mark.parametrize("model", ["ols", "wls", "logit", "poisson", "gamma"])
def test_covariances_are_those_of_statsmodels(kind, model):
    grouped = {"cov_type": "cluster", "cov_kwds": {"groups": "cl"}}
    asked = {
        "cluster": grouped,
        "uncorrected": {"cov_type": "cluster", "cov_kwds": {"groups": "h", "use_correction": False}},
        "t": {**grouped, "use_t": True},
    }.get(kind, {"cov_type": kind})
    formula, maker, options = {
        "ols": ("y ~ x*g + z", smf.ols, {}),
        "wls": ("y ~ x + g", smf.wls, {"weights": "w"}),
        "logit": ("d ~ x + g", smf.logit, {}),
        "poisson": ("c ~ x + g", smf.glm, {"family": FAMILIES.Poisson()}),
        "gamma": ("p ~ z + g", smf.glm, {"family": FAMILIES.Gamma()}),
    }[model]
    by_sums, far = compare(formula, maker, options, asked)
    assert by_sums
    assert far < 1e-10


@pytest.mark.parametrize(
    ("family", "response", "beside"),
    [
        (family, response, beside)
        for family, response in RESPONSES.items()
        for beside in ({}, {"var_weights": "w"}, {"offset": "w"})
        if family != "InverseGaussian" or "offset" not in beside  # of which statsmodels itself has no fit
    ],
)
def test_canonical_models_are_those_of_statsmodels(family, response, beside):
    given = {"family": getattr(FAMILIES, family)(), **beside}
    by_sums, far = compare(f"{response} ~ z + g + b", smf.glm, given)
    assert by_sums
    assert far < 1e-10


def test_an_exposure_and_newton_are_those_of_statsmodels():
    for given in (
        ("c ~ z + g", smf.glm, {"family": FAMILIES.Poisson(), "exposure": "w"}),
        ("d ~ z*g + b", smf.logit),
    ):
        by_sums, far = compare(*given)
        assert by_sums
        assert far < 1e-10


@pytest.mark.parametrize("rows", [7, 100, 2999, 3000, 3001])
def test_blocks_of_any_size_say_the_same(rows):
    by_sums, far = compare("y ~ x*g + h", rows=rows)
    assert by_sums
    assert far < 1e-10


@pytest.mark.parametrize(
    ("formula", "model", "options", "fit_options"),
    [
        ("y ~ I(x - x.mean())", smf.ols, {}, {}),  # needs all rows
        ("y ~ I(z**0 * x**0)", smf.ols, {}, {}),
        ("y ~ x.fillna(0)", smf.ols, {}, {}),
        ("y ~ year + I(year**2) + I(year**3)", smf.ols, {}, {}),  # rank is a matter of rules
        ("d ~ x", smf.glm, {"family": FAMILIES.Binomial(FAMILIES.links.Probit())}, {}),
        ("c ~ x", smf.glm, {"family": FAMILIES.Poisson(), "freq_weights": "k"}, {}),
        ("c ~ x", smf.poisson, {}, {}),
        ("y ~ x", smf.ols, {}, {"cov_type": "HAC", "cov_kwds": {"maxlags": 1}}),
        ("d ~ x", smf.logit, {}, {"method": "bfgs"}),
    ],
)
def test_what_sums_cannot_promise_is_left_to_statsmodels(formula, model, options, fit_options):
    frame = FRAME.assign(k=FRAME.k + 1)
    assert compare(formula, model, options, fit_options, frame) == (False, 0.0)


def test_an_outcome_that_may_be_separated_is_left_to_statsmodels():
    frame = FRAME.assign(d=np.where(FRAME.h == "u", 1, FRAME.d))
    assert not compare("d ~ h", smf.logit, frame=frame)[0]
    far_apart = FRAME.assign(x=FRAME.x * 3, d=(FRAME.x * 3 + FRAME.z > 30).astype(int) ^ (FRAME.w > 1.09))
    assert compare("d ~ z + b", smf.logit, frame=far_apart)[0]


def test_a_level_that_a_copy_lacks_costs_its_own_term_alone():
    frames = [FRAME, FRAME.assign(g=FRAME.g.where(FRAME.g != "c"))]
    ours, theirs = (fits_of(frames, "y ~ x + g", smf.ols, {}, {}, rows) for rows in (0, 10**9))
    assert "g[T.c]" not in ours[1].params
    np.testing.assert_allclose(ours[1].params, theirs[1].params, rtol=1e-10)
    assert all(isinstance(one, SumsFit) for one in ours)


def test_near_dependent_columns_are_rotated_and_keep_their_digits(monkeypatch):
    rng = np.random.default_rng(2)
    base = np.round(rng.normal(size=4000) * 2**20) / 2**20
    near = base + np.round(rng.normal(size=4000) * 2**10) / 2**30
    frame = pd.DataFrame({"x": base, "near": near, "y": base + rng.normal(size=4000)})
    ours = fits_of([frame], "y ~ x + near", smf.ols, {}, {}, 0)[0]
    assert isinstance(ours, SumsFit)
    exact = np.column_stack([np.ones(4000), base, near - base])  # the same space, well apart
    beta = np.linalg.lstsq(exact, frame["y"].to_numpy(), rcond=None)[0]
    truth = np.array([beta[0], beta[1] - beta[2], beta[2]])
    np.testing.assert_allclose(ours.params, truth, rtol=1e-8)
    monkeypatch.setattr(triangle, "_COARSE", 0.0)  # without rotations the digits are gone
    coarse = fits_of([frame], "y ~ x + near", smf.ols, {}, {}, 0)[0]
    assert np.max(np.abs(coarse.params / truth - 1)) > 5 * np.max(np.abs(ours.params / truth - 1))


def unmoved(X, *_):
    """Take nothing off."""
    return triangle.Shift(np.zeros(len(X)), 0.0, None)


def test_a_shift_is_what_keeps_the_digits_of_years(monkeypatch):
    assert compare("y ~ year")[1] < 1e-11
    with monkeypatch.context() as patch:
        patch.setattr(linear.Shift, "by", unmoved)
        patch.setattr(triangle, "_COARSE", 0.0)
        assert compare("y ~ year")[1] > 1e-11


def test_the_tests_would_see_a_dropped_correction(monkeypatch):
    def uncorrected(robust, *given, **more):
        plain = (
            sandwich.Robust("HC0") if robust.kind != "cluster" else sandwich.Robust("cluster", "cl", False)
        )
        return covariance(plain, *given, **more)

    covariance = sandwich.robust_covariance
    monkeypatch.setattr(linear, "robust_covariance", uncorrected)
    for kind in (
        {"cov_type": "HC1"},
        {"cov_type": "HC3"},
        {"cov_type": "cluster", "cov_kwds": {"groups": "cl"}},
    ):
        assert compare("y ~ x + g", fit_options=kind)[1] > 1e-6


@pytest.mark.parametrize("name", ["fair", "anes96", "randhie"])
def test_real_tables_give_what_statsmodels_gives(name):
    frame = getattr(sm.datasets, name).load_pandas().data.iloc[:6000].reset_index(drop=True)
    response, *rest = [str(column) for column in frame.columns[::-1]][:6]
    frame = frame.rename(columns=str)
    by_sums, far = compare(
        f"Q({response!r}) ~ " + " + ".join(f"Q({column!r})" for column in rest), frame=frame
    )
    assert by_sums
    assert far < 1e-10


def drawn(n=700):
    """Give a release of three copies."""
    frame = table(n)[["y", "x", "g", "h", "d", "cl"]].dropna().reset_index(drop=True)
    frame["g"] = frame["g"].cat.remove_unused_categories()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdp.synthesize(frame, m=3, rng=1)


RELEASE = drawn()


@pytest.mark.parametrize("formula", ["y ~ x + g", "y ~ x*h"])
def test_a_pooled_table_has_all_that_it_had(formula, monkeypatch):
    tables = []
    for rows in (0, 10**9):
        monkeypatch.setattr(sums, "FROM_ROWS", rows)
        done = sdp.ols(formula, RELEASE)
        new = pd.DataFrame({"x": [8.0, 9.0], "g": ["a", "b"], "h": ["u", "w"]})
        tables.append(
            (
                str(done.summary()),
                done.notes,
                done.flags,
                done.anova(),
                done.predict(new),
                done.marginal_effects(),
                done.lr_test("y ~ x"),
            )
        )
        assert isinstance(done.fits[0], SumsFit) == (rows == 0)
        assert np.isfinite(done.fits[0].rsquared)  # what sums do not have, statsmodels computes
    ours, theirs = tables
    assert ours[:3] == theirs[:3]
    for one, two in zip(ours[3:6], theirs[3:6], strict=True):
        rest = [name for name in one.columns if name != "df"]
        pd.testing.assert_frame_equal(one[rest], two[rest], rtol=1e-7)
        if "df" in one:  # (1 + ubar / b)^2 where b is small: what rounding leaves of b, twice over
            np.testing.assert_allclose(one["df"], two["df"], rtol=1e-5)
    assert ours[6].stat == pytest.approx(theirs[6].stat, rel=1e-7)


@pytest.mark.parametrize("codes", ["missing", "keep"])
def test_a_pooled_table_and_its_predictions_never_ask_statsmodels(codes, monkeypatch):
    def asked(*_):
        raise AssertionError

    monkeypatch.setattr(sums, "FROM_ROWS", 0)
    monkeypatch.setattr(fitting, "_by_library", asked)
    given = {"codes": codes}
    tables = [
        sdp.ols("y ~ x + g", RELEASE, cov_type="HC3", **given),
        sdp.glm("d ~ x + h", RELEASE, family="binomial", **given),
        sdp.logit("d ~ x", RELEASE, cov_type="cluster", cov_kwds={"groups": "cl"}, **given),
    ]
    new = pd.DataFrame({"x": [8.0], "g": ["a"], "h": ["u"]})
    for done in tables:
        assert done.summary()
        assert len(done.predict(new)) == 1
        assert len(done.marginal_effects())
        assert done.wald_test("x").df1 == 1


def test_pooling_fits_by_hand_sees_the_copies(monkeypatch):
    monkeypatch.setattr(sums, "FROM_ROWS", 0)
    done = sdp.logit("d ~ x + g", RELEASE, n_jobs=2)
    again = sdp.pool(done.fits, release=RELEASE)
    np.testing.assert_array_equal(again.params, done.params)
    with pytest.raises(sdp.FitError, match="was made from copy"):
        sdp.pool(done.fits[::-1], release=RELEASE)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_release_is_analysed_from_its_files(file_format, tmp_path, monkeypatch):
    folder = RELEASE.save(tmp_path / "out", format=file_format)
    opened, loaded = sdp.SyntheticRelease.open(folder), sdp.SyntheticRelease.load(folder)
    read = []
    blocks = type(opened[0]).blocks
    monkeypatch.setattr(
        type(opened[0]), "blocks", lambda self, *a, **k: read.append(a) or blocks(self, *a, **k)
    )
    for rows in (0, 10**9):
        monkeypatch.setattr(sums, "FROM_ROWS", rows)
        for ask, columns in (
            (lambda r: sdp.ols("y ~ x*g", r, cov_type="cluster", cov_kwds={"groups": "cl"}), "cl g x y"),
            (lambda r: sdp.logit("d ~ x + h", r), "d h x"),
        ):
            read.clear()
            assert str(ask(opened).summary()) == str(ask(loaded).summary())
            assert {name for names in read if names for name in names[0]} == set(columns.split())
    mean = sdp.analysis.mean_of("y")
    assert str(sdp.analysis.apply(mean, opened).summary()) == str(sdp.analysis.apply(mean, loaded).summary())


def test_a_file_that_changes_after_it_was_opened_is_refused(tmp_path):
    folder = RELEASE.save(tmp_path / "out")
    opened = sdp.SyntheticRelease.open(folder)
    path = opened[1].path
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(sdp.ReleaseError, match="changed after the folder was opened"):
        sdp.ols("y ~ x", opened)
