"""What no record has though ten were expected is in no copy: skips, nested codes, empty cells."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp


def fitted(table, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdp.Synthesizer(progress=False, **{"derive": "no", **settings}).fit(table)


def survey(n=3000, seed=1):
    """A skip that is a level, one that is a missing value, and schools of which some are in no district."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"works": rng.choice(["yes", "no"], n, p=[0.6, 0.4])})
    table["shift"] = np.where(table.works == "no", "skip", rng.choice(["day", "night", "both"], n))
    table["hours"] = np.where(table.works == "no", np.nan, rng.normal(35, 9, n).round(1))
    table["district"] = rng.choice(list("ABCDEF"), n)
    table["school"] = table.district.map(
        {"A": "s1", "B": "s1", "C": "s2", "D": "s2", "E": "s3", "F": "s3"}
    ).where(rng.random(n) < 0.6, "private")
    return table


@pytest.mark.parametrize("proper", [False, True])
def test_what_never_occurs_is_never_drawn(proper):
    table = survey()
    for copy in fitted(table, proper=proper).draw(m=5, rng=2):
        assert ((copy.works == "no") == (copy["shift"] == "skip")).all()
        assert ((copy.works == "no") == copy.hours.isna()).all()
        pairs = set(zip(copy.district, copy.school, strict=True))
        assert pairs <= set(zip(table.district, table.school, strict=True))


def test_what_may_occur_is_drawn_as_often_as_it_does():
    """Six standard errors of five copies of 3,000 rows."""
    table = survey()
    copies = fitted(table).draw(m=5, rng=3)
    for name in ("works", "shift", "school"):
        real = table[name].value_counts(normalize=True)
        drawn = sum(copy[name].value_counts(normalize=True) for copy in copies) / 5
        assert np.allclose(drawn[real.index], real, atol=6 * np.sqrt(0.25 / 15000))


def shut_pairs(table):
    """Pairs that some step shuts out."""
    gates = [step.gates for step in fitted(table)._machine.fit.steps if step.gates is not None]
    return sum(int(shut.sum()) for own in gates for shut in own.shut)


def test_an_exception_opens_the_gate_and_few_records_shut_none():
    table = survey().drop(columns="hours")
    before = shut_pairs(table)
    assert before > 3
    table.loc[table.index[table.works == "no"][0], "shift"] = "day"
    assert shut_pairs(table) == before - 1
    assert shut_pairs(survey(90)) == 0


def test_independent_columns_have_no_gates():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({name: rng.choice(list("abcde"), 2000) for name in "uvwx"})
    assert all(step.gates is None for step in fitted(table)._machine.fit.steps)


def test_a_saved_fit_keeps_them(tmp_path):
    fit = fitted(survey())
    fit.save(tmp_path / "a.fit")
    again = sdp.FittedSynthesizer.load(tmp_path / "a.fit")
    pd.testing.assert_frame_equal(again.draw(m=1, rng=1)[0], fit.draw(m=1, rng=1)[0])
