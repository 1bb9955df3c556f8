"""A separated outcome costs its own terms only, in every family; sparse but healthy terms stand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pysynthdp.analysis import Estimates, fit_copies, glm, logit, pool
from pysynthdp.analysis.separation import lost_directions, lost_terms
from pysynthdp.base.errors import CombiningRuleError, PysynthdpWarning
from pysynthdp.tags import ReleaseTags
from tests.unit.analysis.test_declared_codes import Release

N = 300
M = 3
G = 'C(g, Treatment("north"))'
ISLAND = f"{G}[T.island]"


def copy(seed: int, *, separated: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    g = np.repeat(["north", "south", "island"], [180, 105, 15])
    x = rng.normal(size=N).round(2)
    yes = rng.random(N) < 1 / (1 + np.exp(0.7 - 0.5 * x))
    count = rng.negative_binomial(2, 2 / (2 + np.exp(0.3 + 0.3 * x)))
    level = (rng.gumbel(size=(N, 3)) + np.stack([0 * x, 0.5 * x, -0.3 * x], 1)).argmax(axis=1)
    rank = np.digitize(0.7 * x + rng.logistic(size=N), [-1, 1])
    yes[-2:], count[-2:], level[-3:], rank[-3:] = [True, False], [1, 0], [0, 1, 2], [0, 1, 2]
    if separated:
        island = g == "island"
        yes[island], count[island] = False, 0
        level[island & (level == 2)], rank[island] = 0, 0
    names = pd.Categorical(np.array(["lo", "mid", "hi"])[rank], ["lo", "mid", "hi"], ordered=True)
    return pd.DataFrame(
        {"g": g, "x": x, "yes": yes, "n": count, "kind": np.array(["a", "b", "c"])[level], "rank": names}
    ).assign(k=rng.integers(0, 40, N))


def release(*separated: int) -> Release:
    frames = tuple(copy(i, separated=i in separated) for i in range(M))
    tags = ReleaseTags(kind="complete", synthesised=frozenset(frames[0]), m=M, n_syn=N, n_org=N)
    return Release(frames, tags, schema=())


FITS = {
    "logit": lambda r: logit(f"yes ~ x + {G}", r),
    "probit": lambda r: fit_copies(f"yes ~ x + {G}", r, smf.probit),
    "binomial": lambda r: glm(f"yes ~ x + {G}", r, family="binomial"),
    "gee": lambda r: fit_copies(f"yes ~ x + {G}", r, smf.gee, groups="k", family=sm.families.Binomial()),
    "poisson": lambda r: fit_copies(f"n ~ x + {G}", r, smf.poisson),
    "poisson glm": lambda r: glm(f"n ~ x + {G}", r, family="poisson"),
    "negative binomial": lambda r: fit_copies(f"n ~ x + {G}", r, smf.negativebinomial, maxiter=200),
    "multinomial": lambda r: fit_copies(f"kind ~ x + {G}", r, smf.mnlogit),
    "ordinal": lambda r: fit_copies(f"rank ~ x + {G}", r, OrderedModel, distr="logit"),
}


@pytest.mark.parametrize("name", list(FITS))
@pytest.mark.parametrize("where", [(1,), (0, 1, 2)])
def test_the_separated_term_alone_is_lost(name, where):
    done = FITS[name](release(*where))
    lost = [f"c:{ISLAND}"] if name == "multinomial" else [ISLAND]
    assert list(done.params.index[done.params.isna()]) == lost
    assert np.isfinite(done.bse.drop(lost)).all()
    assert done.bse.drop(lost).max() < 1.5
    (note,) = [note for note in done.notes if "separated" in note]
    assert lost[0] in note
    assert f"copy {', '.join(str(i + 1) for i in where)}," in note


@pytest.mark.parametrize("name", list(FITS))
def test_a_term_with_one_event_stands(name):
    done = FITS[name](release())
    assert np.isfinite(done.params).all()
    assert not [note for note in done.notes if "separated" in note or "cannot" in note]


def test_the_other_terms_are_those_of_the_rows_left():
    frame = copy(1, separated=True)
    rest = frame[frame.g != "island"].assign(yes=lambda d: d.yes * 1.0)
    want = smf.logit("yes ~ x + C(g, Treatment('north'))", rest).fit(disp=False)
    tags = ReleaseTags(kind="complete", synthesised=frozenset(frame), m=1, n_syn=N, n_org=N)
    for fitted in (logit, lambda f, r: glm(f, r, family="binomial")):
        (found,) = fitted(f"yes ~ x + {G}", Release((frame,), tags, schema=())).estimates
        values = dict(zip(found.terms, found.values, strict=True))
        kept = np.isfinite(list(values.values()))
        np.testing.assert_allclose(np.array(list(values.values()))[kept], want.params, rtol=1e-5)
        np.testing.assert_allclose(np.diagonal(found.cov)[kept], np.diagonal(want.cov_params()), rtol=1e-4)


def test_a_separated_reference_level_loses_all_levels_but_not_the_slope():
    done = logit("yes ~ x + C(g)", release(1))
    assert list(done.params.index[done.params.notna()]) == ["x"]


@pytest.mark.parametrize("fitted", [logit, lambda f, r: glm(f, r, family="binomial")])
def test_complete_separation_by_a_number_loses_all_that_it_moves(fitted):
    frames = tuple(frame.assign(yes=frame.x > 0.1) for frame in release().copies)
    done = fitted("yes ~ x", Release(frames, release().tags, schema=()))
    assert done.params.isna().all()
    assert "separated" in " ".join(done.notes)


def test_steep_but_overlapping_and_very_rare_terms_are_healthy():
    """False alarms: means within 1e-6 of their bounds, and one event in 20,000 rows of a level."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=2000)
    steep = pd.DataFrame(
        {"x": x, "z": rng.normal(size=2000), "y": (rng.random(2000) < 1 / (1 + np.exp(-12 * x))) * 1.0}
    )
    fit = smf.logit("y ~ x + z", steep).fit(disp=False)
    assert np.abs(fit.predict() - steep.y).min() < 1e-6
    assert not lost_terms(lost_directions(fit, fit.params.to_numpy())).any()
    rare = pd.DataFrame({"g": np.repeat([0, 1], [2000, 20_000]), "y": rng.random(22_000) < 0.4})
    rare["y"] = np.where(rare.g == 1, np.arange(22_000) == 21_000, rare.y) * 1.0
    fit = smf.logit("y ~ g", rare).fit(disp=False)
    assert not lost_terms(lost_directions(fit, fit.params.to_numpy())).any()


def test_fits_made_by_hand_lose_the_term_too():
    fits = [
        smf.glm(f"y ~ x + {G}", d.assign(y=d.yes * 1.0), family=sm.families.Binomial()).fit()
        for d in release(2).copies
    ]
    done = pool(fits, release=release(2))
    assert list(done.params.index[done.params.isna()]) == [ISLAND]


def coefficients(variance: float, model: str = "multinom") -> Estimates:
    return Estimates(("a", "b"), np.array([1.0, 2.0]), np.diag([0.04, variance]), model=model)


def test_coefficients_without_a_model_are_judged_by_their_variance():
    healthy = [coefficients(v) for v in (0.01, 0.02, 50.0, 0.3)]  # a factor of 70 in standard errors
    assert np.isfinite(pool(healthy, n_syn=50, n_org=50).params).all()
    wild = [coefficients(v) for v in (0.01, 0.02, 900.0, 0.03)]
    done = pool(wild, n_syn=50, n_org=50)
    assert np.isnan(done.params["b"])
    assert np.isfinite(done.params["a"])
    assert "copy 3" in " ".join(done.notes)
    linear = [coefficients(v, "lm") for v in (0.01, 0.02, 900.0, 0.03)]
    assert np.isfinite(pool(linear, n_syn=50, n_org=50).params).all()


def test_a_joint_test_leaves_the_lost_coefficient_out_and_says_so():
    done = logit(f"yes ~ x + {G}", release(1))
    with pytest.warns(PysynthdpWarning, match="island"):
        test = done.wald_test(G)
    assert (test.df1, test.left_out) == (1, (ISLAND,))
    with pytest.raises(CombiningRuleError, match="use wald_test"):
        done.lr_test("yes ~ x")


@pytest.mark.parametrize("name", ["logit", "multinomial", "ordinal"])
def test_predictions_of_a_separated_level_are_nan_and_said(name):
    new = pd.DataFrame({"x": [0.0, 0.5], "g": ["south", "island"]})
    with pytest.warns(PysynthdpWarning, match="copy 2"):
        found = FITS[name](release(1)).predict(new)
    assert np.isfinite(found.loc[0, "mean_se"]).all()
    assert found.loc[[1], "mean"].isna().any()
    assert not (found["mean_se"] > 1).any()
