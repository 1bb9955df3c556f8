"""The two doors of a release to analyses, and a recipient who has the folder and nothing else."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.analysis import mean_of

N = 150


@pytest.fixture(scope="module")
def real():
    rng = np.random.default_rng(5)
    x, g = rng.normal(size=N), rng.choice(["a", "b"], N)
    return pd.DataFrame({"x": x, "g": g, "y": 1 + x + (g == "b") + rng.normal(size=N)})


@pytest.fixture(scope="module")
def release(real):
    return sdp.synthesize(real, m=5, rng=1)


def test_fit_is_fit_copies_of_itself(release):
    got = release.fit("y ~ x + g", smf.ols, cov_type="HC3")
    want = sdp.ols("y ~ x + g", release, cov_type="HC3")
    pd.testing.assert_frame_equal(got.to_frame(), want.to_frame())
    assert release.fit("y ~ x", smf.ols, rule="T_s").rule == "raab_simple"


def test_apply_takes_any_estimand(release):
    got = release.apply(mean_of("y", by="g"))
    assert got.terms == ("mean(y)[g=a]", "mean(y)[g=b]")
    assert got.params.iloc[0] == pytest.approx(np.mean([c[c.g == "a"].y.mean() for c in release]))
    ranges = release.apply(lambda copy: ([copy.y.median()], [0.01]), variables=["y"])
    assert ranges.T.iloc[0] > 0.01


def test_a_recipient_needs_the_folder_alone(real, release, tmp_path):
    table = tmp_path / "confidential.csv"
    real.to_csv(table, index=False)
    sdp.synthesize(pd.read_csv(table), m=5, rng=1).save(tmp_path / "sent")
    table.unlink()
    moved = (tmp_path / "sent").rename(tmp_path / "received")
    code = (
        "import sys, pysynthdp as s, statsmodels.formula.api as smf\n"
        "r = s.SyntheticRelease.load(sys.argv[1])\n"
        "print(repr(r.fit('y ~ x + g', smf.ols).bse['x'].item()))"
    )
    alone = _run(tmp_path, "-c", code, str(moved))
    assert float(alone) == pytest.approx(sdp.ols("y ~ x + g", release).bse["x"], rel=1e-12)
    shell = _run(tmp_path, "-m", "pysynthdp", "pool", "y ~ x + g", str(moved), "--format", "csv")
    terms = pd.read_csv(StringIO(shell)).set_index("term")
    assert terms.loc["x", "std.error"] == pytest.approx(float(alone), rel=1e-12)


def _run(folder: Path, *arguments: str) -> str:
    """Run Python afresh in an empty working folder."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, *arguments], cwd=work, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
