"""The model in CONTRIBUTING.md is real: in one file it is found, fits, draws and passes the linters."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import pysynthdp as sdp
import pysynthdp.models
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.testing import check_column_model

ROOT = Path(__file__).parents[2]
N = 4000


@pytest.fixture
def source() -> str:
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return code


@pytest.fixture
def expon(source, tmp_path, monkeypatch):
    """The model's file in place, as far as the registry can see, and gone again afterwards."""
    (tmp_path / "expon.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(pysynthdp.models, "__path__", [*pysynthdp.models.__path__, str(tmp_path)])
    monkeypatch.setattr(COLUMN_MODELS, "_loaded", False)
    yield COLUMN_MODELS["expon"]
    del COLUMN_MODELS._entries["expon"]
    del sys.modules["pysynthdp.models.expon"]


@pytest.fixture
def spells() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    age = rng.uniform(20, 60, N).round()
    weeks = rng.exponential(np.exp(0.5 + age / 30))
    ends = np.sort(weeks)[[1, -2]]  # a lone extreme enters no fit, so each has company here
    return pd.DataFrame({"age": age, "weeks": weeks.clip(*ends)})


@pytest.mark.usefixtures("expon")
def test_its_coefficients_agree_with_statsmodels(spells):
    fitted = sdp.Synthesizer(method={"weeks": "expon"}, decimals={"weeks": 12}).fit(spells)
    step = next(step for step in fitted._machine.fit.steps if step.model.name == "expon")
    scale = fitted._machine.fit.layout.scales["age", "value"]
    X = sm.add_constant((spells["age"] - scale.centre) / scale.width)
    oracle = sm.GLM(spells["weeks"], X, family=sm.families.Gamma(sm.families.links.Log())).fit(tol=1e-12)
    np.testing.assert_allclose(step.params.beta, oracle.params, rtol=1e-6)
    covariance = step.params.root @ step.params.root.T
    np.testing.assert_allclose(covariance, oracle.cov_params() / oracle.scale, rtol=1e-6, atol=1e-12)


@pytest.mark.usefixtures("expon")
@pytest.mark.parametrize("proper", [False, True])
def test_it_draws_durations_whose_mean_depends_on_age(spells, proper):
    fitted = sdp.Synthesizer(method={"weeks": "expon"}, decimals={"weeks": 12}, proper=proper).fit(spells)
    copy = fitted.draw(m=1, rng=1)[0]
    relative = copy["weeks"] / np.exp(0.5 + copy["age"] / 30)
    # parameters from 4,000 rows move the mean by about 1.6 %: too little to see among 4,000 exponentials
    assert stats.kstest(relative, stats.expon.cdf).pvalue > 1e-9
    assert stats.kstest(relative, stats.expon(scale=1.2).cdf).pvalue < 1e-9


def test_it_keeps_the_contract(expon):
    check_column_model(expon)


@pytest.mark.usefixtures("expon")
def test_it_refuses_what_is_no_duration_by_name(spells):
    spells["weeks"] -= 5
    with pytest.raises(sdp.FitError, match="weeks has negative values"):
        sdp.Synthesizer(method={"weeks": "expon"}).fit(spells)


def test_it_is_written_as_we_write(source, tmp_path):
    file = tmp_path / "expon.py"
    file.write_text(source, encoding="utf-8")
    tidy = ["-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--ignore", "INP001", str(file)]
    subprocess.run([sys.executable, *tidy], check=True)
    layout = ["-m", "ruff", "format", "--check", "--config", str(ROOT / "pyproject.toml"), str(file)]
    subprocess.run([sys.executable, *layout], check=True)
    types = ["-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(file)]
    done = subprocess.run([sys.executable, *types], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
