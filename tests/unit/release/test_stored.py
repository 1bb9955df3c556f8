"""A release whose copies stay in their files: the same cells and types, only what is asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import ReleaseError
from pysynthdp.release import SyntheticRelease

N = 1000


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "x": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)).round(3),
            "n": rng.integers(0, 5, N),
            "g": pd.Categorical(rng.choice(["a", "b", "c"], N), ["c", "b", "a"]),
            "t": pd.Series(rng.choice(["north", None, "south"], N), dtype="str"),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, N), unit="D"),
        }
    )
    return sdp.Synthesizer(progress=False).fit(table)


@pytest.fixture(params=["parquet", "csv"])
def folder(request, fitted, tmp_path):
    return fitted.draw_to(tmp_path / "r", m=2, k=20_000, rng=1, format=request.param)


def test_blocks_put_together_are_the_copy(folder):
    whole, opened = SyntheticRelease.load(folder), SyntheticRelease.open(folder)
    for copy, stored in zip(whole, opened, strict=True):
        assert len(stored) == len(copy)
        assert list(stored.columns) == list(copy.columns)
        blocks = list(stored.blocks(rows=7001))
        assert [len(block) for block in blocks] == [7001, 7001, 5998]
        assert all((block.dtypes == copy.dtypes).all() for block in blocks)
        pd.testing.assert_frame_equal(pd.concat(blocks), copy, check_exact=True)
        pd.testing.assert_frame_equal(stored.read(), copy, check_exact=True)
        assert stored.read().attrs == copy.attrs
    assert (opened.m, opened.n_syn, opened.n_org) == (whole.m, whole.n_syn, whole.n_org)
    assert (opened.tags, opened.nests, opened.schema) == (whole.tags, whole.nests, whole.schema)


def test_columns_come_alone_and_in_the_order_asked_for(folder):
    whole, stored = SyntheticRelease.load(folder)[1], SyntheticRelease.open(folder)[1]
    pd.testing.assert_frame_equal(stored.read(["g", "x"]), whole[["g", "x"]])
    pd.testing.assert_frame_equal(pd.concat(stored.blocks(["g", "x"], rows=300)), whole[["g", "x"]])
    with pytest.raises(ReleaseError, match=r"no column dya; did you mean 'day'\?"):
        stored.read(["dya"])


def test_a_folder_that_was_changed_is_refused_before_and_while_it_is_read(folder):
    opened = SyntheticRelease.open(folder)
    blocks = opened[0].blocks(rows=5000)
    next(blocks)
    opened[0].path.touch()
    with pytest.raises(ReleaseError, match=r"synthetic_1\.\w+ was changed after the folder was opened"):
        list(blocks)
    with pytest.raises(ReleaseError, match="was changed after the folder was opened"):
        opened.check_unchanged()
    opened[1].path.write_bytes(opened[1].path.read_bytes()[:-1])
    with pytest.raises(ReleaseError, match="was changed after it was written"):
        SyntheticRelease.open(folder)


def test_its_card_says_that_the_copies_are_in_their_files(folder):
    opened = SyntheticRelease.open(folder)
    assert "copies, in their files" in str(opened)
    assert "north" not in repr(opened[0])
