"""Levels of fewer than five records are kept with one warning, merged, or refused, as asked for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpWarning, SchemaError
from pysynthdp.io.plans.plan_file import read_plan, write_plan

ROWS = 200


def survey() -> pd.DataFrame:
    """Rare levels of texts, of a category, of an ordered one, of numbers, of True/False; and one without."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["A", "B"], ROWS).astype(object),
            "job": pd.Categorical(rng.choice(["farm", "shop"], ROWS), ["farm", "mill", "mine", "shop"]),
            "degree": pd.Categorical(
                rng.choice(["low", "mid", "high"], ROWS), ["none", "low", "mid", "high", "top"], ordered=True
            ),
            "rooms": rng.integers(2, 5, ROWS),
            "deaf": np.zeros(ROWS, dtype=bool),
            "sex": rng.choice(["F", "M"], ROWS),
        }
    )
    frame.loc[[1, 2, 3, 15, 16], "town"] = ["x", "y", "z", "x", "y"]
    frame.loc[[4, 5, 6, 7, 8, 9], "job"] = ["mill"] * 3 + ["mine"] * 3
    frame.loc[[10, 11], "degree"] = ["none", "top"]
    frame.loc[12, "rooms"] = 9
    frame.loc[[13, 14], "deaf"] = True
    return frame


LEVELS = {"rooms": [2, 3, 4, 9]}


def fit(frame: pd.DataFrame, **settings: Any) -> tuple[Any, list[PysynthdpWarning]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        levels = {name: own for name, own in LEVELS.items() if name in frame}
        fitted = sdp.Synthesizer(levels=levels, progress=False, **settings).fit(frame)
    return fitted, [one.message for one in heard if isinstance(one.message, PysynthdpWarning)]


def test_kept_levels_are_counted_in_one_warning_a_column() -> None:
    fitted, heard = fit(survey())
    rare = {said.column: said for said in heard if said.kind == "rare levels"}
    counts = {name: said.what.split(" level")[0] for name, said in rare.items()}
    assert counts == {
        "town": "town: 3", "job": "job: 2", "degree": "degree: 2", "rooms": "rooms: 1", "deaf": "deaf: 1"
    }  # fmt: skip
    assert all("rare='merge'" in said.remedy for said in rare.values())
    assert set(pd.concat(fitted.draw(m=20, rng=1))["town"]) == {"A", "B", "x", "y", "z"}


def test_one_column_is_the_warnings_own() -> None:
    _, heard = fit(survey()[["town", "sex"]])
    (one,) = [said for said in heard if said.kind == "rare levels"]
    assert (one.column, str(one).startswith("town: 3 levels have fewer than 5 records")) == ("town", True)


def test_the_statement_tells_what_rare_levels_give_away() -> None:
    fitted, _ = fit(survey())
    text = str(fitted.draw(m=1, rng=1).privacy)
    assert "levels in town, job, degree, rooms, deaf have fewer than five records each" in " ".join(
        text.split()
    )
    clean, _ = fit(survey()[["sex"]])
    assert "fewer than five" not in str(clean.draw(m=1, rng=1).privacy)


def test_merged_levels_go_to_other_or_to_neighbours() -> None:
    fitted, heard = fit(survey(), rare="merge")
    schema = fitted.plan.schema
    assert schema["town"].levels == ("A", "B", "other")
    assert schema["town"].other == "other"
    assert schema["job"].levels == ("farm", "shop", "other")
    assert [*schema["degree"].dtype.categories] == ["low", "mid", "high"]
    assert schema["rooms"].levels == (2, 3, 4)
    assert schema["deaf"].levels == (False, True)  # nothing to merge into: the models see one group
    (one,) = [said for said in heard if said.kind == "rare levels"]
    assert one.column == "deaf"
    release = fitted.draw(m=3, rng=1)
    assert set(pd.concat(release)["town"]) == {"A", "B", "other"}
    for copy in release:
        assert "mill" not in copy["job"].cat.categories
        assert copy["degree"].cat.ordered
    text = " ".join(str(release.privacy).split())
    assert "which levels in town, job, degree, rooms have fewer than five records and were merged" in text


def test_merged_shares_are_those_of_the_records() -> None:
    # a drawn share of 4,000 rows lies within 5 standard errors; nobody merged, or a whole job, would not
    frame = survey()
    fitted, _ = fit(frame, rare="merge")
    drawn = pd.concat(fitted.draw(m=20, rng=3))["job"]
    real = float(frame["job"].isin(["mill", "mine"]).mean())
    assert abs((drawn == "other").mean() - real) < 5 * np.sqrt(real / 4_000)


def test_a_declared_other_takes_them() -> None:
    schema = sdp.Schema([sdp.CategoricalColumn("town", ["A", "B", "x", "y", "z", "rest"], other="rest")])
    frame = survey()[["town"]]
    frame.loc[[20, 21], "town"] = ["new", "newer"]
    fitted = sdp.Synthesizer(schema=schema, rare="merge", progress=False).fit(frame)
    assert fitted.plan.schema["town"].levels == ("A", "B", "rest")


@pytest.mark.parametrize("rare", [["x"], ["x", "y"], ["other"], ["x", "Other", "Other"]])
def test_fewer_than_five_in_all_go_into_the_smallest_level(rare: list[str]) -> None:
    frame = pd.DataFrame({"town": ["A"] * 100 + ["B"] * 60 + ["C"] * 30 + rare})
    fitted, heard = fit(frame, rare="merge")
    assert fitted.plan.schema["town"].levels == ("A", "B", "C")
    assert fitted.plan.schema["town"].other == "C"
    assert not heard


def test_an_other_that_is_there_is_used() -> None:
    frame = pd.DataFrame({"town": ["A"] * 100 + ["B"] * 60 + ["Other"] * 30 + ["x", "y"]})
    fitted, _ = fit(frame, rare="merge")
    assert fitted.plan.schema["town"].levels == ("A", "B", "Other")


def test_two_levels_of_which_one_is_rare_stay() -> None:
    frame = pd.DataFrame({"ill": ["no"] * 100 + ["yes"] * 3})
    fitted, heard = fit(frame, rare="merge")
    assert fitted.plan.schema["ill"].levels == ("no", "yes")
    assert [said.kind for said in heard] == ["rare levels"]


def test_refusal_names_columns_and_numbers_and_no_level() -> None:
    with pytest.raises(
        SchemaError, match=r"town \(3\), job \(2\), degree \(2\), rooms \(1\), deaf \(1\)"
    ) as told:
        fit(survey(), rare="refuse")
    assert "mill" not in str(told.value)
    fit(survey()[["sex"]], rare="refuse")


def test_columns_that_are_not_modelled_do_not_matter() -> None:
    frame = survey()[["town", "job", "sex"]]
    fitted, heard = fit(frame, rare="refuse", drop=["job"], keep=["town"])
    assert not heard
    assert set(fitted.draw(m=1)[0]["town"]) == {"A", "B", "x", "y", "z"}


def test_slips_are_refused() -> None:
    with pytest.raises(PlanError, match="rare must be one of 'keep', 'merge', 'refuse'"):
        sdp.Synthesizer(rare="drop")  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="declare coarser levels"):
        sdp.Synthesizer(rare="merge", guarantee=sdp.ZCDP(0.5))


def test_a_plan_file_holds_the_setting(tmp_path: Any) -> None:
    path = write_plan({"rare": "merge"}, tmp_path / "plan.toml")
    assert read_plan(path)["rare"] == "merge"


def test_a_merged_fit_is_saved_with_its_levels(tmp_path: Any) -> None:
    fitted, _ = fit(survey(), rare="merge")
    again = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit"))
    assert again.plan.schema["town"].other == "other"
    assert "were merged" in " ".join(str(again.draw(m=1, rng=1).privacy).split())
