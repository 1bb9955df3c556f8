"""Columns that are computed: planned, drawn, told, saved, refused; under guarantees too."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PysynthdpWarning
from pysynthdp.io.plans.plan_file import read_plan, write_plan
from pysynthdp.models.gaussian import Gaussian

A = np.arange(40) ** 1.5 % 7.7 // 0.1 / 10
BMI = "weight / (height / 100) ** 2"


def people(n=400, seed=1):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"height": rng.normal(170, 9, n).round(), "weight": rng.normal(70, 12, n).round(1)})
    table["bmi"] = (table.weight / (table.height / 100) ** 2).round(2)
    table["both"] = table.height + table.weight
    table["stout"] = np.where(table.weight >= 80, "yes", "no")
    table["pulse"] = rng.normal(60 + table.bmi / 4, 8, n).round()
    return table


def synthesizer(**settings):
    derive = {"both": "height + weight", "bmi": BMI, "stout": "where(weight >= 80, 'yes', 'no')"}
    return sdp.Synthesizer(**{"derive": derive, "progress": False, **settings})


def test_every_row_of_every_copy_is_as_the_expression_says():
    for copy in synthesizer().fit(people()).draw(m=3, rng=1):
        off = (copy.bmi - copy.weight / (copy.height / 100) ** 2).abs().max()
        assert 0 < off <= 0.005 + 1e-9  # its own two decimals
        assert (copy.both - copy.height - copy.weight).abs().max() < 1e-9
        assert ((copy.weight >= 80) == (copy.stout == "yes")).all()


def test_the_plan_says_it_and_draws_it_right_after_its_last_argument():
    plan = synthesizer().plan(people())
    assert plan.visit_sequence == ("height", "weight", "both", "bmi", "stout", "pulse")
    assert plan.methods["bmi"] == "derived"
    assert re.search(rf"bmi +derived +{re.escape(BMI)}\n", str(plan))
    assert plan.predictor_matrix.loc["bmi", ["height", "weight"]].tolist() == [1, 1]
    assert [own.column for own in plan.derived] == ["both", "bmi", "stout"]


def test_a_sum_is_no_predictor_and_a_curve_is_one():
    """A coefficient of a sum beside its terms would be anything; what bends tells something new."""
    plan = synthesizer().plan(people())
    (step,) = [step for step in plan.steps if step.label == "pulse"]
    assert step.predictors == ("height", "weight", "bmi", "stout")


def test_a_function_of_functions_comes_after_them():
    derive = {"c": "b * 2", "b": "a + 1"}
    table = pd.DataFrame({"c": 2 * A + 2, "a": A, "b": A + 1})
    copy = sdp.Synthesizer(derive=derive, progress=False).fit(table).draw(m=1, rng=1)[0]
    assert (copy.c == 2 * copy.a + 2).all()
    with pytest.raises(PlanError, match="from one another"):
        sdp.Synthesizer(derive={"b": "c", "c": "b"}).plan(table)


def test_what_is_missing_makes_missing():
    table = people()
    table.loc[table.index % 9 == 0, "height"] = np.nan
    table["bmi"] = (table.weight / (table.height / 100) ** 2).round(2)
    table["both"] = table.height + table.weight
    copy = synthesizer().fit(table).draw(m=1, rng=2)[0]
    assert copy.height.isna().sum() > 10
    assert copy.height.isna().equals(copy.bmi.isna())


def test_an_expression_of_its_own_column_corrects_what_is_drawn():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"smokes": rng.choice(["no", "yes"], 500)})
    table["cigarettes"] = np.where(table.smokes == "no", 0, rng.poisson(9, 500) + 1)
    gate = {"cigarettes": "where(smokes == 'no', 0, cigarettes)"}
    fitted = sdp.Synthesizer(derive=gate, progress=False).fit(table)
    copy = fitted.draw(m=1, rng=4)[0]
    assert (copy.cigarettes[copy.smokes == "no"] == 0).all()
    assert copy.cigarettes[copy.smokes == "yes"].mean() == pytest.approx(10, abs=1.5)
    assert fitted.plan.methods["cigarettes"] != "derived"


def test_rows_that_break_it_are_counted_and_not_quoted():
    table = people()
    table.loc[7, "bmi"] = 77.77
    with pytest.warns(PysynthdpWarning, match="fewer than ten rows are not as") as caught:
        synthesizer().fit(table)
    assert not [each for each in caught if "77.77" in str(each.message)]
    table.loc[:30, "bmi"] = 20.0
    with pytest.warns(PysynthdpWarning, match="of 400 rows are not as"):
        synthesizer().fit(table)


def test_a_saved_fit_draws_the_same(tmp_path):
    fitted = synthesizer().fit(people())
    fitted.save(tmp_path / "a.fit")
    again = sdp.FittedSynthesizer.load(tmp_path / "a.fit")
    pd.testing.assert_frame_equal(fitted.draw(m=1, rng=1)[0], again.draw(m=1, rng=1)[0])


def test_tags_and_provenance_say_how_it_came_about():
    fitted = synthesizer().fit(people())
    copy = fitted.draw(m=1, rng=5)[0]
    assert list(copy.columns) == list(people().columns)
    release = fitted.draw(m=1, rng=5)
    (step,) = [step for step in release.tags.steps if step.columns == ("bmi",)]
    assert (step.model, step.terms) == ("derived", (("weight",), ("height",)))
    assert dict(release.provenance.methods)["bmi"] == "derived"


def test_a_plan_file_holds_it(tmp_path):
    given = {"derive": {"bmi": BMI, "net income": "`gross income` - tax"}}
    assert read_plan(write_plan(given, tmp_path / "plan.toml")) == given


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"derive": {"bmi": "weight / hight"}}, "did you mean 'height'"),
        ({"derive": {"bmy": "weight"}}, "derive names 'bmy'"),
        ({"derive": {"bmi": "stout"}}, "the column holds numbers"),
        ({"derive": {"stout": "weight > 80"}}, "the column holds texts"),
        ({"derive": {"bmi": 3}}, "must be a text"),
        ({"derive": "bmi"}, "derive must name columns"),
        ({"method": {"bmi": "norm"}}, "bmi is derived, so no method"),
        ({"formulas": ["bmi ~ height"]}, "so no formula draws it"),
        ({"keep": ["bmi"]}, "kept or numbered anew"),
        ({"drop": ["bmi"]}, "which is dropped"),
    ],
)
def test_what_cannot_be_is_refused_by_name(settings, said):
    with pytest.raises(PlanError, match=said):
        synthesizer(**settings).plan(people())


def test_what_the_column_has_no_place_for_is_refused():
    table = pd.DataFrame({"x": np.arange(-20.0, 60), "y": 0.0})
    table["y"] = np.log(table.x.clip(1)).round(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(PlanError, match="y: what it is derived from is missing in some rows"):
            sdp.Synthesizer(derive={"y": "log(x)"}, progress=False).fit(table).draw(m=1, rng=1)


# under a guarantee

DECLARED = sdp.Schema(
    (
        sdp.NumericColumn("height", lower=140, upper=210, decimals=0, may_be_missing=False, fallback=170),
        sdp.NumericColumn("weight", lower=30, upper=180, decimals=0, may_be_missing=False, fallback=70),
        sdp.NumericColumn("bmi", lower=10, upper=60, decimals=1, may_be_missing=False, fallback=25),
        sdp.CategoricalColumn("stout", levels=("yes", "no"), other="no", may_be_missing=False),
    )
)
PUBLIC = {"bmi": BMI, "stout": "where(weight >= 80, 'yes', 'no')"}
GUARANTEES = {
    "noise": {"guarantee": sdp.ByNoise(sdp.ZCDP(5.0), testing=True)},
    "sampling": {
        "guarantee": sdp.BySampling(),
        "method": {"height": Gaussian(sigma=10.0), "weight": Gaussian(sigma=10.0)},
    },
}


def guaranteed(name, **more):
    return sdp.Synthesizer(schema=DECLARED, derive=PUBLIC, progress=False, **GUARANTEES[name], **more)


def without_made():
    return sdp.Schema(tuple(column for column in DECLARED if column.name in ("height", "weight")))


def real(n=300):
    table = people(n)[["height", "weight", "bmi", "stout"]]
    return table.assign(weight=table.weight.round(), bmi=table.bmi.round(1))


@pytest.mark.parametrize("name", GUARANTEES)
def test_it_costs_nothing(name):
    dropped = sdp.Synthesizer(schema=without_made(), **GUARANTEES[name]).plan()
    price, own = dropped.price(n=300), guaranteed(name).plan().price(n=300)
    assert str(own) == str(price)


@pytest.mark.parametrize("name", GUARANTEES)
def test_copies_with_a_guarantee_are_as_it_says_and_no_later_column_is_drawn_from_it(name):
    seed = {"noise_seed": 1} if name == "noise" else {}
    fitted = guaranteed(name).fit(real(), **seed)
    assert {part.column for step in fitted.plan.steps for part in step.targets} == {"height", "weight"}
    assert all(not {"bmi", "stout"} & {*step.predictors} for step in fitted.plan.steps)
    copy = fitted.draw(m=1, rng=None)[0]
    there = copy.height.between(140, 210) & (copy.weight / (copy.height / 100) ** 2).between(10, 60)
    assert there.any()
    off = (copy.bmi - copy.weight / (copy.height / 100) ** 2)[there].abs().max()
    assert off <= 0.05 + 1e-9
    assert ((copy.weight >= 80) == (copy.stout == "yes")).all()


@pytest.mark.parametrize("name", GUARANTEES)
def test_under_a_guarantee_no_cell_decides_what_is_said(name):
    """A neighbour that breaks the expression in every way leaves plan, warnings and tags as they are."""
    seed = {"noise_seed": 1} if name == "noise" else {}
    seen = []
    for odd in (None, 59.9):
        table = real()
        if odd is not None:
            table.loc[0, ["bmi", "stout"]] = [odd, "no"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = guaranteed(name).fit(table, **seed)
        release = fitted.draw(m=1)
        told = [str(each.message) for each in caught]
        seen.append((str(fitted.plan), told, release.tags.steps))
    assert seen[0] == seen[1]
