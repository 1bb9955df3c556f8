"""Cards of settings, plans, fits, releases and statements: no number that depends on rows but how many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import ZCDP, ByNoise, CategoricalColumn, NumericColumn, PrivacyUnit, Schema, Synthesizer

N = 240


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    income = np.where(rng.random(N) < 0.3, 0.0, rng.lognormal(8, 1, N).round(2))
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "income": income,
            "job": rng.choice(["yes", "no", "retired"], N),
            "weight": rng.normal(70, 9, N).round(1),
        }
    )


def another(table):
    """Give a table of the same kind: each column permuted, numbers shifted, zeros still zero."""
    rng = np.random.default_rng(4)
    mixed = pd.DataFrame({name: rng.permutation(table[name]) for name in table})
    numbers = mixed.select_dtypes("number")
    return mixed.assign(**numbers.where(numbers == 0, numbers + 5))


def cards(synthesizer, table):
    """Every card of a synthesis, as text, HTML and one line."""
    fitted = synthesizer.fit(table)
    release = fitted.draw(m=2)
    shown = (synthesizer, synthesizer.plan(table), fitted, fitted.ledger, release, release.privacy)
    return [text for each in shown for text in (str(each), repr(each), each._repr_html_())]


NAMED = {"age": "cells", "income": "cells", "weight": "norm"}
DECLARED = Schema(
    [
        NumericColumn("age", lower=0, upper=120, decimals=0, fallback=50),
        CategoricalColumn("job", ["yes", "no", "retired"], other="no", may_be_missing=False),
        NumericColumn("weight", lower=20, upper=200, decimals=1, fallback=70),
    ]
)


@pytest.mark.parametrize(
    "settings",  # so weak a noise, because a strong one is flagged by chance, once in a hundred fits
    [  # terms and models that are chosen by the rows are named, and so are settled here
        {"terms": "main", "method": dict.fromkeys(["age", "income", "weight"], "cells")},
        {"terms": "main", "spikes": {"income": [0]}, "method": NAMED, "proper": True},
        {"terms": "main", "emit_original": True, "keep": ["job"]},
        {"schema": DECLARED, "guarantee": ByNoise(ZCDP(5000.0), unit=PrivacyUnit(name="person"))},
    ],
    ids=["defaults", "settings", "real values", "noise"],
)
def test_a_card_says_nothing_of_the_values_it_was_fitted_to(table, settings):
    synthesizer = Synthesizer(progress=False, **settings)
    table = table[list(settings["schema"].names)] if "schema" in settings else table
    assert cards(synthesizer, table) == cards(synthesizer, another(table))


def test_a_synthesizer_shows_what_was_set_and_names_the_rest():
    synthesizer = Synthesizer(
        method={"age": "norm"}, drop=["id"], guarantee=ByNoise(ZCDP(0.5), unit=PrivacyUnit(name="person"))
    )
    facts = dict(synthesizer.to_table().facts)
    assert list(facts) == ["method", "drop", "guarantee", "at their defaults"]
    assert facts["method"] == "{'age': 'norm'}"
    assert facts["guarantee"].startswith("ByNoise(guarantee=ZCDP(rho=0.5), unit=PrivacyUnit(name='person')")
    assert "schema, visit_sequence" in facts["at their defaults"]
    assert "method" not in facts["at their defaults"].split(", ")
    assert repr(synthesizer).startswith("<Synthesizer: Synthesizer, not fitted; method: {'age': 'norm'}")


def test_a_synthesizer_shows_no_level_that_was_taken_from_a_table(table):
    settings = Synthesizer(levels={"job": table["job"].unique()}, schema=None, spikes={"income": [7.25]})
    for text in (str(settings), repr(settings), settings._repr_html_()):
        assert "retired" not in text
        assert "7.25" not in text
    assert "levels:            declared for job" in str(settings)
