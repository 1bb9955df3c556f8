"""Releases load for ever: folders that version 0.1.0 wrote, byte for byte, three of them false."""

from __future__ import annotations

import pandas as pd
import pytest

import pysynthdp as sdp

STATUS = {
    "by_sampling": ("right", 0),
    "zcdp": ("right", 0),
    "none": ("none", 10),
    "seeded": ("void", 11),
    "halved": ("broken", 12),
    "forged": ("changed", 13),
    "unit_dropped": ("right", 0),
}
ROWS = 60


def test_every_frozen_folder_is_tested(frozen):
    assert {path.name for path in frozen.iterdir()} == set(STATUS)


@pytest.mark.parametrize("name", STATUS)
def test_a_release_of_0_1_0_verifies_as_what_it_is(name, frozen):
    checked = sdp.verify(frozen / name)
    assert (checked.status, checked.exit_code) == STATUS[name]
    assert checked.ok == (STATUS[name][1] == 0)


@pytest.mark.parametrize("name", sorted(set(STATUS) - {"forged"}))
def test_a_release_of_0_1_0_loads(name, frozen):
    release = sdp.SyntheticRelease.load(frozen / name)
    assert (release.n_syn, release.n_org, len(release)) == (ROWS, ROWS, release.tags.m)
    assert release[0]["age"].between(16, 90).mean() > 0.7
    assert str(release.privacy)
    assert release.privacy.verify().agrees == (name != "halved")


def test_types_codes_and_real_columns_of_0_1_0_come_back(frozen):
    release = sdp.SyntheticRelease.load(frozen / "none")
    assert [str(dtype) for dtype in release[0].dtypes] == [
        "float64",
        "str",
        "category",
        "datetime64[us]",
        "int64",
    ]
    assert release.schema["pay"].missing == ((-8, "not asked"),)
    assert release.tags.kept == {"sex"}
    pd.testing.assert_series_equal(release[0]["sex"], release[1]["sex"])


def test_a_copy_of_0_1_0_can_be_pooled(frozen):
    assert sdp.ols("age ~ sex", sdp.SyntheticRelease.load(frozen / "zcdp")).m == 2


def test_the_forged_release_of_0_1_0_is_refused(frozen):
    with pytest.raises(sdp.ReleaseError, match=r"privacy\.json was changed.*take it anew from its source"):
        sdp.SyntheticRelease.load(frozen / "forged")


@pytest.mark.parametrize("name", sorted(set(STATUS) - {"forged"}))
def test_what_0_1_0_did_not_write_is_said_not_to_be_checked(name, frozen):
    checked = sdp.verify(frozen / name)
    (status,) = [finding for finding in checked.findings if finding.what.startswith("status")]
    assert status.result == "not checked"
    assert "the release does not hold it" in status.detail
    assert "whose statements were false in cases that a folder cannot show" in " ".join(str(checked).split())
