"""R's pooled numbers are Python's, for the same copies; and a release goes to R and back unchanged."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.bridge import load_rds, read_rds, release_from_r, release_to_r, save_rds


def _survey(n=500):
    rng = np.random.default_rng(11)
    age = rng.integers(18, 90, n).astype(float)
    sex = rng.choice(["f", "m"], n)
    region = rng.choice(["north", "south", "west"], n)
    income = np.exp(7 + 0.01 * age + 0.3 * (sex == "m") + rng.normal(0, 0.4, n)).round(1)
    smokes = rng.random(n) < 1 / (1 + np.exp(-1 + age / 40))
    return pd.DataFrame({
        "age": age, "sex": pd.Categorical(sex), "region": pd.Categorical(region), "income": income,
        "smokes": pd.Categorical(np.where(smokes, "yes", "no"), categories=["no", "yes"]),
    })  # fmt: skip


@pytest.fixture(scope="module")
def release():
    return sdp.synthesize(_survey(), m=5, rng=3, progress=False)


@pytest.fixture
def pooled_by_r(run_r, tmp_path):
    def pooled(release, code):
        save_rds(release_to_r(release), tmp_path / "release.rds")
        run_r(
            f"s <- readRDS(arguments[1]); t <- as.data.frame(generics::tidy({code}, conf.int = TRUE)); "
            "saveRDS(t, arguments[2], version = 3)",
            tmp_path / "release.rds",
            tmp_path / "tidy.rds",
        )
        return read_rds(tmp_path / "tidy.rds").frame

    return pooled


def _same(theirs, ours, columns, tolerance):
    terms = [
        re.sub(r"\[T\.(\w+)\]", r"\1", term).replace("Intercept", "(Intercept)") for term in ours["term"]
    ]
    again = theirs.set_index("term").loc[terms]
    for column in columns:
        # far in a tail p multiplies the rounding of t and df by the logarithm of p, some hundred at 1e-40
        allowed = 100 * tolerance if column == "p.value" else tolerance
        np.testing.assert_allclose(again[column], ours[column], rtol=allowed, atol=0, err_msg=column)


COLUMNS = ["estimate", "std.error", "statistic", "df", "p.value", "conf.low", "conf.high"]


@pytest.mark.r_packages("generics")
@pytest.mark.parametrize("carrier", ["worker", "oneshot"])
def test_tidy_of_pool_equals_ols(release, pooled_by_r, carrier):
    code = f'{{options(pysynthdp.transport = "{carrier}"); pool(with(s, lm(income ~ age + sex + region)))}}'
    theirs = pooled_by_r(release, code)
    ours = sdp.ols("income ~ age + sex + region", release).to_frame()
    _same(theirs, ours, COLUMNS, 1e-12)


@pytest.mark.r_packages("generics")
def test_proper_copies_of_another_size(pooled_by_r):
    release = sdp.Synthesizer(proper=True, progress=False).fit(_survey()).draw(m=4, k=900, rng=5)
    theirs = pooled_by_r(release, "pool(with(s, lm(income ~ age + sex)))")
    ours = sdp.ols("income ~ age + sex", release).to_frame()
    _same(theirs, ours, COLUMNS, 1e-12)


@pytest.mark.r_packages("generics")
def test_one_copy(pooled_by_r):
    release = sdp.synthesize(_survey(), m=1, rng=3, progress=False)
    theirs = pooled_by_r(release, "pool(with(s, lm(income ~ age)))")
    ours = sdp.ols("income ~ age", release).to_frame()
    _same(theirs, ours, COLUMNS, 1e-12)


@pytest.mark.r_packages("generics")
def test_logistic_regression(release, pooled_by_r):
    code = "pool(with(s, glm(smokes ~ age + sex, family = binomial, control = glm.control(1e-14, 50))))"
    theirs = pooled_by_r(release, code)
    ours = sdp.logit("smokes ~ age + sex", release).to_frame()
    _same(theirs, ours, ["estimate", "std.error", "df"], 1e-12)


def test_a_release_comes_back_from_r_unchanged(release, run_r, tmp_path):
    save_rds(release_to_r(release), tmp_path / "release.rds")
    run_r("saveRDS(readRDS(arguments[1]), arguments[2])", tmp_path / "release.rds", tmp_path / "back.rds")
    back = release_from_r(load_rds(tmp_path / "back.rds"))
    assert back.tags == release.tags
    assert back.provenance == release.provenance
    assert back.privacy.to_dict() == release.privacy.to_dict()
    assert back.schema == release.schema
    for one, other in zip(back.copies, release.copies, strict=True):
        pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_r_draws_what_python_draws(run_r, tmp_path):
    frame = _survey()
    from pysynthdp.bridge import write_rds

    write_rds(frame, tmp_path / "data.rds")
    run_r(
        "s <- synthesise(readRDS(arguments[1]), m = 1, seed = 8); saveRDS(s$syn, arguments[2])",
        tmp_path / "data.rds",
        tmp_path / "copy.rds",
    )
    ours = sdp.synthesize(frame, m=1, rng=8, progress=False)[0]
    pd.testing.assert_frame_equal(read_rds(tmp_path / "copy.rds").frame, ours, check_dtype=False)
