"""Every system that carries a guarantee, from a plan file and a codebook, by the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.io.tables import read_table

CODEBOOK = """
[columns.age]
lower = 15
upper = 50
decimals = 1
may_be_missing = false
fallback = 30

[columns.educ]
lower = 5
upper = 22
decimals = 1
may_be_missing = false
fallback = 14

[columns.religious]
levels = [1, 2, 3, 4]
values = "number"
type = "int64"
other = 1
may_be_missing = false

[columns.affair]
levels = ["no", "yes"]
type = "str"
other = "no"
may_be_missing = false
"""


@dataclass(frozen=True)
class System:
    """What a plan says of one system, its entry, and the status that it can have."""

    name: str
    plan: str
    entry: str
    status: str = "idealised"


def column(line: str, *, top: str = "", exact: bool = False) -> str:
    """A plan by columns."""
    asked = 'guarantee = {name = "by_sampling", deltas = [1e-6, 1e-9]' + (", exact = true}" if exact else "}")
    return f"{top}\n{asked}\n[method]\n{line}\n"


AGE_ALONE = 'drop = ["educ", "religious", "affair"]'
RELIGION_ALONE = 'drop = ["age", "educ", "affair"]'
AFFAIR_ALONE = 'drop = ["age", "educ", "religious"]'
SYSTEMS = [
    System("plug-in", column('age = {name = "gaussian", sigma = 7.0}', top=AGE_ALONE), "B1"),
    System(
        "exact",
        column('age = {name = "gaussian", sigma = 7.0}', top=AGE_ALONE, exact=True),
        "H1",
        "implemented",
    ),
    System(
        "one a copy",
        column('age = {name = "gaussian", sigma = 7.0}', top=AGE_ALONE + "\nproper = true"),
        "B3",
    ),
    System(
        "one a record",
        column('age = {name = "gaussian", sigma = 7.0, posterior = "many"}', top=AGE_ALONE),
        "B4",
    ),
    System(
        "prior",
        column(
            'age = {name = "gaussian", sigma = 7.0, prior_mean = 30.0, prior_sd = 1.0}',
            top=AGE_ALONE + "\nproper = true",
        ),
        "B5",
    ),
    System(
        "truncated",
        column('age = {name = "gaussian", sigma = 7.0, truncate = true}', top=AGE_ALONE),
        "B6",
    ),
    System("floor", column('age = {name = "gaussian_floor", floor = 6.0}', top=AGE_ALONE), "C3"),
    System(
        "joint normal",
        'drop = ["religious", "affair"]\nguarantee = {name = "by_sampling"}\n'
        '[[joint]]\ncolumns = ["age", "educ"]\nmethod = {name = "multivariate_normal", ridge = 0.5}\n',
        "D6",
    ),
    System(
        "marginals",
        'guarantee = {name = "by_sampling", exact = true}\n[[joint]]\n'
        'columns = ["age", "educ", "religious", "affair"]\n'
        '[joint.method]\nname = "linear_statistics"\nepsilon = 2.0\n'
        "bins = {age = [15, 25, 35, 50], educ = 4}\n",
        "E1",
        "implemented",
    ),
    System("beta", column('affair = {name = "dirichlet", prior = 20.0}', top=AFFAIR_ALONE), "F1, F7, G1, G4"),
    System(
        "beta, one a copy",
        column('affair = {name = "dirichlet", prior = 20.0}', top=AFFAIR_ALONE + "\nproper = true"),
        "F1, F8, G1, G3",
    ),
    System(
        "mode, exact",
        column(
            'religious = {name = "dirichlet", prior = [20, 20, 30, 30.5], posterior = "map"}',
            top=RELIGION_ALONE,
            exact=True,
        ),
        "F1, F7, G1, G4",
        "implemented",
    ),
    System(
        "regressions",
        column(
            'educ = {name = "gaussian", sigma = 2.0}\nreligious = {name = "dirichlet", prior = 20.0}\n'
            'age = {name = "ridge", penalty = 6000.0, sigma = 7.0}\n'
            'affair = {name = "logridge", penalty = 500.0}',
            top='visit_sequence = ["educ", "religious", "age", "affair"]',
        ),
        "H3",
    ),
]


@pytest.fixture(scope="module")
def survey(tmp_path_factory) -> Path:
    """Affairs of 1974 (statsmodels fair) with its codebook."""
    folder = tmp_path_factory.mktemp("fair")
    frame = sm.datasets.fair.load_pandas().data
    table = frame[["age", "educ"]].assign(
        religious=frame["religious"].astype(int), affair=np.where(frame["affairs"] > 0, "yes", "no")
    )
    table.to_csv(folder / "fair.csv", index=False)
    (folder / "codebook.toml").write_text(CODEBOOK)
    return folder


def call(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_plan_file_is_priced_without_a_record_and_released_at_that_price(system, survey, tmp_path):
    plan = survey / "plan.toml"
    plan.write_text('codebook = "codebook.toml"\n' + system.plan)
    priced = call("plan", "--plan", plan, "--n", 6366, "--m", 2)
    assert system.entry in priced
    call("synth", survey / "fair.csv", "--plan", plan, "--m", 2, "--out", tmp_path / "out")
    release = sdp.SyntheticRelease.load(tmp_path / "out")
    statement = release.privacy
    assert statement.status == system.status
    assert statement.columns[-1].entry == system.entry
    assert statement.verify().ok
    price = sdp.Synthesizer(**read_plan(plan)).plan().price(n=6366, m=2)
    assert statement.guarantee == price.guarantee
    assert 0 < statement.points[0][1] < 100
    assert len(release[0]) == 6366


@pytest.mark.parametrize("how", ["noise", "sampling"])
def test_a_key_in_a_plan_file_bounds_the_rows_of_a_unit(how, tmp_path):
    table = sm.datasets.fair.load_pandas().data[["educ"]].iloc[:4_000]
    table = table.assign(hid=[f"H{row % 700:04}" for row in range(4_000)])
    table.to_csv(tmp_path / "fair.csv", index=False)
    start = CODEBOOK.index("[columns.educ]")
    (tmp_path / "codebook.toml").write_text(CODEBOOK[start : CODEBOOK.index("[columns.religious]")])
    unit = 'unit = {name = "household", rows_per_unit = 4, key = "hid"}'
    asked = {
        "noise": f'[guarantee]\nname = "zcdp"\nrho = 5.0\n{unit}\n',
        "sampling": f'[guarantee]\nname = "by_sampling"\n{unit}\n'
        '[method]\neduc = {name = "gaussian", sigma = 9}',
    }
    plan = tmp_path / "plan.toml"
    plan.write_text(f'codebook = "codebook.toml"\n{asked[how]}')
    call("synth", tmp_path / "fair.csv", "--plan", plan, "--m", 2, "--out", tmp_path / "out")
    release = sdp.SyntheticRelease.load(tmp_path / "out")
    assert list(release[0].columns) == ["educ"]
    assert "enforced by hid" in str(release.privacy)
    assert release.privacy.verify().ok
    if how == "noise":
        assert release.tags.details["clipped"] == pytest.approx(1_200 / 4_000, abs=0.06)


# neither the exit nor the screen nor the statement may tell which of two files it was
ODD = ["", "NA", "x", "1e400", "-inf", "31337", "2020-01-01", '"a, ""b"""', "01", "True", "\N{SNOWMAN}"]


@pytest.mark.parametrize("cell", ODD)
def test_a_file_with_an_odd_cell_gives_the_same_exit_the_same_words_and_the_same_fit(cell, survey, tmp_path):
    system = next(system for system in SYSTEMS if system.name == "regressions")
    plan = survey / "plan.toml"
    plan.write_text('codebook = "codebook.toml"\n' + system.plan)
    lines = (survey / "fair.csv").read_text().splitlines()[:40]
    said = []
    for name, own in (("real", lines), ("odd", [lines[0], ",".join([cell] * 4), *lines[2:]])):
        (tmp_path / name).mkdir()
        file, out = tmp_path / name / "fair.csv", tmp_path / name / "out"
        file.write_text("\n".join(own) + "\n", encoding="utf-8")
        told = call("synth", file, "--plan", plan, "--m", 1, "--k", 3, "--out", out)
        said.append((told.replace(str(out), ""), (out / "privacy.json").read_text()))
    assert said[0] == said[1]


def test_a_cell_in_another_encoding_or_type_ends_no_run(survey, tmp_path):
    """Without a guarantee such a file is refused with code 3."""
    plan = survey / "plan.toml"
    plan.write_text('codebook = "codebook.toml"\n' + next(s for s in SYSTEMS if s.name == "regressions").plan)
    lines = (survey / "fair.csv").read_bytes().splitlines()[:40]
    file = tmp_path / "fair.csv"
    for number, row in enumerate((b"\xff,\xff,\xff,\xff", b"1,2,3,4,5,6", b"1")):
        file.write_bytes(b"\n".join([lines[0], row, *lines[2:]]))
        call("synth", file, "--plan", plan, "--m", 1, "--out", tmp_path / f"out {number}")
        assert len(read_table(file, texts=True)) == 39
    file.write_bytes(b"\n".join([lines[0], b"\xff,\xff,\xff,\xff", *lines[2:]]))
    plain = CliRunner().invoke(app, ["synth", str(file), "--out", str(tmp_path / "plain")])
    assert plain.exit_code == 3
    assert set(read_table(survey / "fair.csv", texts=True).dtypes.astype(str)) == {"str"}


@pytest.mark.parametrize("cell", ["x", "", "1e400"])
def test_an_odd_cell_moves_the_fit_by_no_more_than_one_record(cell, survey, tmp_path):
    """Of 1,000 codes 1..4, one is replaced; a reader that guessed types would send all of them elsewhere."""
    frame = pd.read_csv(survey / "fair.csv", dtype=str).head(1000)[["religious"]]
    settings = {
        "schema": sdp.Schema(
            [sdp.CategoricalColumn("religious", [1, 2, 3, 4], other=1, may_be_missing=False, dtype="int64")]
        ),
        "method": {"religious": sdp.models.Dirichlet(prior=20.0)},
        "guarantee": sdp.BySampling(),
        "progress": False,
    }
    weights = []
    for first in (frame["religious"].iloc[0], cell):
        file = tmp_path / "one.csv"
        frame.assign(religious=[first, *frame["religious"][1:]]).to_csv(file, index=False)
        for table in (pd.read_csv(file), read_table(file, texts=True)):
            fit = sdp.Synthesizer(**settings).fit(table)
            weights.append(fit._machine.fit.steps[0].params.weights)
    for one in weights:
        assert np.abs(one - weights[0]).sum() <= 2


UNITS = """
codebook = "codebook.toml"
[units]
id = "hid"
size = "members"
max_size = 3
larger = "truncate"
order = "age desc"
shared = ["religious"]
[guarantee]
name = "zcdp"
rho = 20.0
unit = { name = "household" }
"""


def test_households_are_the_protected_unit_of_a_plan_file(tmp_path):
    rng = np.random.default_rng(1)
    size = rng.integers(1, 5, 500)
    house = np.repeat(np.arange(500), size)
    table = pd.DataFrame(
        {
            "hid": house,
            "age": rng.uniform(16, 49, len(house)).round(1),
            "educ": rng.uniform(6, 20, len(house)).round(1),
            "religious": rng.integers(1, 5, 500)[house],
            "affair": rng.choice(["no", "yes"], len(house)),
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "codebook.toml").write_text(CODEBOOK, "utf-8")
    (tmp_path / "plan.toml").write_text(UNITS, "utf-8")
    plan = ["--plan", str(tmp_path / "plan.toml")]
    said = " ".join(CliRunner().invoke(app, ["plan", *plan, "--n", "500"]).output.split())
    assert "given, as its unit has it: place in the unit, members, religious, age (first)" in said
    assert "units assumed:" in said
    assert "further rows carry" not in said
    assert "means, further rows" in said
    beside = CliRunner().invoke(app, ["plan", str(tmp_path / "t.csv"), *plan]).output
    assert f"{len(table):,}" not in beside  # the number of rows is confidential, and no number of units
    out = tmp_path / "copies"
    done = CliRunner().invoke(
        app, ["synth", str(tmp_path / "t.csv"), *plan, "--m", "2", "--out", str(out), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    release = sdp.SyntheticRelease.load(out)
    assert release.privacy.unit.name == "household"
    for copy in release:
        assert (copy.groupby("hid").age.transform("size") == copy.members).all()
        assert copy.groupby("hid").religious.nunique().max() == 1
    assert sdp.verify(out).ok
