"""Declared codes are missing in every analysis; oracles are the same analyses of hand-cleaned copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from pysynthdp.analysis import apply, glm, logit, mean_of, ols, pool, quantile_of, share_of
from pysynthdp.base.errors import FitError
from pysynthdp.evaluate import compare_fits
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.tags import ReleaseTags

N = 400
SCHEMA = Schema(
    [
        NumericColumn("age"),
        NumericColumn("hours", missing={-7: "not asked", -9: "refused"}),
        CategoricalColumn("party", ["red", "blue"], missing={"no answer": "no answer"}),
        NumericColumn("since", unit="day", missing={0: "unknown"}),
        NumericColumn("mood", missing={9: "do not know"}),
    ]
)


@dataclass(frozen=True)
class Release:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags
    schema: Schema = SCHEMA


def copy(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, N)
    hours = (20 + 0.3 * age + rng.normal(0, 5, N)).round(1)
    since = pd.Timestamp("2001-03-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    return pd.DataFrame(
        {
            "age": age,
            "hours": np.where(rng.random(N) < 0.1, rng.choice([-7, -9], N), hours),
            "party": pd.Categorical(rng.choice(["red", "blue", "no answer"], N, p=[0.5, 0.3, 0.2])),
            "since": since.where(rng.random(N) > 0.1, pd.Timestamp("1970-01-01")),
            "mood": rng.choice([1, 2, 3, 4, 5, 9], N),
        }
    )


FRAMES = tuple(copy(i) for i in range(3))
RELEASE = Release(
    FRAMES,
    ReleaseTags(kind="complete", synthesised=frozenset(FRAMES[0]), m=3, n_syn=N, n_org=N),
)


def cleaned(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.assign(
        hours=frame.hours.where(frame.hours > 0),
        party=frame.party.cat.remove_categories(["no answer"]),
        since=frame.since.where(frame.since > pd.Timestamp("1970-01-01")),
        mood=frame.mood.where(frame.mood < 9),
    )
    return frame.assign(since=(frame.since - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1))


CLEAN = [cleaned(frame) for frame in FRAMES]


@pytest.mark.parametrize("formula", ["hours ~ age + party", "age ~ mood + since", "mood ~ np.log(hours)"])
def test_a_regression_is_that_of_cleaned_copies(formula):
    fits = [smf.ols(formula, frame).fit() for frame in CLEAN]
    done = ols(formula, RELEASE)
    want = pd.concat([fit.params for fit in fits], axis=1).mean(axis=1)
    pd.testing.assert_series_equal(
        done.params.sort_index(), want.sort_index(), check_names=False, rtol=1e-8, check_index_type=False
    )
    assert not any("no answer" in term for term in done.terms)
    assert "left out as missing" in " ".join(done.notes)


def test_the_note_counts_the_cells_of_the_columns_in_the_model():
    count = sum(int((frame.hours < 0).sum()) for frame in FRAMES)
    (note,) = [note for note in ols("hours ~ age", RELEASE).notes if "codes" in note]
    assert f"(hours {count}, over the 3 copies)" in note
    assert "party" not in note
    assert not [note for note in ols("age ~ 1", RELEASE).notes if "codes" in note]


def test_codes_can_be_kept():
    done = ols("hours ~ age + party", RELEASE, codes="keep")
    assert any("no answer" in term for term in done.terms)
    assert "as if they were values" in " ".join(done.notes)
    assert apply(mean_of("hours"), RELEASE, codes="keep").params.iloc[0] == pytest.approx(
        np.mean([frame.hours.mean() for frame in FRAMES])
    )
    with pytest.raises(FitError, match="codes must be"):
        ols("hours ~ age", RELEASE, codes="no")


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (mean_of("hours"), lambda d: d.hours.mean()),
        (mean_of("mood"), lambda d: d.mood.mean()),
        (quantile_of("hours", 0.3), lambda d: d.hours.dropna().quantile(0.3)),
        (share_of("party", "red"), lambda d: (d.party.dropna() == "red").mean()),
    ],
)
def test_estimands_leave_codes_out(made, want):
    done = apply(made, RELEASE)
    assert done.params.iloc[0] == pytest.approx(np.mean([want(frame) for frame in CLEAN]))
    assert len([note for note in done.notes if "codes" in note]) == 1


def test_subgroups_of_a_code_do_not_exist():
    assert apply(mean_of("age", by="party"), RELEASE).terms == (
        "mean(age)[party=blue]",
        "mean(age)[party=red]",
    )


@pytest.mark.parametrize(
    "formula", ["I(party == 'no answer') ~ age", "age ~ mood.isin([9])", "age ~ I(hours == -7)"]
)
def test_asking_for_a_code_is_refused(formula):
    with pytest.raises(FitError, match="declared code"):
        ols(formula, RELEASE)
    with pytest.raises(FitError, match="declared code of party"):
        apply(share_of("party", "no answer"), RELEASE)


def test_a_comparison_with_a_missing_value_is_missing():
    done = glm("I(hours > 35) ~ age", RELEASE, family="binomial")
    complete = [frame.dropna(subset=["hours"]) for frame in CLEAN]
    fits = [smf.logit("late ~ age", d.assign(late=(d.hours > 35) * 1.0)).fit(disp=False) for d in complete]
    assert done.params["age"] == pytest.approx(np.mean([fit.params["age"] for fit in fits]), rel=1e-6)
    assert "which the formula compares" in " ".join(done.notes)


def test_a_response_of_levels_says_which_is_one():
    done = logit("party ~ age", RELEASE)
    assert "party: red counts as 1, blue as 0." in done.notes


def test_fits_made_by_hand_are_told_of_their_codes():
    fits = [smf.ols("hours ~ age", frame).fit() for frame in FRAMES]
    assert "hours" in " ".join(note for note in pool(fits, release=RELEASE).notes if "codes" in note)
    clean = [smf.ols("hours ~ age", frame).fit() for frame in CLEAN]
    assert not [note for note in pool(clean, release=RELEASE).notes if "codes" in note]


def test_the_confidential_side_leaves_codes_out_too():
    real = copy(99)
    done = ols("hours ~ age + party", RELEASE)
    found = compare_fits(done, real)
    want = smf.ols("hours ~ age + party", cleaned(real)).fit().params
    assert dict(zip(found.terms, found.confidential, strict=True)) == pytest.approx(dict(want))
    with_codes = compare_fits(done, smf.ols("hours ~ age + party", real).fit())
    assert "codes as values (hours" in " ".join(with_codes.notes)
    few = real.assign(party="red", hours=np.where(np.arange(N) < 3, -7, 40 + real.age))
    assert "hours <10" in " ".join(compare_fits(done, smf.ols("hours ~ age", few).fit()).notes)
    with pytest.raises(FitError, match="no column 'party'"):
        compare_fits(done, real.drop(columns="party"))
    with pytest.raises(FitError, match="give the model fitted"):
        compare_fits(apply(mean_of("age"), RELEASE), real)
