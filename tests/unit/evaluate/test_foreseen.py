"""Intervals foreseen if the synthesis model held: of copies alone, headed so, and before no gate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.evaluate.report.gates import Limits
from pysynthdp.evaluate.utility import foreseen as room

RNG = np.random.default_rng(4)
N = 300
AGE = RNG.normal(50, 9, N).round(2)
TABLE = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], N),
        "age": AGE,
        "pay": (900 + 14 * AGE + RNG.normal(0, 120, N)).round(2),
    }
)
MODELS = ["pay ~ age + sex", "age ~ 1"]
SETTINGS = sdp.Synthesizer(
    method={"age": "norm", "pay": "norm"}, visit_sequence=["sex", "age", "pay"], terms="main", progress=False
)
RELEASE = SETTINGS.fit(TABLE).draw(m=3, rng=2)


def seen(table=TABLE, release=RELEASE, settings=SETTINGS, runs=40, **more):
    return sdp.compare(table, release, models=MODELS, refit=settings, foreseen=runs, **more)


@pytest.fixture(scope="module")
def found():
    return seen()


def test_pooled_intervals_hold_the_truth_of_the_model_about_as_often_as_they_say(found):
    frame = found.tables()["foreseen"]
    assert len(frame) == 4
    assert set(frame["runs"]) == {40}
    # 160 intervals in dependent fours: a rule that forgets n_syn, or one copy taken as real, covers 0.8
    assert 0.88 < frame["coverage"].mean() <= 1
    assert 0.86 < frame["own coverage"].mean() < 1
    own = SETTINGS.fit(TABLE).draw(m=1, k=20_000, rng=5)[0]
    assert frame.set_index("term").loc["age", "truth"] == pytest.approx(
        np.polyfit(own["age"], own["pay"], 1)[0], rel=0.15
    )
    assert frame["width ratio"].between(1, 1.3).all()


def test_the_heading_is_exact_wherever_it_goes_and_nothing_of_it_is_a_gate(found):
    frame = found.tables()["foreseen"]
    assert set(frame["condition"]) == {"if the synthesis model held"}
    assert frame.attrs == {"classification": "INTERNAL"}
    page = str(found)
    assert "\nif the synthesis model held  " in page
    assert "They prove nothing, and no" in page.replace("\n", " ")
    made = sdp.Report(TABLE, RELEASE, models=MODELS, refit=SETTINGS, foreseen=10, options={"attacks": 5})
    without = sdp.Report(TABLE, RELEASE, models=MODELS)
    assert made.gates == without.gates
    board = made.board()
    assert "Intervals foreseen, if the synthesis model held" in board.to_html()
    assert "foreseen" in board.tables()
    assert "foreseen" not in "".join(str(block) for block in board.lead)
    assert made.public().to_html() == without.public().to_html()


def test_it_is_a_function_of_the_copies_and_the_number_of_records():
    others = TABLE.assign(pay=TABLE["pay"].sample(frac=1, random_state=1).to_numpy(), age=TABLE["age"] * 2)
    pd.testing.assert_frame_equal(
        seen(others, runs=10).tables()["foreseen"], seen(runs=10).tables()["foreseen"]
    )


def test_a_model_that_is_wrong_on_the_records_is_not_told_by_it():
    settings = sdp.Synthesizer(method="sample", progress=False)
    loose = settings.fit(TABLE).draw(m=3, rng=1)
    held = sdp.compare(TABLE, loose, models=["pay ~ age"], refit=settings, foreseen=20)
    slope = held.tables()["foreseen"].set_index("term").loc["age"]
    assert slope["coverage"] > 0.75
    assert abs(slope["truth"]) < 5  # which is 14 among the records
    assert held.tables()["regressions"]["std.diff"].abs().max() > 10


def test_fewer_rows_in_a_copy_and_columns_kept_real_are_followed(found):
    small = SETTINGS.fit(TABLE).draw(m=3, k=100, rng=2)
    wide = seen(release=small, runs=10).tables()["foreseen"]["width ratio"].mean()
    assert wide > 0.08 + found.tables()["foreseen"]["width ratio"].mean()
    keep = sdp.Synthesizer(keep=["sex"], method={"age": "norm", "pay": "norm"}, progress=False)
    held = seen(release=keep.fit(TABLE).draw(m=2, rng=1), settings=keep, runs=10)
    assert len(held.tables()["foreseen"]) == 4
    assert not held.missing


def test_households_are_drawn_whole():
    homes = pd.DataFrame({"home": np.repeat(np.arange(120), 3), "region": np.repeat(list("NSEW") * 30, 3)})
    homes["age"] = RNG.normal(40, 10, len(homes)).round(1)
    settings = sdp.Synthesizer(
        units=sdp.Units(id="home", shared=["region"]), method={"age": "norm"}, progress=False
    )
    release = settings.fit(homes).draw(m=2, rng=1)
    held = sdp.compare(homes, release, models=["age ~ region"], refit=settings, foreseen=10)
    assert not [why for why in held.missing if "foreseen" in why]
    assert set(held.tables()["foreseen"]["runs"]) == {10}


def test_under_a_guarantee_it_costs_nothing_and_nothing_is_drawn_from_the_release():
    schema = sdp.Schema(
        [sdp.NumericColumn("age", lower=0, upper=100), sdp.CategoricalColumn("sex", ("F", "M"), other="M")]
    )
    settings = sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(1.0), progress=False)
    fitted = settings.fit(TABLE[["age", "sex"]])
    release = fitted.draw(m=20)
    before = str(fitted.account)
    held = sdp.compare(TABLE, release, models=["age ~ sex"], refit=settings, foreseen=10)
    assert not [why for why in held.missing if "foreseen" in why]
    assert str(fitted.account) == before


def test_copies_of_another_tool_and_settings_that_do_not_fit_say_why():
    other = seen(release=list(RELEASE.copies), runs=10)
    assert other.tables()["foreseen"].empty
    assert any("another tool" in why for why in other.missing)
    with pytest.raises(sdp.PysynthdpError, match="settings of the release"):
        sdp.compare(TABLE, RELEASE, foreseen=20)
    with pytest.raises(sdp.PysynthdpError, match="at least 10"):
        seen(runs=3)
    with pytest.raises(sdp.PysynthdpError, match="at least 10"):
        sdp.Report(TABLE, RELEASE, refit=SETTINGS, foreseen=2)
    none = sdp.compare(TABLE, RELEASE, models=[], refit=SETTINGS, foreseen=10)
    assert "foreseen intervals: no regression was fitted" in none.missing
    wrong = seen(settings=sdp.Synthesizer(keep=["nobody"], progress=False), runs=10)
    assert any("nobody" in why for why in wrong.missing)


def test_limits_have_no_place_for_it():
    assert not [name for name in Limits.__dataclass_fields__ if "foreseen" in name or "coverage" in name]
    assert room.HEADING == "if the synthesis model held"
