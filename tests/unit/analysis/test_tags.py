from __future__ import annotations

import json

import pytest

from pysynthdp.base.errors import ReleaseError
from pysynthdp.tags import ReleaseTags


def make(**changes):
    return ReleaseTags(**{"kind": "partial", "m": 4, "n_syn": 10, "n_org": 20, **changes})


def test_tags_survive_json():
    tags = make(
        synthesised=frozenset({"b", "a"}),
        kept=frozenset({"c"}),
        nests=("1", "1", "2", "2"),
        parameters="drawn",
    )
    assert ReleaseTags.from_dict(json.loads(json.dumps(tags.to_dict()))) == tags


def test_unknown_fields_are_kept():
    plain = {**make().to_dict(), "n_effective": 812.5, "scales": [1, 2]}
    again = ReleaseTags.from_dict(plain)
    assert dict(again.details) == {"n_effective": 812.5, "scales": [1, 2]}
    assert again.to_dict() == plain


@pytest.mark.parametrize(
    "changes", [{"kind": "full"}, {"noise": "some"}, {"nests": ("1",)}, {"m": 0}, {"bias": "yes"}]
)
def test_wrong_words_are_refused(changes):
    with pytest.raises(ReleaseError, match="tag"):
        make(**changes)


def test_nest_labels_alone_mean_imputed():
    assert make(nests=("1", "1", "2", "2")).nesting == "imputed"


def test_missing_fields_are_refused():
    with pytest.raises(ReleaseError, match="lack"):
        ReleaseTags.from_dict({"m": 3})
