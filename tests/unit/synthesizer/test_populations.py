"""Synthetic populations: a fit and a copy each, refused by name where they cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.analysis import apply, mean_of, svymean, svytotal
from pysynthdp.base.errors import CombiningRuleError, FitError, PlanError, PrivacyError, PysynthdpWarning
from pysynthdp.bridge.frames import frame_to_r
from pysynthdp.bridge.releases import release_from_r
from pysynthdp.bridge.verbs.synthesis import synthesise
from pysynthdp.cli.app import app
from pysynthdp.io import fit_file

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
POPULATIONS = {"how": "population", "weight": "w", "strata": "g", "populations": 4, "sample": 400}


def sample(n: int = 90) -> pd.DataFrame:
    """Rows of three strata, of which one was sampled ten times as densely."""
    rng = np.random.default_rng(1)
    g = np.repeat(["a", "b", "c"], n // 3)
    x = rng.normal(np.repeat([0.0, 1.0, 4.0], n // 3))
    size = np.repeat([3000, 2000, 300], n // 3)
    return pd.DataFrame(
        {
            "g": g,
            "x": x.round(3),
            "y": (2 * x + rng.normal(size=n)).round(3),
            "w": size / (n // 3),
            "size": size,
            "unit": np.tile(np.arange(n // 9), 9),
        }
    )


def design(**more) -> sdp.Design:
    return sdp.Design(**{**POPULATIONS, "fpc": "size", **more})


def synthesizer(**more) -> sdp.Synthesizer:
    own = {"design": design(), "drop": ["unit"], "method": {"x": "norm", "y": "norm"}, "workers": 1}
    return sdp.Synthesizer(**{**own, **more})


@pytest.fixture(scope="module")
def fitted() -> sdp.FittedSynthesizer:
    return synthesizer().fit(sample(), rng=1)


def test_copies_have_no_weights_and_say_what_they_are(fitted):
    release = fitted.draw(rng=1)
    assert [tuple(copy.shape) for copy in release] == [(400, 3)] * 4
    assert tuple(release[0].columns) == ("g", "x", "y")
    tags = release.tags
    assert (tags.nesting, tags.nests, tags.draws, tags.parameters) == (
        "pseudo_population",
        None,
        "independent",
        "fitted",
    )
    assert "4 synthetic populations" in release.privacy.reason
    assert fitted.imputed_tables == 1
    assert "synthetic populations" in str(fitted.to_table())


def test_pooling_takes_the_rule_of_populations(fitted):
    release = fitted.draw(rng=1)
    assert sdp.ols("y ~ x", release).rule == "pseudo_population_single"
    assert apply(mean_of("x"), release).rule == "pseudo_population_single"
    assert svymean("x", release).rule == "pseudo_population_single"
    with pytest.raises(FitError, match="samples of equal weights"):
        svytotal("x", release)
    with pytest.raises(CombiningRuleError, match="two stages"):
        sdp.ols("y ~ x", release, rule="partial_size_adjusted")


def test_the_copies_are_of_the_population_not_of_the_sample(fitted):
    """Stratum c is a third of the sample, and 300 of 5,300: shares and means are those of the weights."""
    release = fitted.draw(rng=1)
    own = sample()
    share = np.mean([(copy["g"] == "c").mean() for copy in release])
    assert abs(share - 300 / 5300) < 0.03
    mean = np.mean([copy["x"].mean() for copy in release])
    assert abs(mean - np.average(own["x"], weights=own["w"])) < 0.35
    assert abs(own["x"].mean() - mean) > 0.7


def test_order_and_workers_never_matter(fitted):
    one, other = fitted.draw(rng=3), fitted.draw(m=2, rng=3)
    assert one[1].equals(other[1])
    again = synthesizer(workers=2).fit(sample(), rng=1).draw(rng=3)
    assert all(a.equals(b) for a, b in zip(one, again, strict=True))
    fewer = synthesizer(design=design(populations=2)).fit(sample(), rng=1).draw(rng=3)
    assert fewer[1].equals(one[1])  # a population does not hang on how many there are
    assert not synthesizer().fit(sample(), rng=2).draw(rng=3)[0].equals(one[0])


def test_one_call_makes_as_many_populations_as_copies():
    release = sdp.synthesize(
        sample(), m=3, rng=1, design=design(), drop=["unit"], method={"x": "norm", "y": "norm"}, workers=1
    )
    assert (release.m, len(release[0])) == (3, 400)


def test_the_default_sample_has_ten_rows_a_record():
    assert design(sample=None).sample_rows(200) == 2000


@pytest.mark.parametrize(
    ("m", "k", "says"),
    [(5, None, "this fit has 4 of them"), (2, 90, "400 rows of the populations' samples")],
)
def test_more_copies_than_populations_and_other_sizes_are_refused(fitted, m, k, says):
    with pytest.raises(PlanError, match=says):
        fitted.draw(m=m, k=k, rng=1)


@pytest.mark.filterwarnings("error::pysynthdp.base.errors.PysynthdpWarning")
def test_few_populations_are_warned_of(fitted):
    with pytest.warns(PysynthdpWarning, match="intervals are wide, or missing") as caught:
        fitted.draw(rng=1)
    assert caught[0].message.kind == "few populations"


def test_a_saved_fit_draws_the_same_copies(fitted, tmp_path):
    path = fitted.save(tmp_path / "fit.zip")
    loaded = sdp.FittedSynthesizer.load(path)
    assert loaded.draw(rng=5)[2].equals(fitted.draw(rng=5)[2])
    with pytest.raises(PlanError, match="4 of them"):
        loaded.draw(m=5)
    assert len(fit_file.load(path)["fits"]) == 4


def test_copies_go_straight_into_a_folder(fitted, tmp_path):
    folder = fitted.draw_to(tmp_path / "out", rng=2)
    release = sdp.SyntheticRelease.load(folder)
    assert release.tags.nesting == "pseudo_population"
    pd.testing.assert_frame_equal(release[3], fitted.draw(rng=2)[3], check_dtype=False)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"keep": ["x"]}, "keep does not go"),
        ({"strata": ["g"]}, "strata does not go"),
        ({"nested": {"x": "g"}}, "nested does not go"),
        ({"proper": True}, "proper does not go"),
        ({"emit_original": True}, "emit_original does not go"),
        ({"draws": "even"}, "does not go with synthetic populations"),
    ],
)
def test_settings_that_do_not_go_with_populations(more, says):
    with pytest.raises(PlanError, match=says) as caught:
        synthesizer(**more)
    assert caught.value.remedy


def test_models_that_count_rows_are_refused_by_name():
    with pytest.raises(PlanError, match="'cart' tells what rests on fewer than five records") as caught:
        synthesizer(method={"x": "cart"}).fit(sample(), rng=1)
    assert caught.value.column == "x"


def test_several_imputations_are_refused():
    with pytest.raises(PlanError, match="no rule pools both"):
        synthesizer().fit([sample(), sample()], rng=1)


def test_a_guarantee_is_refused():
    with pytest.raises(PrivacyError, match="synthetic populations are made of real records"):
        synthesizer(guarantee=sdp.ZCDP(0.5))


def test_randomness_is_refused_where_a_fit_draws_nothing():
    with pytest.raises(PlanError, match="this one draws nothing"):
        sdp.Synthesizer().fit(sample(), rng=1)


# -- designs that cannot be ----------------------------------------------------------------------------


def changed(column: str, rows, value) -> pd.DataFrame:
    own = sample()
    own[column] = own[column].astype(object if isinstance(value, str) else float)
    own.loc[rows, column] = value
    return own


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (changed("size", [0], np.nan), "missing sizes, or several"),
        (changed("size", [0], 2999.0), "missing sizes, or several"),
        (changed("size", list(range(30)), 29.0), "smaller than the number of sampled units"),
        (changed("w", [0], -1.0), "a weight that is missing, zero, negative or infinite"),
        (changed("w", [0], 99999.0), "a row stands for more than a fifth"),
        (changed("g", [0], "secret"), "one stratum has one sampling unit"),
    ],
)
def test_designs_that_cannot_be_are_refused_by_name(table, says):
    with pytest.raises(PlanError, match=says) as caught:
        synthesizer().fit(table, rng=1)
    assert caught.value.remedy
    for value in ("2999", "secret", "-1.0", "99999"):
        assert value not in str(caught.value)


@pytest.mark.parametrize("lonely", ["certainty", "certain", "merge"])
def test_lonely_units_have_choices(lonely):
    table = changed("g", [0], "lonely")
    release = synthesizer(design=design(lonely=lonely, fpc=None)).fit(table, rng=1).draw(rng=1)
    assert release.m == 4


def test_units_are_bootstrapped_whole():
    """With the same value in every row of a unit, copies vary as units do: ten of them, not ninety rows."""
    own = sample()
    own["x"] = np.random.default_rng(3).normal(size=10)[own["unit"]].round(3)
    flat = {"design": design(strata=None, fpc=None, populations=30, sample=2000), "method": {"x": "norm"}}
    rows = synthesizer(**flat, drop=["unit", "size", "g", "y"]).fit(own, rng=1).draw(rng=1)
    flat["design"] = design(strata=None, fpc=None, psu="unit", populations=30, sample=2000)
    units = synthesizer(**flat, drop=["size", "g", "y"]).fit(own, rng=1).draw(rng=1)
    spread = [np.var([copy["x"].mean() for copy in release], ddof=1) for release in (rows, units)]
    assert spread[1] > 3 * spread[0]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"populations": 1}, "populations of design must be a whole number of at least 2"),
        ({"sample": 10}, "sample of design must be a whole number of at least 50"),
        ({"lonely": "average"}, "lonely of design must be one of"),
    ],
)
def test_wrong_numbers_are_refused(wrong, says):
    with pytest.raises(PlanError, match=says):
        design(**wrong)
    with pytest.raises(PlanError, match="of synthetic populations alone"):
        sdp.Design(weight="w", populations=30)


# -- other doors ---------------------------------------------------------------------------------------


def test_the_shell_and_r_make_as_many_populations_as_copies(tmp_path):
    """A seed settles the populations too, and every door gives the copies of the others."""
    plan = {"design": dict(POPULATIONS), "drop": ["unit", "size"], "method": {"x": "norm", "y": "norm"}}
    del plan["design"]["populations"]
    wanted = sdp.synthesize(
        sample(), m=2, rng=3, workers=1, **{**plan, "design": sdp.Design(**plan["design"])}
    )
    sample().to_csv(tmp_path / "sample.csv", index=False)
    (tmp_path / "plan.toml").write_text(
        'drop = ["unit", "size"]\n[method]\nx = "norm"\ny = "norm"\n'
        '[design]\nhow = "population"\nweight = "w"\nstrata = "g"\nsample = 400\n'
    )
    words = ("synth", tmp_path / "sample.csv", "--plan", tmp_path / "plan.toml", "--out", tmp_path / "out")
    done = CliRunner().invoke(app, [*map(str, words), "--m", "2", "--seed", "3"])
    assert done.exit_code == 0, done.output
    shell = sdp.SyntheticRelease.load(tmp_path / "out")
    assert shell.tags.nesting == "pseudo_population"
    asked = {**plan, "design": {**plan["design"], "sample": 400.0}}  # R's numbers are doubles
    r = release_from_r(synthesise(frame_to_r(sample()), asked, 2, None, 3))
    assert r.tags.nesting == "pseudo_population"
    for one, other, copy in zip(shell, r, wanted, strict=True):
        pd.testing.assert_frame_equal(one, copy, check_dtype=False)
        pd.testing.assert_frame_equal(other, copy, check_dtype=False)
