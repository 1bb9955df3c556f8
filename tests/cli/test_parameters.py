"""Parameters released from a plan file."""

from __future__ import annotations

import json
import re

import pytest
from statsmodels.datasets import fair
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.io.plans.parameters_file import read_parameters
from pysynthdp.parameters.asked import release_parameter

CODEBOOK = """
[columns.age]
kind = "numeric"
lower = 17
upper = 45
may_be_missing = false
fallback = 30
[columns.religious]
kind = "categorical"
levels = [1.0, 2.0, 3.0, 4.0]
other = 2.0
may_be_missing = false
"""
PLAN = """
codebook = "codebook.toml"
deltas = [1e-6, 1e-9]
unit = {name = "woman"}
[[parameters]]
column = "age"
how = "laplace"
epsilon = 1.0
[[parameters]]
column = "religious"
prior = 20.0
copies = 2
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "codebook.toml").write_text(CODEBOOK)
    (tmp_path / "plan.toml").write_text(PLAN)
    fair.load_pandas().data[["age", "religious"]].to_csv(tmp_path / "fair.csv", index=False)
    return tmp_path / "plan.toml"


def run(plan, *more):
    return CliRunner().invoke(app, ["parameter", str(plan.parent / "fair.csv"), "--plan", str(plan), *more])


def test_a_plan_file_releases_what_the_functions_release(plan):
    asked = read_parameters(plan)
    table = fair.load_pandas().data
    mean, shares = (
        release_parameter(table, asked.schema, account=asked.account, **entry) for entry in asked.asked
    )
    assert abs(mean.estimates[0] - table["age"].mean()) < 0.2  # noise scale 28/6366: misses with p < 1e-19
    assert mean.guarantee.eps == pytest.approx(1.0)
    assert shares.estimates.shape == (2, 4)
    observed = (table["religious"].value_counts().sort_index() + 20) / (len(table) + 80)
    assert abs(shares.estimates - observed.to_numpy()).max() < 0.05  # posterior sd 0.006: p < 1e-15
    assert shares.together == asked.account.total()
    assert (asked.account.unit.name, asked.account.deltas) == ("woman", (1e-6, 1e-9))


def test_the_command_line_prints_each_with_its_price_and_their_sum(plan):
    done = run(plan)
    assert done.exit_code == 0, done.output
    mean, shares = re.split(r"Released parameter: ", done.output)[1:]
    for text in (mean, shares):
        for label in ("Guarantee", "Protected unit", "Neighbours", "epsilon at delta = 1e-06", "Sensitivity"):
            assert label in text
        assert "one woman" in text
    assert "implemented" in mean
    assert re.search(r"copy +1\.0 +2\.0 +3\.0 +4\.0", shares)  # the levels by their names
    assert "Privacy account" in shares
    assert re.search(r"^Releases: +2$", shares, flags=re.MULTILINE)


def test_the_statement_of_all_of_them_is_written_and_verifies(plan, tmp_path):
    done = run(plan, "--out", str(tmp_path / "spent.json"))
    assert done.exit_code == 0, done.output
    read = sdp.PrivacyStatement.from_dict(json.loads((tmp_path / "spent.json").read_text("utf-8")))
    assert read.verify().ok
    assert [part.columns[0].column for part in read.parts] == ["age", "religious"]
    assert f"{read.points[0][1]:.3f}" in done.output


def test_nothing_is_spent_where_the_statement_cannot_be_written(plan, tmp_path):
    (tmp_path / "spent.json").write_text("{}")
    done = run(plan, "--out", str(tmp_path / "spent.json"))
    assert done.exit_code == 2
    assert "exists already" in done.output
    assert "Released parameter" not in done.output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("epsilon = 1.0", "epsilom = 1.0", "did you mean 'epsilon'"),
        ('column = "age"', "", "names no column"),
        ('codebook = "codebook.toml"', "", "codebook"),
        ("deltas = [1e-6, 1e-9]", 'deltas = ["1e-6"]', "deltas"),
        ("deltas = [1e-6, 1e-9]", "deltas = [2.0]", "delta"),
        ('unit = {name = "woman"}', 'unit = {nane = "woman"}', "did you mean 'name'"),
        ('unit = {name = "woman"}', 'units = {name = "woman"}', "did you mean 'unit'"),
    ],
)
def test_slips_are_named(plan, old, new, says):
    plan.write_text(PLAN.replace(old, new))
    with pytest.raises((sdp.PlanError, sdp.PrivacyError), match=says):
        read_parameters(plan)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("epsilon = 1.0", 'epsilon = "1"', "epsilon"),
        ("epsilon = 1.0", "epsilon = true", "epsilon"),
        ("copies = 2", "copies = true", "copies"),
        ("prior = 20.0", 'prior = "20"', "prior"),
        ("prior = 20.0", "epsilon = 1.0", "religious: a setting"),
        ('name = "woman"', 'relation = "add_remove"', "add_remove"),
        ('name = "woman"', "rows_per_unit = 3", "one row a unit"),
    ],
)
def test_a_wrong_value_is_refused_by_name_on_the_command_line(plan, old, new, says):
    plan.write_text(PLAN.replace(old, new))
    done = run(plan)
    assert done.exit_code != 0
    assert says in done.output
    assert "Traceback" not in done.output


def test_a_setting_of_another_kind_is_refused(plan):
    schema = read_parameters(plan).schema
    with pytest.raises(sdp.PrivacyError, match="age"):
        release_parameter(fair.load_pandas().data, schema, column="age", prior=20.0)


def test_a_key_in_the_plan_file_bounds_the_rows_of_a_unit(plan):
    mean = PLAN.partition('[[parameters]]\ncolumn = "religious"')[0]
    plan.write_text(mean.replace('"woman"', '"home", key = "hid"'))
    (plan.parent / "fair.csv").write_text("hid,age\n" + "h1,45\n" * 2000 + "h2,45\n")
    asked = read_parameters(plan)
    done = run(plan)
    assert done.exit_code == 0, done.output
    assert "one row a home: enforced by hid before any sum" in " ".join(done.output.split())
    drawn = float(re.findall(r"^1 +([0-9.]+)", done.output, re.MULTILINE)[0])
    assert abs(drawn - 30.0) < 0.5  # all but two rows became the public row; noise scale 28/2001: p < 1e-14
    assert asked.account.unit.key == "hid"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('column = "religious"', 'column = "relgious"'),
        ("prior = 20.0", "prior = -20.0"),
        ("prior = 20.0", "prior = 20.0\nsigma = 3.0"),
        ("copies = 2", "copies = 0"),
        ('codebook = "codebook.toml"', "codebook = 3"),
    ],
)
def test_a_slip_in_the_last_entry_is_found_before_the_first_is_paid_for(plan, old, new):
    plan.write_text(PLAN.replace(old, new))
    done = run(plan)
    assert done.exit_code != 0
    assert "Released parameter" not in done.output
    assert "unexpected" not in done.output


def test_where_the_statement_cannot_be_written_nothing_is_released(plan):
    done = run(plan, "--out", str(plan.parent / "nowhere" / "spent.json"))
    assert done.exit_code != 0
    assert "Released parameter" not in done.output


def test_what_is_no_list_of_entries_is_refused(plan):
    for entries in ("[1]", "3", '"age"', "{column = 'age'}"):
        plan.write_text(f'codebook = "codebook.toml"\nparameters = {entries}\n')
        with pytest.raises(sdp.PlanError, match="parameters must be tables"):
            read_parameters(plan)
