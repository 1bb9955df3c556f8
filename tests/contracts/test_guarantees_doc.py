"""``docs/guarantees.md`` tells the truth: its prices are recomputed, its plan runs on a real table."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.models import (
    Dirichlet,
    Gaussian,
    GaussianFloor,
    LinearStatistics,
    LogRidge,
    MultivariateNormal,
    Ridge,
)

TEXT = (Path(__file__).parents[2] / "docs" / "guarantees.md").read_text("utf-8")
N = 6366
COLUMNS = {
    "age": sdp.NumericColumn("age", lower=15, upper=50, may_be_missing=False, fallback=30),
    "educ": sdp.NumericColumn("educ", lower=5, upper=22, may_be_missing=False, fallback=14),
    "religious": sdp.CategoricalColumn("religious", [1, 2, 3, 4], other=1, may_be_missing=False),
    "affair": sdp.CategoricalColumn("affair", ["no", "yes"], other="no", may_be_missing=False),
}
FREE = Gaussian(sigma=1e6)  # a predictor whose own price does not show
BOTH = ("religious", "affair")
MODELS = [
    (("age",), {"age": Gaussian(sigma=7.0)}, {}),
    (("age",), {"age": Gaussian(sigma=7.0)}, {"proper": True}),
    (("age",), {"age": Gaussian(sigma=7.0, truncate=True)}, {}),
    (("age",), {"age": GaussianFloor(floor=6.0)}, {}),
    (("age", "educ"), None, {"joint": [(("age", "educ"), MultivariateNormal(ridge=0.5))]}),
    (("affair",), {"affair": Dirichlet(prior=20.0)}, {}),
    (("affair",), {"affair": Dirichlet(prior=20.0)}, {"proper": True}),
    (("religious",), {"religious": Dirichlet(prior=20.0)}, {}),
    (BOTH, None, {"joint": [(BOTH, LinearStatistics(epsilon=1.0))]}),
    (("educ", "age"), {"educ": FREE, "age": Ridge(penalty=6366.0, sigma=7.0)}, {}),
    (("educ", "affair"), {"educ": FREE, "affair": LogRidge(penalty=500.0)}, {}),
]
ROWS = [line.strip("| ").split("|") for line in TEXT.splitlines() if line.startswith("| `")]


CASES = list(zip(ROWS, MODELS, strict=True))


@pytest.mark.parametrize(("row", "model"), CASES, ids=[row[0].strip() for row in ROWS])
def test_the_prices_are_those_of_the_plan(row, model):
    columns, method, settings = model
    schema = sdp.Schema([COLUMNS[name] for name in columns])
    own = {"schema": schema, "method": method, **settings}
    asked = (sdp.BySampling(exact=False), sdp.BySampling(exact=True))
    plan, exact = (sdp.Synthesizer(**own, guarantee=guarantee).plan() for guarantee in asked)
    for m, printed in ((1, row[2]), (5, row[3])):
        assert plan.price(n=N, m=m).epsilon() == pytest.approx(float(printed), abs=6e-4)
    if row[4].strip().startswith("yes"):
        for m, printed in zip((1, 5), re.findall(r"\d\.\d+", row[4]), strict=False):
            assert exact.price(n=N, m=m).epsilon() == pytest.approx(float(printed), abs=6e-4)
        assert exact.price(n=N).epsilon() < 10
    else:
        with pytest.raises(sdp.PrivacyError, match="no exact sampler"):
            exact.price(n=N)


def test_the_plan_runs(tmp_path, monkeypatch):
    codebook, plan = re.findall(r"^```toml\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "codebook.toml").write_text(codebook)
    (tmp_path / "plan.toml").write_text(plan)
    frame = sm.datasets.fair.load_pandas().data
    affair = np.where(frame["affairs"] > 0, "yes", "no")
    table = frame[["educ", "age", "religious"]].assign(affair=affair)
    table.astype({"religious": int}).to_csv(tmp_path / "survey.csv", index=False)
    monkeypatch.chdir(tmp_path)
    (commands,) = re.findall(r"^```sh\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
    for line in commands.splitlines():
        result = CliRunner().invoke(app, line.split()[1:])
        assert result.exit_code == 0, result.output
    release = sdp.SyntheticRelease.load(tmp_path / "copies")
    assert (release.privacy.status, release.privacy.verify().ok) == ("idealised", True)
    assert release.privacy.unit.name == "woman"
