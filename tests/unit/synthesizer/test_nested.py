"""A finer column is drawn within the coarser one's level."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError

SETTINGS = {"workers": 1, "progress": False}


def towns(n: int, regions: int = 6, each: int = 5, seed: int = 0) -> pd.DataFrame:
    """Regions of some towns, which hang on sex and an age, too."""
    rng = np.random.default_rng(seed)
    region, sex = rng.integers(0, regions, n), rng.integers(0, 2, n)
    age = np.clip(np.rint(45 + 15 * rng.standard_normal(n)), 16, 90)
    pull = rng.standard_normal((regions, each, 2))
    score = pull[region, :, 0] * (sex[:, None] - 0.5) + pull[region, :, 1] * ((age - 45) / 15)[:, None]
    town = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    return pd.DataFrame(
        {
            "town": [f"{r:02d}{t:02d}" for r, t in zip(region, town, strict=True)],
            "region": [f"R{r:02d}" for r in region],
            "sex": np.where(sex == 1, "F", "M"),
            "age": age,
        }
    )


def pairs(table: pd.DataFrame) -> set[tuple[object, object]]:
    return set(table[["town", "region"]].dropna().itertuples(index=False, name=None))


def test_pairs_that_nobody_has_do_not_occur_and_relations_within_are_kept():
    table = towns(6_000)
    fitted = sdp.Synthesizer(nested={"town": "region"}, **SETTINGS).fit(table)
    copy = fitted.draw(m=1, rng=1)[0]
    assert pairs(copy) <= pairs(table)
    assert fitted.plan.visit_sequence[-1] == "town"
    assert "town within region" in str(fitted.plan)
    cells = ["town", "sex"]
    off = (table[cells].value_counts() - copy[cells].value_counts()).abs().fillna(0)
    assert off.mean() < 12  # by shares alone it is 30
    assert abs(table.groupby("town").age.mean() - copy.groupby("town").age.mean()).mean() < 1.5


def test_what_is_known_of_the_nesting_is_told():
    table = towns(2_000)
    fitted = sdp.Synthesizer(nested={"town": "region"}, **SETTINGS).fit(table)
    release = fitted.draw(m=2, rng=1)
    step = next(own for own in release.tags.steps if own.columns == ("town",))
    assert ("region",) in step.terms
    assert ("region", "sex") in step.terms
    assert any("each level of town lies" in fact for fact in release.privacy.learned)


def test_a_broken_nesting_is_said_by_name_and_few_records_are_not_drawn():
    table = towns(3_000)
    rows = table.index[table.town == "0000"]
    table.loc[rows[:3], "region"] = "R01"  # fewer than five records
    table.loc[rows[3:43], "region"] = "R02"
    with pytest.warns(sdp.PysynthdpWarning, match="town: one of its levels stands in more than one") as said:
        fitted = sdp.Synthesizer(nested={"town": "region"}, **SETTINGS).fit(table)
    (own,) = [each.message for each in said if getattr(each.message, "kind", "") == "nesting"]
    assert "0000" not in str(own)
    assert "R01" not in str(own)
    drawn = pd.concat([*fitted.draw(m=4, rng=1)])
    of = drawn[drawn.town == "0000"].region.value_counts()
    assert "R01" not in of
    assert of["R02"] > 80


def test_a_coarse_level_of_few_records_draws_among_its_own():
    table = towns(2_000)
    lone = pd.DataFrame({"town": ["9900", "9900", "9901"], "region": "R99", "sex": "F", "age": 50.0})
    table = pd.concat([table, lone], ignore_index=True)
    fitted = sdp.Synthesizer(nested={"town": "region"}, **SETTINGS).fit(table)
    drawn = pd.concat([*fitted.draw(m=5, k=20_000, rng=1)])
    assert pairs(drawn) <= pairs(table)
    assert {"9900", "9901"} == set(drawn[drawn.region == "R99"].town)
    assert set(drawn[drawn.town.str.startswith("99")].region) == {"R99"}


def test_missing_values_on_both_levels_and_three_levels_of_nesting():
    table = towns(4_000)
    table["country"] = np.where(table.region.isin(["R00", "R01", "R02"]), "north", "south")
    rng = np.random.default_rng(1)
    table.loc[rng.random(len(table)) < 0.05, "town"] = None
    table.loc[rng.random(len(table)) < 0.05, "region"] = None
    nested = {"town": "region", "region": "country"}
    for proper in (False, True):
        fitted = sdp.Synthesizer(nested=nested, proper=proper, **SETTINGS).fit(table)
        copy = fitted.draw(m=1, rng=1)[0]
        assert pairs(copy) <= pairs(table)
        both = copy[["region", "country"]].dropna()
        assert set(both.itertuples(index=False, name=None)) <= set(
            table[["region", "country"]].dropna().itertuples(index=False, name=None)
        )
        assert abs(copy.town.isna().mean() - table.town.isna().mean()) < 0.02


def test_codes_that_are_numbers_are_levels_and_a_fit_is_saved(tmp_path):
    table = towns(2_000)
    table["town"] = table.town.astype(int) + 1_000
    fitted = sdp.Synthesizer(nested={"town": "region"}, **SETTINGS).fit(table)
    fitted.save(tmp_path / "fit")
    again = sdp.FittedSynthesizer.load(tmp_path / "fit")
    first, second = fitted.draw(m=1, rng=3)[0], again.draw(m=1, rng=3)[0]
    pd.testing.assert_frame_equal(first, second)
    assert first.town.dtype == table.town.dtype
    assert pairs(first) <= pairs(table)


def test_a_table_on_disk_and_strata_beside_it(tmp_path):
    table = towns(2_000)
    table.to_parquet(tmp_path / "towns.parquet")
    settings = {"nested": {"town": "region"}, "strata": "sex", **SETTINGS}
    copy = sdp.Synthesizer(**settings).fit(table).draw(m=1, rng=1)[0]
    pd.testing.assert_frame_equal(
        copy, sdp.Synthesizer(**settings).fit(tmp_path / "towns.parquet").draw(m=1, rng=1)[0]
    )
    assert pairs(copy) <= pairs(table)


def test_three_hundred_levels_take_seconds():
    table = towns(30_000, regions=16, each=19)
    start = time.process_time()
    fitted = sdp.Synthesizer(nested={"town": "region"}, **SETTINGS).fit(table)
    copy = fitted.draw(m=1, rng=1)[0]
    took = time.process_time() - start
    X = np.random.default_rng(0).standard_normal((30_000, 300))
    start = time.process_time()
    for _ in range(20):
        X.T @ X
    assert took < 20 * max(time.process_time() - start, 0.5)  # polyreg of 300 levels: some hundred times one
    assert pairs(copy) <= pairs(table)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"nested": {"town": "land"}}, "nested names 'land', which is no column"),
        ({"nested": {"town": "region", "region": "town"}}, "is nested in itself"),
        ({"nested": {"town": "region"}, "keep": ["town"]}, "nested names town, which is released as it is"),
        (
            {"nested": {"town": "region"}, "visit_sequence": ["town", "region", "sex", "age"]},
            "town is drawn before region, in which it is nested",
        ),
        ({"nested": ["town"]}, "nested must name columns"),
    ],
)
def test_a_nesting_that_cannot_be_is_refused_by_name(settings, says):
    with pytest.raises(PlanError, match=says):
        sdp.Synthesizer(**settings, **SETTINGS).plan(towns(300))


def test_a_number_has_no_levels_to_nest():
    schema = sdp.Schema((sdp.NumericColumn("age"), sdp.CategoricalColumn("region", ("a", "b"))))
    for setting in ({"nested": {"age": "region"}}, {"strata": "age"}):
        with pytest.raises(PlanError, match="names age, which has no levels"):
            sdp.Synthesizer(**setting).plan(schema)


@pytest.mark.parametrize("setting", [{"nested": {"town": "region"}}, {"strata": "region"}])
def test_under_a_guarantee_rows_do_not_part_rows(setting):
    with pytest.raises(PrivacyError, match="parts the rows by what they hold"):
        sdp.Synthesizer(guarantee=sdp.ZCDP(0.5), **setting)
