"""Parameters released from a plan file."""

from __future__ import annotations

import pytest
from statsmodels.datasets import fair
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli import app
from pysynthdp.io.parameters_file import read_parameters
from pysynthdp.parameters_asked import release_parameter

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


def test_a_plan_file_releases_what_the_functions_release(plan):
    schema, asked = read_parameters(plan)
    table = fair.load_pandas().data
    mean, shares = (release_parameter(table, schema, **entry) for entry in asked)
    assert abs(mean.estimates[0] - table["age"].mean()) < 0.2  # noise scale 28/6366: misses with p < 1e-19
    assert mean.guarantee.eps == pytest.approx(1.0)
    assert shares.estimates.shape == (2, 4)
    observed = (table["religious"].value_counts().sort_index() + 20) / (len(table) + 80)
    assert abs(shares.estimates - observed.to_numpy()).max() < 0.05  # posterior sd 0.006: p < 1e-15


def test_the_command_line_prints_them(plan):
    done = CliRunner().invoke(app, ["parameter", str(plan.parent / "fair.csv"), "--plan", str(plan)])
    assert done.exit_code == 0, done.output
    assert "implemented" in done.output
    assert "religious" in done.output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("epsilon = 1.0", "epsilom = 1.0", "did you mean 'epsilon'"),
        ('column = "age"', "", "names no column"),
        ('codebook = "codebook.toml"', "", "codebook"),
    ],
)
def test_slips_are_named(plan, old, new, says):
    plan.write_text(PLAN.replace(old, new))
    with pytest.raises(sdp.PlanError, match=says):
        read_parameters(plan)


def test_a_setting_of_another_kind_is_refused(plan):
    schema, _ = read_parameters(plan)
    with pytest.raises(sdp.PrivacyError, match="age"):
        release_parameter(fair.load_pandas().data, schema, column="age", prior=20.0)
