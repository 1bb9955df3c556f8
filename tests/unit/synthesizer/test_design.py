"""A design in a synthesis: columns that stay real, who stands out, predictors of all, weights on totals."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, SchemaError

N = 240
RNG = np.random.default_rng(17)
STRATUM = np.repeat(["north", "south", "west"], [120, 80, 40])
TABLE = pd.DataFrame(
    {
        "region": STRATUM,
        "town": np.concatenate([np.arange(12) % 4 + 1 for _ in range(N // 12)]) * 100,
        "weight": np.select([STRATUM == "north", STRATUM == "south"], [10.0, 30.0], 60.0),
        "size": np.select([STRATUM == "north", STRATUM == "south"], [1200, 2400], 2400),
        "income": np.round(
            np.select([STRATUM == "north", STRATUM == "south"], [20.0, 40.0], 80.0) + RNG.normal(0, 6, N),
            1,
        ),
        "age": RNG.integers(18, 80, N),
        "work": np.where(RNG.random(N) < 0.4, "yes", "no"),
    }
)
DESIGN = sdp.Design(weight="weight", strata="region", fpc="size")


def fitted(table: pd.DataFrame = TABLE, design: sdp.Design = DESIGN, **settings) -> sdp.FittedSynthesizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdp.Synthesizer(design=design, progress=False, **settings).fit(table)


@pytest.fixture(scope="module")
def own() -> sdp.FittedSynthesizer:
    return fitted()


@pytest.fixture(scope="module")
def release(own) -> sdp.SyntheticRelease:
    return own.draw(m=3, rng=1)


# -- kept real -------------------------------------------------------------------------------------------


def test_the_design_is_the_tables_row_by_row(release):
    for copy in release:
        assert copy["weight"].equals(TABLE["weight"])
        assert copy["size"].equals(TABLE["size"])
        pairs = pd.DataFrame({"old": TABLE["region"], "new": copy["region"]}).drop_duplicates()
        assert len(pairs) == 3
        assert pairs["new"].is_unique


def test_new_names_have_the_old_form_and_tell_nothing(release):
    assert list(release[0]["region"].unique()) == ["1", "2", "3"]
    assert release.schema["region"].levels == ("1", "2", "3")
    assert not any(level in str(release.privacy) for level in ("north", "south", "west"))
    town = sdp.Design(weight="weight", strata="region", psu="town")
    copy = fitted(design=town).draw(m=1, rng=1)[0]
    assert copy["town"].dtype == TABLE["town"].dtype
    units = TABLE.groupby(["region", "town"]).ngroup()
    assert pd.DataFrame({"old": units, "new": copy["town"]}).drop_duplicates()["new"].is_unique


def test_names_stay_where_that_is_said():
    kept = sdp.Design(weight="weight", strata="region", recode=())
    assert fitted(design=kept).draw(m=1, rng=1)[0]["region"].equals(TABLE["region"])


def test_what_stays_real_is_said_everywhere(own, release):
    assert release.tags.kept == {"weight", "region", "size"}
    assert release.tags.details["design"] == {
        "how": "keep",
        "columns": {"weight": "weight", "strata": "region", "fpc": "size"},
        "new names": ["region"],
    }
    assert "REAL values of weight, region, size" in release.privacy.reason
    assert "new ones" in release.privacy.reason
    assert "strata region" in str(own.plan)


ORDERS = {
    "default": {},
    "last first": {"visit_sequence": ["work", "age", "income"]},
    "a formula": {"formulas": ["income ~ age"]},
    "a matrix": {"predictor_matrix": {"income": [], "age": [], "work": []}},
    "few predictors": {"max_predictors": 1},
    "main terms": {"terms": "main"},
    "one method": {"method": {"income": "norm", "age": "norm"}},
}


@pytest.mark.parametrize("case", ORDERS)
def test_strata_and_the_log_of_the_weight_enter_every_model_whatever_the_order(case):
    plan = fitted(TABLE.drop(columns="town"), **ORDERS[case]).plan
    assert len(plan.formulas) == 3
    for formula in plan.formulas:
        assert "~ region + log(weight)" in formula
        assert "size" not in formula


def test_strata_keep_their_means(release):
    for copy in release:
        for level, wanted in zip("123", (20, 40, 80), strict=True):
            assert abs(copy.loc[copy["region"] == level, "income"].mean() - wanted) < 5


def test_estimates_use_the_design_of_the_release(release):
    done = sdp.svymean("income", release)
    real = sdp.compare_fits(done, TABLE)
    assert 0.5 < real.se_ratio[0] < 2
    assert abs(real.std_diff[0]) < 2
    assert not any("not that of the survey" in flag for flag in done.flags)


# -- who stands out --------------------------------------------------------------------------------------


def test_many_who_are_alone_are_refused_unless_accepted():
    odd = TABLE.assign(weight=TABLE["weight"] + np.arange(N) / 100)
    with pytest.raises(PrivacyError, match=r"100\.0 % of the rows are alone.*accept=1\.0"):
        fitted(odd)
    with pytest.raises(PrivacyError, match="alone"):
        sdp.Synthesizer(design=DESIGN).plan(odd)
    design = sdp.Design(weight="weight", strata="region", accept=1.0)
    with pytest.warns(sdp.PysynthdpWarning, match="alone with what they hold in weight, region"):
        sdp.Synthesizer(design=design, progress=False).fit(odd.drop(columns="size"))


def test_other_kept_columns_count_too():
    with pytest.raises(PrivacyError, match="age, weight, region, size, which stay real"):
        fitted(keep=["age"])


def test_strata_of_one_unit_and_of_few_records_are_told():
    table = TABLE.assign(region=np.where(np.arange(N) < 3, "isle", TABLE["region"]))
    with pytest.warns(sdp.PysynthdpWarning) as caught:
        sdp.Synthesizer(design=sdp.Design(weight="weight", strata="region"), progress=False).fit(table)
    kinds = {warning.message.kind for warning in caught}
    assert "small strata" in kinds
    alone = TABLE.assign(town=np.where(TABLE["region"] == "west", 900, TABLE["town"]))
    with pytest.warns(sdp.PysynthdpWarning, match="1 stratum has one sampling unit"):
        sdp.Synthesizer(design=sdp.Design(weight="weight", strata="region", psu="town"), progress=False).fit(
            alone
        )


# -- bad input -------------------------------------------------------------------------------------------

ODD = {"missing": np.nan, "zero": 0.0, "negative": -1.0, "infinite": np.inf}


@pytest.mark.parametrize("kind", ODD)
def test_odd_weights_are_refused_or_left_out(kind):
    table = TABLE.assign(weight=np.where(np.arange(N) == 5, ODD[kind], TABLE["weight"]))
    said = rf"fewer than ten rows have a weight.*\({kind}\).*odd_weights='drop'"
    with pytest.raises(PlanError, match=said):
        fitted(table)
    design = sdp.Design(weight="weight", strata="region", odd_weights="drop")
    copy = fitted(table, design).draw(m=1, rng=1)[0]
    assert len(copy) == N - 1
    assert copy["weight"].tolist() == TABLE["weight"].drop(index=5).tolist()


BAD = {
    "no column": (TABLE, sdp.Design(weight="wight"), SchemaError, "did you mean 'weight'"),
    "texts": (TABLE, sdp.Design(weight="work"), SchemaError, "work is the weight.*holds no numbers"),
    "nowhere": (
        TABLE.assign(region=TABLE["region"].where(np.arange(N) > 2)),
        DESIGN,
        PlanError,
        "region: fewer than ten rows have no stratum",
    ),
    "another total": (
        TABLE,
        sdp.Design(weight="weight", strata="region", totals=5000),
        PlanError,
        "weight does not add up to the declared total",
    ),
    "a stratum's total": (
        TABLE,
        sdp.Design(weight="weight", totals={"region": {"north": 1200, "south": 900, "west": 2400}}),
        PlanError,
        "weight does not add up to a total of region",
    ),
    "no such level": (
        TABLE,
        sdp.Design(weight="weight", totals={"region": {"nowhere": 1200}}),
        PlanError,
        "totals of region name a level that no row has",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_a_design_of_the_table_is_refused_by_name(case):
    table, design, error, says = BAD[case]
    with pytest.raises(error, match=says):
        fitted(table, design)


def test_right_totals_are_taken():
    design = sdp.Design(weight="weight", totals={"region": {"north": 1200, "south": 2400, "west": 2400}})
    fitted(TABLE.drop(columns=["size", "town"]), design)


def test_replicate_weights_are_dropped_where_that_is_said():
    table = TABLE.assign(rw1=TABLE["weight"] * 2, rw2=0.0)
    design = sdp.Design(weight="weight", strata="region", replicate_weights=["rw1", "rw2"], replicates="drop")
    copy = fitted(table, design).draw(m=1, rng=1)[0]
    assert not {"rw1", "rw2"} & {*copy.columns}


def test_no_message_quotes_a_weight():
    secret = 41.4243
    table = TABLE.assign(weight=np.where(np.arange(N) == 0, secret, TABLE["weight"]))
    for design in (DESIGN, sdp.Design(weight="weight", totals=3.0), sdp.Design(weight="weight", accept=0.0)):
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                sdp.Synthesizer(design=design, progress=False).fit(table)
        except PysynthdpError as error:
            said.append(error)
        assert not any("41.4" in str(one) for one in said)


# -- a weight that is drawn ------------------------------------------------------------------------------

TOTALS = {"region": {"north": 1300, "south": 2500, "west": 2200}, "work": {"yes": 2000, "no": 4000}}
FREE = TABLE.drop(columns=["size", "town"])


@pytest.fixture(scope="module")
def drawn() -> sdp.SyntheticRelease:
    design = sdp.Design(weight="weight", strata="region", how="synthesise", totals=TOTALS)
    return fitted(FREE, design).draw(m=3, rng=1)


def test_drawn_weights_have_the_declared_totals(drawn):
    for copy in drawn:
        for name, totals in TOTALS.items():
            sums = copy.groupby(name)["weight"].sum()
            for level, total in totals.items():
                assert sums[level] == pytest.approx(total, rel=1e-8)
        assert (copy["weight"] > 0).all()


def test_nothing_of_a_drawn_design_is_real(drawn):
    assert drawn.tags.kept == frozenset()
    assert not drawn[0]["weight"].equals(FREE["weight"])


def test_the_statement_and_every_table_say_that_u_is_no_design_variance(drawn):
    assert "not that of the survey's design" in drawn.privacy.reason
    for done in (
        sdp.svymean("income", drawn),
        sdp.ols("income ~ age", drawn),
        sdp.svyglm("income ~ age", drawn),
        sdp.pool([([1.0], [0.1])] * 3, release=drawn),
    ):
        assert any("not that of the survey's design" in flag for flag in done.flags), done.model


def test_the_weight_comes_last_whatever_the_kinds():
    design = sdp.Design(weight="weight", strata="region", how="synthesise", totals=6000)
    own = fitted(FREE, design)
    assert own.plan.visit_sequence[-1] == "weight"
    with pytest.raises(PlanError, match="weight is a weight, which is drawn last"):
        fitted(FREE, design, visit_sequence=["weight", "region", "income", "age", "work"])
    assert own.draw(m=1, k=500, rng=1)[0]["weight"].sum() == pytest.approx(6000)


def test_a_fit_does_not_ask_for_levels_of_a_weight_which_would_be_refused():
    design = sdp.Design(weight="weight", how="synthesise", totals=6000)
    of_weight = [each for each in fitted(FREE, design).remarks if each.column == "weight"]
    assert not [each for each in of_weight if each.kind == "few values"]
    with pytest.raises(PlanError, match="declare it as a number"):
        fitted(FREE, design, levels={"weight": [10.0, 30.0, 60.0]})


def test_copies_on_disk_have_the_totals_too(tmp_path):
    design = sdp.Design(weight="weight", strata="region", how="synthesise", totals=TOTALS)
    own = fitted(FREE, design)
    folder = own.draw_to(tmp_path / "out", m=2, rng=1)
    loaded = sdp.SyntheticRelease.load(folder)
    assert loaded[1]["weight"].sum() == pytest.approx(6000)
    assert loaded[0].equals(own.draw(m=2, rng=1)[0])


def test_totals_of_other_levels_are_refused():
    totals = {"region": {"north": 3000, "south": 3000}}
    design = sdp.Design(weight="weight", how="synthesise", totals=totals)
    with pytest.raises(PlanError, match="totals of region are not one for each of its levels"):
        fitted(FREE, design)


def test_a_copy_without_rows_in_a_level_is_refused_by_name():
    totals = {"region": {"north": 1300, "south": 2500, "west": 2200}}
    design = sdp.Design(weight="weight", how="synthesise", totals=totals)
    with pytest.raises(PlanError, match=r"copy 1 has no row in \d of the levels of region"):
        fitted(FREE, design).draw(m=1, k=2, rng=1)


# -- under a guarantee -----------------------------------------------------------------------------------


def schema() -> sdp.Schema:
    return sdp.Schema(
        (
            sdp.CategoricalColumn("region", ["north", "south", "west"], other="north"),
            sdp.NumericColumn("weight", 1, 100),
            sdp.NumericColumn("income", 0, 150),
        )
    )


def test_under_a_guarantee_the_weight_is_drawn_and_moved_to_public_totals():
    design = sdp.Design(weight="weight", strata="region", how="synthesise", totals=6000)
    synthesizer = sdp.Synthesizer(schema=schema(), design=design, guarantee=sdp.ZCDP(1.0), progress=False)
    plan = synthesizer.plan()
    assert plan.visit_sequence[-1] == "weight"
    told = []
    for table in (FREE, FREE.assign(weight=FREE["weight"].where(np.arange(N) > 1, -5.0))):  # neighbours
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert str(synthesizer.plan(table)) == str(plan)
            release = synthesizer.fit(table[["region", "weight", "income"]]).draw(m=2, rng=1)
        told.append([str(one.message) for one in said])
        assert release[0]["weight"].sum() == pytest.approx(6000)
        assert "not that of the survey's design" in release.privacy.reason
    assert told[0] == told[1]


def test_nobody_is_told_to_mend_terms_that_the_design_put_into_a_model():
    bonus = np.where(np.arange(N) < 4, np.arange(N) * 10.5 + 1, np.nan)
    few = TABLE.assign(bonus=bonus)
    told = {each.kind for each in fitted(few, terms="main").remarks if each.column == "bonus"}
    assert "few records" in told
    assert "terms left out" not in told


# -- weights in the fits ---------------------------------------------------------------------------------


def bent_sample() -> pd.DataFrame:
    """Rows whose relation is another one where they weigh more, beside what any model knows of them."""
    rng = np.random.default_rng(5)
    n = 900
    x = rng.uniform(-1.7, 1.7, n)
    weight = np.where(x > 0.3, 9.0, 1.0).astype(float)
    return pd.DataFrame(
        {"x": x.round(3), "y": (x + 0.5 * x**2 + rng.normal(0, 0.5, n)).round(3), "w": weight}
    )


def weighted_slope(table: pd.DataFrame) -> float:
    x = table["x"] - np.average(table["x"], weights=table["w"])
    return float(np.sum(table["w"] * x * table["y"]) / np.sum(table["w"] * x * x))


def slope_off(weighted: bool, method: str = "norm") -> float:
    """Mean weighted slope of y in copies in which y alone is drawn, less the table's."""
    table = bent_sample()
    design = sdp.Design(weight="w", accept=1.0, weighted=weighted)
    own = fitted(table, design, keep=["x"], formulas=["y ~ x"], method={"y": method})
    return float(np.mean([weighted_slope(copy) for copy in own.draw(m=20, rng=3)])) - weighted_slope(table)


def test_a_fit_by_weight_keeps_weighted_slopes_of_a_model_that_is_only_near():
    assert abs(slope_off(weighted=True)) < 0.05
    assert abs(slope_off(weighted=False)) > 0.1


def test_a_method_without_weights_is_named_and_fitted_without():
    own = fitted(method={"income": "cart"})
    said = [remark for remark in own.remarks if remark.kind == "weights"]
    assert [remark.column for remark in said] == ["income"]
    assert "cart" in str(said[0].what)
    assert not any(remark.kind == "weights" for remark in fitted().remarks)


def test_numbers_keep_their_spreads_beside_a_real_design(own):
    methods = {step.targets[0].column: step.model.name for step in own.plan.steps}
    assert methods["income"] == "normspread"
    assert sdp.Synthesizer(progress=False).plan(TABLE).steps[-1].model.name != "normspread"


@pytest.mark.parametrize(("units", "told"), [(200, False), (201, True)])
def test_more_sampling_units_than_a_model_takes_are_told(units, told):
    table = TABLE.loc[np.arange(2 * units) % N].reset_index(drop=True)
    table["town"] = np.arange(len(table)) % units
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        own = sdp.Synthesizer(design=sdp.Design(weight="weight", psu="town", accept=1.0), progress=False)
        remarks = [
            each for each in own.fit(table[["town", "weight", "age"]]).remarks if each.column == "town"
        ]
    assert any(each.kind == "sampling units" and "200" in str(each.what) for each in remarks) is told
