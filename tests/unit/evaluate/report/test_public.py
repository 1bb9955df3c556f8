"""The public note: a function of the copies, their statement and the purpose alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.analysis import mean_of
from pysynthdp.base.errors import PlanError
from pysynthdp.evaluate.report.public import public_note
from pysynthdp.evaluate.report.purposes import PURPOSES, purpose_of


def table(n=400):
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, n)
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": age,
            "income": np.round(np.exp(6 + 0.01 * age + rng.normal(size=n))),
            "smoke": rng.choice(["YES", "NO"], n),
        }
    )


@pytest.fixture(scope="module")
def release():
    return sdp.synthesize(table(), m=2, rng=1, rules=["not (smoke == 'YES' and age < 17)"], progress=False)


def note(release, **more):
    return public_note(release, title="A file", purpose=purpose_of("public-analysis"), **more)


def blocks(document, head):
    (part,) = (part for part in document.sections if part.head == head)
    return part.blocks


def test_it_says_what_the_copies_are_for_and_what_is_claimed(release):
    texts = " ".join(map(str, note(release).lead))
    assert "No formal privacy guarantee is claimed" in texts
    assert "2 synthetic copies of 400 rows and 4 columns" in texts
    assert "to_dict()" not in note(release).to_html()  # its readers have files, not objects


def test_models_and_indicators_are_pooled_and_one_that_fails_says_why(release):
    models = {"income": "income ~ age + sex", "smoking": "smoke ~ age", "none": "income ~ nothing"}
    made = note(release, models=models, indicators={"mean": mean_of("income", by="sex")})
    shown = blocks(made, "What the copies say")
    assert [shown[1].title, shown[2].title] == ["Pooled OLS results", "Pooled Logit results"]
    assert shown[3].startswith("none: ")
    assert len(shown) == 5


def test_rules_are_counted_in_the_copies(release):
    (rules,) = blocks(note(release), "Rules that hold in every row")
    assert rules.rows == (("not (smoke == 'YES' and age < 17)", 0),)


def test_real_columns_stand_on_page_one():
    release = sdp.synthesize(table(), m=1, rng=1, keep=["sex"], progress=False)
    assert "NOT synthetic are: sex" in note(release).lead[1]
    frame = blocks(note(release), "How they were made")[1].frame
    assert frame.set_index("column").released.to_dict()["sex"] == "REAL"


def test_it_says_where_relations_are_not_kept(release):
    nothing = {name: [] for name in table()}
    alone = sdp.synthesize(table(), m=1, rng=1, predictor_matrix=nothing, progress=False)
    assert blocks(note(alone), "How they were made")[0].startswith("Relations between columns are not kept")
    assert blocks(note(release), "How they were made")[0].startswith("The copies hold the relations")


def test_the_same_release_gives_the_same_bytes(release, tmp_path):
    release.save(tmp_path / "out")
    again = sdp.SyntheticRelease.load(tmp_path / "out")
    assert note(release, models=["income ~ age"]).to_html() == note(again, models=["income ~ age"]).to_html()


@pytest.mark.parametrize("wrong", ["income ~ age", ["income"], {"a": ("income ~ age", "probit")}])
def test_models_in_another_form_are_refused(release, wrong):
    with pytest.raises(PlanError, match="models must be"):
        note(release, models=wrong)


def test_a_purpose_that_is_not_listed_is_refused():
    with pytest.raises(PlanError, match=r"did you mean 'public-analysis'\?"):
        purpose_of("public-analyses")
    assert all(purpose.name == name for name, purpose in PURPOSES.items())
