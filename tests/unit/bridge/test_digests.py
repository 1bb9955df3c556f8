"""Copies that were changed in R are seen by the digests that their object carries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import RVector, character, loads, named_list
from pysynthdp.bridge.codec import dumps as written
from pysynthdp.bridge.digests import check_digests, digests_of
from pysynthdp.bridge.edited import edited_release
from pysynthdp.bridge.frames import frame_to_r
from pysynthdp.bridge.releases import changed_release_from_r, release_from_r, release_to_r


def frame(**columns):
    return frame_to_r(pd.DataFrame(columns))


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({
        "x": rng.normal(size=80).round(2), "n": rng.permutation(80) % 8, "g": pd.Categorical(list("ab") * 40),
    })  # fmt: skip
    return release_to_r(sdp.synthesize(table, m=2, rng=1))


def fields_of(value):
    return dict(zip(value.names, value.items, strict=True))


def with_copies(made, change):
    fields = fields_of(made)
    fields["syn"] = RVector("list", tuple(frame_to_r(change(copy)) for copy in release_from_r(made).copies))
    return named_list(fields, {"class": character(["synthetic", "synds"])})


BEFORE = {"x": [1.0, np.nan], "s": ["a", None], "b": [True, False], "c": pd.Categorical(["u", "v"])}
CHANGED = {
    "a cell": ("x", [1.0, 2.0]),
    "a type": ("x", pd.array([1, None], dtype="Int32")),
    "a text": ("s", ["b", None]),
    "a text that says NA": ("s", ["a", "NA"]),
    "a truth value": ("b", [True, True]),
    "names of levels": ("c", pd.Categorical(["w", "v"])),
    "order of levels": ("c", pd.Categorical(["u", "v"], categories=["v", "u"])),
    "order": ("c", pd.Categorical(["u", "v"], ordered=True)),
    "an unused level": ("c", pd.Categorical(["u", "v"], categories=["u", "v", "w"])),
}


@pytest.mark.parametrize("name", list(CHANGED))
def test_every_change_of_a_column_is_seen(name):
    column, values = CHANGED[name]
    before, now = digests_of([frame(**BEFORE), frame(**(BEFORE | {column: values}))])
    different = [
        key for key, *both in zip(now.names, before.texts, now.texts, strict=True) if len(set(both)) > 1
    ]
    assert different == [column]


def test_rows_and_their_order_are_seen():
    one, other, shorter = digests_of([frame(x=[1.0, 2.0]), frame(x=[2.0, 1.0]), frame(x=[1.0])])
    assert len({one.texts, other.texts, shorter.texts}) == 3


def test_what_is_written_and_read_is_the_same(made):
    back = loads(written(made))
    check_digests(fields_of(back)["syn"].items, fields_of(back)["digest"])
    assert release_from_r(back).tags == release_from_r(made).tags


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda copy: copy.assign(x=copy["x"] + 1), "copy 1 was changed after it was made, in x"),
        (lambda copy: copy.assign(real=1.0), "in real"),
        (lambda copy: copy.drop(columns="n"), "in n"),
        (lambda copy: copy[["n", "x", "g"]], "in the order of its columns"),
        (lambda copy: copy.iloc[:-1].reset_index(drop=True), "in x"),
    ],
)
def test_a_changed_copy_is_refused_with_the_column(made, change, what):
    with pytest.raises(BridgeError, match=what) as caught:
        release_from_r(with_copies(made, change))
    assert caught.value.kind == "changed copies"


def test_an_object_without_digests_is_refused(made):
    fields = {name: item for name, item in fields_of(made).items() if name != "digest"}
    with pytest.raises(BridgeError, match="lacks 'digest'"):
        release_from_r(named_list(fields, {"class": character(["synthetic", "synds"])}))


def test_copies_that_were_taken_away_are_seen(made):
    with pytest.raises(BridgeError, match="taken from it"):
        check_digests(fields_of(made)["syn"].items[:1], fields_of(made)["digest"])


class TestAfterSdc:
    def test_labels_and_recoded_columns_are_learned_from_the_copies(self, made):
        changed = changed_release_from_r(
            with_copies(made, lambda copy: copy.assign(g=copy["g"].astype(str) + "!", flag="fake"))
        )
        edited = edited_release(changed, rows=False, recoded=["g"], labels=["flag"])
        assert edited.schema["g"].levels == ("a!", "b!")
        assert edited.schema["flag"].levels == ("fake",)
        assert edited.schema["x"] == changed.schema["x"]
        assert dict(edited.provenance.methods)["flag"] == "constant"
        assert "values of g were recoded" in edited.privacy.reason
        assert "flag was added" in edited.tags.details["flags"][0]

    def test_no_guarantee_is_left(self, made):
        release = release_from_r(made)
        schema = sdp.Schema([sdp.NumericColumn("x", lower=-5, upper=5, decimals=2, fallback=0)])
        fitted = sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(0.5)).fit(release[0][["x"]])
        claimed = fitted.draw(2, rng=1)
        edited = edited_release(replace(claimed), rows=True, recoded=None, labels=[])
        assert claimed.privacy.status == "implemented"
        assert edited.privacy.status == "none"
        assert "so none is left" in edited.privacy.reason
        assert edited.tags.noise == claimed.tags.noise

    def test_the_number_of_rows_that_went_is_not_said(self, made):
        changed = changed_release_from_r(
            with_copies(made, lambda copy: copy.iloc[:77].reset_index(drop=True))
        )
        edited = edited_release(changed, rows=True, recoded=None, labels=[])
        assert edited.tags.n_syn == 77
        assert not any(character.isdigit() for character in edited.tags.details["flags"][0])
