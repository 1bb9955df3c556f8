"""Columns that are asked in some rows only: exact in every copy, modelled inside alone."""

import ast
import warnings

import numpy as np
import pandas as pd
import pytest

from pysynthdp import Synthesizer, look, missing_kinds, synthesize
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpWarning, SchemaError
from pysynthdp.design.tagged import tagged_nan
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.sampling.by_sampling import BySampling
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.schema import plain as schema_file


def smokers(n: int = 1500, seed: int = 1) -> pd.DataFrame:
    """People: smokers are asked how many cigarettes, and those with many whether they try to stop."""
    rng = np.random.default_rng(seed)
    age = rng.integers(10, 90, n)
    smoke = np.where(rng.random(n) < 0.3, "YES", "NO")
    cigarettes = np.where(smoke == "YES", rng.poisson(12, n) + 1, -8)
    stop = np.where(cigarettes > 10, np.where(rng.random(n) < 0.5, "try", "go on"), None)
    work = np.where(age >= 16, np.where(rng.random(n) < 0.6, "work", "other"), None)
    return pd.DataFrame({"cigarettes": cigarettes, "stop": stop, "work": work, "smoke": smoke, "age": age})


ASKED = {
    "cigarettes": ("smoke == 'YES'", -8),
    "stop": "cigarettes > 10",
    "work": "age >= 16",
}


def test_every_copy_keeps_a_chain_of_universes_exactly():
    release = synthesize(smokers(), m=3, rng=1, universe=ASKED)
    for copy in release:
        assert ((copy.cigarettes == -8) == (copy.smoke != "YES")).all()
        assert (copy.stop.isna() == ~(copy.cigarettes > 10)).all()
        assert (copy.work.isna() == (copy.age < 16)).all()
        assert copy.columns.tolist() == ["cigarettes", "stop", "work", "smoke", "age"]


def test_models_are_fitted_to_the_rows_inside_alone():
    """A missing value inside is as common as it is there, however many are missing outside.

    A line in age could not tell who is asked.
    """
    table, rng = smokers(6000)[["work", "age"]], np.random.default_rng(2)
    asked = (table.age >= 30) & (table.age < 40)
    table["work"] = np.where(asked & (rng.random(6000) < 0.9), rng.choice(["work", "other"], 6000), None)
    universe = {"work": "age >= 30 and age < 40"}
    copy = Synthesizer(universe=universe, terms="main").fit(table).draw(m=1, k=20_000, rng=1)[0]
    inside = (copy.age >= 30) & (copy.age < 40)
    assert copy.work[~inside].isna().all()
    assert copy.work[inside].isna().mean() == pytest.approx(0.1, abs=0.02)


def test_a_level_may_stand_outside_and_occur_inside():
    """As the rules of synthpop have it: who is under 18 is single, and left out of the model."""
    rng = np.random.default_rng(4)
    age = rng.integers(10, 60, 4000)
    marital = np.where((age >= 18) & (rng.random(4000) < 0.6), "MARRIED", "SINGLE").astype(object)
    marital[(age >= 18) & (rng.random(4000) < 0.1)] = None
    marital[np.flatnonzero(age < 18)[:20]] = "MARRIED"
    table = pd.DataFrame({"marital": marital, "age": age})
    for kept in (table, table.fillna({"marital": "SINGLE"})):
        with pytest.warns(PysynthdpWarning, match="20 rows are not as its universe says"):
            fitted = Synthesizer(universe={"marital": ("age >= 18", "SINGLE")}, terms="main").fit(kept)
        copy = fitted.draw(m=1, k=8000, rng=1)[0]
        assert (copy.marital[copy.age < 18] == "SINGLE").all()
        inside, real = (frame.marital[frame.age >= 18] for frame in (copy, kept))
        assert (inside == "MARRIED").mean() == pytest.approx((real == "MARRIED").mean(), abs=0.02)
        assert inside.isna().mean() == pytest.approx(real.isna().mean(), abs=0.02)
        assert fitted.draw(m=1, rng=1).check_rules().broken == 0


def test_a_level_that_stands_outside_alone_is_not_drawn_inside():
    table = smokers()[["smoke", "work"]].dropna()
    table["job"] = np.where(table.work == "work", "employee", "NONE")
    table.loc[table.index[table.work == "work"][::3], "job"] = "farmer"
    copy = synthesize(table, m=1, rng=1, universe={"job": ("work == 'work'", "NONE")}, derive="no")[0]
    assert ((copy.job == "NONE") == (copy.work != "work")).all()


def test_a_missing_kind_may_stand_outside(tmp_path):
    """Kinds of missing numbers, as labelled files have them, through copies, files and the codebook."""
    table, rng = smokers()[["smoke", "age"]], np.random.default_rng(1)
    number = np.where(table.smoke == "YES", rng.poisson(12, len(table)) + 1.0, tagged_nan(".a"))
    refused = (table.smoke == "YES") & (rng.random(len(table)) < 0.1)
    table["number"] = np.where(refused, tagged_nan(".b"), number)
    settings = {
        "missing": {"number": {".a": "not asked", ".b": "refused"}},
        "universe": {"number": ("smoke == 'YES'", ".a")},
    }
    release = synthesize(table, m=1, rng=1, **settings)
    kinds = missing_kinds(release[0], release.schema)["number"].astype(str)
    assert ((kinds == "not asked") == (release[0].smoke != "YES")).all()
    assert 0 < (kinds == "refused").sum() < 100
    release.save(tmp_path / "release")
    again = Schema.from_codebook(tmp_path / "release" / "codebook.csv")["number"].universe
    assert (again.where, again.outside) == ("smoke == 'YES'", ".a")


def test_rows_that_break_a_universe_are_counted_vaguely():
    table = smokers()
    table.loc[table.index[table.smoke == "NO"][:5], "cigarettes"] = 7
    with pytest.warns(PysynthdpWarning, match="cigarettes: fewer than ten rows are not as its universe says"):
        fitted = Synthesizer(universe={"cigarettes": ("smoke == 'YES'", -8)}).fit(
            table[["cigarettes", "smoke"]]
        )
    copy = fitted.draw(m=1, rng=1)[0]
    assert ((copy.cigarettes == -8) == (copy.smoke != "YES")).all()


def test_workers_and_order_of_blocks_change_nothing():
    table = smokers()
    one, four = (Synthesizer(universe=ASKED, workers=n, progress=False).fit(table) for n in (1, 4))
    pd.testing.assert_frame_equal(one.draw(m=1, k=40_000, rng=3)[0], four.draw(m=1, k=40_000, rng=3)[0])


@pytest.mark.parametrize(
    ("settings", "column", "words"),
    [
        ({"universe": {"work": "ages >= 16"}}, "work", "names 'ages'"),
        ({"universe": {"wrk": "age >= 16"}}, "wrk", "no column"),
        ({"universe": {"age": "age >= 16"}}, "age", "names itself"),
        ({"universe": {"work": "smoke == 'YES'", "smoke": "work == 'work'"}}, "work", "name one another"),
        (
            {
                "universe": {"work": "age >= 16"},
                "visit_sequence": ["work", "age", "smoke", "stop", "cigarettes"],
            },
            "work",
            "drawn after it",
        ),
        ({"universe": {"work": "age >= 16"}, "keep": ["work"]}, "work", "kept as it really is"),
        ({"universe": {"work": 16}}, "work", "a universe is a condition"),
    ],
)
def test_a_universe_that_cannot_be_is_refused_by_column(settings, column, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((PlanError, SchemaError), match=words) as caught:
            Synthesizer(**settings).plan(smokers(200))
    assert caught.value.column == column


def test_the_visit_sequence_is_put_in_order():
    order = Synthesizer(universe=ASKED).plan(smokers(300)).visit_sequence
    assert order.index("smoke") < order.index("cigarettes") < order.index("stop")
    assert order.index("age") < order.index("work")


NO_MORE = {"missing": {-8: "no"}, "may_be_missing": False, "universe": ("smoke == 'YES'", -8)}


def declared(**facts) -> Schema:
    """What is public of some of the columns."""
    return Schema(
        [
            CategoricalColumn("smoke", ["YES", "NO"], other="NO", may_be_missing=False),
            NumericColumn("age", 0, 100, decimals=0, may_be_missing=False, fallback=50),
            CategoricalColumn("work", ["work", "other"], universe="age >= 16", may_be_missing=False, **facts),
            NumericColumn("cigarettes", 0, 60, fallback=1, **NO_MORE),
        ]
    )


def test_a_schema_with_universes_comes_back():
    plain = schema_file.to_plain(declared())
    assert schema_file.from_plain(plain) == declared()
    assert plain["columns"][3]["universe"] == {"where": "smoke == 'YES'", "outside": -8, "alone": True}
    with pytest.raises(SchemaError, match="no declared code"):
        NumericColumn("cigarettes", universe=("smoke == 'YES'", -9))


def test_under_noise_copies_are_exact_at_no_price():
    table = smokers(4000)[["smoke", "age", "work", "cigarettes"]]
    fitted = Synthesizer(schema=declared(other="other"), guarantee=ByNoise(ZCDP(2.0), testing=True)).fit(
        table, noise_seed=1
    )
    assert fitted.remarks == ()
    copy = fitted.draw(m=2, rng=1)[1]
    assert (copy.work.isna() == (copy.age < 16)).all()
    assert ((copy.cigarettes == -8) == (copy.smoke != "YES")).all()


def test_under_noise_missing_values_on_both_sides_of_a_number_are_refused():
    schema = declared(other="other")
    both = CategoricalColumn("work", ["work", "other"], other="other", universe="age >= 16")
    schema = Schema([both if column.name == "work" else column for column in schema])
    with pytest.raises(PrivacyError, match="work: levels and missing values are drawn before the number age"):
        Synthesizer(schema=schema, guarantee=ZCDP(2.0)).plan()


def test_under_sampling_a_universe_is_refused_by_name():
    schema = declared(other="other").without(["cigarettes"])
    method = {"smoke": "dirichlet", "age": "gaussian", "work": "dirichlet"}
    with pytest.raises(PrivacyError, match="work has a universe, which cannot be had under") as caught:
        Synthesizer(schema=schema, method=method, guarantee=BySampling()).plan()
    assert caught.value.column == "work"


def test_look_offers_the_line_to_type():
    """What it says to type is taken as it stands; a column with missing values by chance is left alone."""
    table = smokers(3000)
    table["often"] = np.where(np.random.default_rng(3).random(3000) < 0.2, None, "yes")
    offered = [note for column in look(table).columns for note in column.notes if note.kind == "skip"]
    assert [note.column for note in offered] == ["cigarettes", "stop", "work"]
    typed = [str(note.remedy).partition("universe=")[2].rpartition(" keeps")[0] for note in offered]
    universe = {name: given for text in typed for name, given in ast.literal_eval(text).items()}
    assert universe["cigarettes"] == ("smoke == 'YES'", -8)
    copy = synthesize(table, m=1, rng=1, universe=universe)[0]
    assert ((copy.cigarettes == -8) == (copy.smoke != "YES")).all()
    assert (copy.stop.isna() == ~(copy.cigarettes > 10)).all()
    assert (copy.work.isna() == (copy.age < 16)).all()


def test_look_offers_nothing_that_few_records_or_some_rows_contradict():
    table = smokers(3000)
    table.loc[table.index[table.smoke == "NO"][:3], "cigarettes"] = 5
    assert not [note for column in look(table[["cigarettes", "smoke"]]).columns for note in column.notes]
    few = smokers(300)[["work", "age"]]
    assert few.work.isna().sum() < 50
    assert not [note for column in look(few).columns for note in column.notes if note.kind == "skip"]
