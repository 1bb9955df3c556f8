"""Copies that were edited since they were drawn are not written under the statement of those that were."""

from __future__ import annotations

import copy as copying
import pickle

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import FitError, ReleaseError
from pysynthdp.bridge import release_to_r

N = 60


@pytest.fixture
def release():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({
        "x": rng.normal(size=N).round(2), "n": rng.integers(0, 9, N),
        "g": pd.Categorical(list("ab") * (N // 2)), "s": rng.choice(["u", "v"], N),
    })  # fmt: skip
    return sdp.synthesize(table, m=2, rng=1)


def replace_column(copy):
    copy["x"] = np.arange(N) / 100


def add_column(copy):
    copy["real"] = np.arange(N)


def edit_cell(copy):
    copy.loc[3, "n"] = copy.loc[3, "n"] + 1


def edit_text(copy):
    copy.loc[3, "s"] = "w"


def rename_level(copy):
    copy["g"] = copy["g"].cat.rename_categories({"a": "c"})


def order_levels(copy):
    copy["g"] = copy["g"].cat.as_ordered()


def take_rows(copy):
    pd.DataFrame.__init__(copy, copy.iloc[10:])  # in place


def turn_rows(copy):
    copy[:] = copy.iloc[::-1].to_numpy()


def take_column(copy):
    del copy["n"]


EDITS = {
    replace_column: "x", add_column: "real", edit_cell: "n", edit_text: "s", rename_level: "g",
    order_levels: "g", take_rows: "x", turn_rows: "x", take_column: "n",
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("kept", [False, True], ids=["at hand", "pickled"])
def test_an_edited_copy_is_not_written_and_not_handed_to_r(release, edit, kept, tmp_path):
    if kept:
        release = pickle.loads(pickle.dumps(release))  # noqa: S301 -- our own
    edit(release[1])
    for door in (lambda: release.save(tmp_path / "out"), lambda: release_to_r(release)):
        with pytest.raises(ReleaseError, match="copy 2 was changed after it was drawn") as caught:
            door()
        assert caught.value.column == EDITS[edit]
        assert caught.value.kind == "changed copies"
    assert not (tmp_path / "out").exists()


def test_analyses_copies_and_other_words_for_the_same_are_no_change(release, tmp_path):
    sdp.ols("x ~ n + g", release)
    release[0].attrs["mine"] = 1
    copying.deepcopy(release).save(tmp_path / "one")
    sdp.SyntheticRelease.load(release.save(tmp_path / "two")).save(tmp_path / "three")


def test_rules_do_not_count_on_rows_that_were_taken_away(release):
    for copy in release:
        take_rows(copy)
    with pytest.raises(FitError, match=r"copy 1 has 50 rows, and 60 were drawn; .*a subset"):
        sdp.ols("x ~ n", release)
    with pytest.raises(FitError, match="copy 1 has 50 rows"):
        sdp.pool([([1.0], [1.0]), ([2.0], [1.0])], release=release)
    with pytest.raises(FitError, match="copy 1 has 50 rows"):
        release.apply(lambda copy: ([copy["x"].mean()], [1.0]))
