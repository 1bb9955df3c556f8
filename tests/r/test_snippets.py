"""The R program in a release folder gives what ``pool`` gives; CI fails where R is missing."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.tags import ReleaseTags

pytestmark = pytest.mark.skipif(
    shutil.which("Rscript") is None and not os.environ.get("CI"), reason="R is not installed"
)
N = 60
CASES = {
    "partial_size_adjusted": {"n_org": 90},
    "raab_simple": {"m": 1},
    "census_fresh_samples": {"sampling": "census"},
    "missing_then_partial_reiter2004": {"nests": tuple("aabbcc"), "n_org": N},
    "missing_then_partial_size_adjusted": {"nests": tuple("aabbcc"), "n_org": 90},
    "two_stage_partial": {"nests": tuple("abcabc"), "nesting": "two_stage", "n_org": N},
    "noise_floored": {"noise": "per_copy_from_one", "parameters": "drawn"},
}


@pytest.mark.parametrize("rule", list(CASES))
def test_the_r_program_gives_what_pool_gives(rule, tmp_path):
    rng = np.random.default_rng(8)
    tags = ReleaseTags(
        kind="complete", n_syn=N, synthesised=frozenset("xgy"), **{"m": 6, "n_org": 50, **CASES[rule]}
    )
    frames = []
    for i in range(tags.m):
        x = rng.normal(size=N)
        y = 1 + (1 + 0.5 * (i // 2)) * x + rng.normal(size=N)
        frames.append(pd.DataFrame({"x": x, "g": rng.choice(["a", "b"], N), "y": y}))
    made = sdp.synthesize(frames[0], m=tags.m, rng=1)
    parts = {name: made.parts()[name] for name in ("schema", "privacy", "provenance")}
    release = sdp.SyntheticRelease(copies=tuple(frames), tags=tags, **parts)
    folder = release.save(tmp_path / "r", format="csv")
    code = "source('analyse.R'); write.csv(format(pooled, digits = 15), 'pooled.csv')"
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    got = pd.read_csv(folder / "pooled.csv")
    want = release.fit("y ~ x", smf.ols)
    assert want.rule == rule
    np.testing.assert_allclose(got["estimate"], want.params, rtol=1e-10)
    np.testing.assert_allclose(got["std.error"], want.bse, rtol=1e-8)
    np.testing.assert_allclose(got["df"], want.df, rtol=1e-6)
    np.testing.assert_allclose(got["p.value"], want.pvalues, rtol=1e-5)
    np.testing.assert_allclose(got[["conf.low", "conf.high"]], want.conf_int(), rtol=1e-7)
