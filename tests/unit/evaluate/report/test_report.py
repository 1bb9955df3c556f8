"""The board reads on page one what is wrong; the public reads nothing that was held against the table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.analysis import mean_of
from pysynthdp.base.errors import PlanError
from pysynthdp.evaluate.report.board import BLANKS
from pysynthdp.evaluate.report.parts import Blank, Grid, Picture

LOST = "share lost of a relation of two columns, worst"
KEYS = {"neighbour": ["sex", "age", "region"]}


def table(seed=5, n=600):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 80, n), rng.choice(["F", "M"], n)
    odds = 1 / (1 + np.exp(3 - age / 20))
    return pd.DataFrame(
        {
            "sex": sex,
            "age": age,
            "region": rng.choice(["north", "east", "south", "west"], n),
            "income": np.round(np.exp(6 + 0.02 * age + 0.3 * (sex == "M") + 0.4 * rng.normal(size=n)), 2),
            "ill": np.where(rng.random(n) < odds, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def real():
    return table()


@pytest.fixture(scope="module")
def release(real):
    return sdp.synthesize(real, m=2, rng=1, progress=False)


def report(real, release, **more):
    return sdp.Report(real, release, keys=KEYS, targets=["ill"], models=["income ~ age + sex"], **more)


def lead(document):
    return " ".join(block for block in document.lead if isinstance(block, str))


def test_a_sound_release_passes_and_nothing_is_averaged(real, release):
    made = report(real, release)
    assert all(gate.passed for gate in made.gates)
    assert "All 4 gates are passed, which is no proof of safety" in lead(made.board())
    assert "no overall score" in lead(made.board())
    names = [block.name for block in made.board().lead if isinstance(block, Grid)]
    assert names == ["worst_subgroups", "worst_tables", "worst_risks"]


def test_page_one_fails_the_original(real):
    board = report(real, [real, real]).board()
    assert lead(board).count("FAIL") == 1
    assert "ALARM" in lead(board)
    identity = board.tables()["identity"]
    assert (identity.RepU == identity.UiO).all()


def test_page_one_fails_records_that_were_shifted(real):
    shifted = real.assign(income=real.income + 17, age=real.age + 1)
    board = report(real, [shifted]).board()
    assert "FAIL" in lead(board)
    assert "ALARM" in lead(board)
    assert "distance" not in board.to_html()


def test_page_one_fails_columns_that_were_permuted(real):
    rng = np.random.default_rng(1)
    apart = pd.DataFrame({name: rng.permutation(real[name]) for name in real})
    made = report(real, [apart])
    assert LOST in [gate.name for gate in made.gates if not gate.passed]
    worst = made.board().tables()["worst_tables"]
    assert worst["where"].str.contains("income").any()


def test_columns_drawn_alone_are_told_and_their_risk_is_shown(real):
    nothing = {name: [] for name in real}
    alone = sdp.synthesize(real, m=2, rng=1, predictor_matrix=nothing, progress=False)
    made = report(real, alone)
    assert made.utility.frames["two-way"]["ratio"].max() > 3
    assert [gate.name for gate in made.gates if not gate.passed] == [LOST]
    assert "Relations between columns are not kept" in made.public().to_html()
    assert made.board().tables()["identity"]["RepU"].notna().all()


def test_the_note_is_the_same_bytes_for_another_table(real, release):
    models, indicators = ["income ~ age"], {"mean income": mean_of("income", by="sex")}
    asked = {"models": models, "indicators": indicators, "title": "A file"}
    other = table(seed=6, n=500).assign(region="north")
    notes = [sdp.Report(each, release, limits={"max_pmse_ratio_2way": most}, **asked).public()
             for each, most in ((real, 10), (other, 0))]  # fmt: skip
    assert notes[0].to_html() == notes[1].to_html()
    assert notes[0].to_json() == notes[1].to_json()
    assert "INTERNAL" not in notes[0].to_html()


def test_three_fields_are_left_for_people(real, release):
    made = report(real, release, about={"decision": "Released on 1 May."})
    blanks = [block for part in made.board().sections for block in part.blocks if isinstance(block, Blank)]
    assert [block.label for block in blanks] == [*BLANKS]
    assert [bool(block.given) for block in blanks] == [False, False, True]


def test_without_keys_risk_is_said_to_be_unmeasured(real, release):
    made = sdp.Report(real, release)
    assert "risk was NOT measured" in lead(made.board())
    assert made.risk is None


def test_under_a_guarantee_only_the_copies_decide(real):
    schema = sdp.Schema(
        [
            sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
            sdp.NumericColumn("age", lower=18, upper=80, decimals=0, may_be_missing=False, fallback=50),
        ]
    )
    guarantee = sdp.ByNoise(sdp.ZCDP(0.5), unit=sdp.PrivacyUnit(name="person"))
    columns = real[["sex", "age"]]
    fitted = sdp.Synthesizer(schema=schema, guarantee=guarantee, progress=False).fit(columns)
    made = sdp.Report(columns, fitted.draw(m=2, rng=1), keys={"neighbour": ["sex", "age"]})
    assert [gate.name for gate in made.gates] == ["rows of the copies that break a rule"]
    assert "No number in it, and no choice made by one, may leave" in lead(made.board())


def test_gates_stand_where_the_user_puts_them(real, release):
    limits = {"max_repu_percent": {"neighbour": 0.0, "unknown": 5}, "max_disco_percent": {"neighbour": 100}}
    made = report(real, release, limits=limits)
    verdicts = {gate.name: gate.verdict for gate in made.gates}
    assert verdicts["RepU by neighbour, %"] == "FAILED"
    assert verdicts["RepU by unknown, %"] == "NOT MEASURED"
    assert verdicts["DiSCO by neighbour, %"] == "passed"
    assert "FAIL: 2 of 7 gates are not passed" in lead(made.board())


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_repu": 5}, r"did you mean 'max_repu_percent'\?"),
        ({"max_repu_percent": 5}, "is no number"),
        ({"rules_failed": "none"}, "is no number"),
    ],
)
def test_gates_in_another_form_are_refused_before_anything_is_read(real, release, limits, said):
    with pytest.raises(PlanError, match=said):
        report(real, release, limits=limits)


def test_copies_of_another_tool_get_a_board_report_and_no_note(real, release):
    made = report(real, list(release.copies))
    assert "Copies of another tool" in made.board().to_html()
    with pytest.raises(PlanError, match="public note"):
        made.public()


def test_files_say_internal_and_json_is_whole(real, release, tmp_path):
    names = {path.name for path in report(real, release).board().save(tmp_path)}
    assert all(name.startswith("INTERNAL_") for name in names)
    plain = json.loads((tmp_path / "INTERNAL_board.json").read_text(encoding="utf-8"))
    assert plain["classification"] == "INTERNAL"
    assert len(plain["sections"]) == 15
    release.save(tmp_path / "out")
    with pytest.raises(sdp.FitError, match="INTERNAL"):
        report(real, release).board().save(tmp_path / "out")


def test_a_release_may_be_named_by_its_folder(real, release, tmp_path):
    release.save(tmp_path / "out")
    with pytest.raises(PlanError, match="stay in their files; give the folder"):
        sdp.Report(real, sdp.SyntheticRelease.open(tmp_path / "out"))
    assert (
        sdp.Report(real, tmp_path / "out").public().to_html() == sdp.Report(real, release).public().to_html()
    )


def test_running_numbers_made_anew_are_like_no_column_and_not_compared():
    rng = np.random.default_rng(7)
    size = rng.integers(1, 4, 200)
    rows = np.repeat(np.arange(200), size)
    people = pd.DataFrame({"hid": 1000 + rows, "hsize": size[rows], "age": rng.integers(0, 90, len(rows))})
    people["region"] = np.where(rows < 100, "north", "south")  # which the order of the ids tells
    units = sdp.Units(id="hid", size="hsize", order="age desc")
    release = sdp.Synthesizer(units=units, progress=False).fit(people).draw(2, rng=1)
    made = sdp.Report(people, release)
    assert "hid" not in made.utility.frames["one-way"].to_string()
    assert all(gate.passed for gate in made.gates)
    assert "units of hid" in made.public().lead[1]


def test_what_was_cut_rounded_and_merged_stands_among_the_mitigations(real):
    rare = real.copy()
    rare.loc[:2, "region"] = "isle"
    asked = {"top_code": {"age": 70}, "round": {"income": 50}, "rare": "merge"}
    made = sdp.Report(rare, sdp.synthesize(rare, m=1, rng=1, progress=False, **asked)).board()
    (part,) = (part for part in made.sections if part.head == "What was done against risk")
    said = " ".join(row[0] for row in part.blocks[1].rows)
    assert "age: larger numbers are written as 70" in said
    assert "income: multiples of 50" in said
    assert "which levels in region have fewer than five records and were merged" in said


def test_a_board_sees_the_worst_columns_tables_and_scores(real, release):
    pytest.importorskip("matplotlib")
    made = report(real, release).board()
    drawn = {block.name for part in made.sections for block in part.blocks if isinstance(block, Picture)}
    assert {"columns", "tables", "propensity", "risk"} <= drawn
    assert "fit income ~ age + sex" in drawn
    page = made.to_html()
    assert page.count("<svg") == len(drawn)
    assert page == report(real, release).board().to_html()


def test_what_is_computed_from_kept_columns_alone_is_real_and_said_so(real):
    table = real.assign(logage=np.log(real["age"]), twice=2.0 * real["income"])
    settings = sdp.Synthesizer(
        keep=["age"], derive={"logage": "log(age)", "twice": "2 * income"}, progress=False
    )
    release = settings.fit(table).draw(m=1, rng=1)
    made = sdp.Report(table, release, keys={"neighbour": ["sex", "age"]})
    assert not made.utility.alarms
    assert not made.risk.alarms
    assert "computed from these alone, so REAL too: logage" in " ".join(str(made.utility).split())
    columns = made.public().tables()["columns"].set_index("column")["released"]
    assert columns[columns == "REAL"].index.tolist() == ["age", "logage"]
    assert "NOT synthetic are: age, logage." in lead(made.public())
