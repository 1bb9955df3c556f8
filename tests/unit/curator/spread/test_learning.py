"""Fits without a guarantee to a table in pieces: what is learned is what is learned of it in one."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import FitError, SchemaError
from pysynthdp.curator.infer import settle_rare
from pysynthdp.curator.relations import find_relations
from pysynthdp.curator.relations.lookups import coded, listed, listed_of
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.spread.pieces import LEAST_BLOCK
from pysynthdp.curator.spread.table import SpreadTable, parts_of_rows
from pysynthdp.curator.table import SCALE_ROWS, split_rows
from pysynthdp.design.parts import parts_of

pytest.importorskip("cloudpickle")  # which comes with Dask
_SPEC = importlib.util.spec_from_file_location("pieces_here", Path(__file__).parents[3] / "pieces_here.py")
pieces_here = importlib.util.module_from_spec(_SPEC)
sys.modules["pieces_here"] = pieces_here  # by which what is sent is found
_SPEC.loader.exec_module(pieces_here)
PiecesHere, RowsHere, cuts_of = pieces_here.PiecesHere, pieces_here.RowsHere, pieces_here.cuts_of

pytestmark = pytest.mark.filterwarnings("ignore")
N = 1_600


def mixed(n=N, seed=3):
    """Levels, few and rare ones; numbers with spikes, extremes, functions and gaps; dates; texts."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n).astype(float), rng.choice(["F", "M"], n)
    pay = (20 * age + np.where(sex == "M", 400, 0) + rng.gamma(2, 800, n)).round(2)
    pay[::17], pay[5] = np.nan, 1e6
    day = pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 3_000, n), unit="D")
    bonus = np.where(rng.random(n) < 0.4, 0, rng.gamma(2, 300, n)).round(0)
    where = rng.choice(["a", "b", "c"], n)
    where[:3], where[3:5] = "d", "e"
    out = pd.DataFrame({"sex": sex, "age": age, "where": where, "pay": pay, "day": day, "bonus": bonus})
    out["group"] = pd.Categorical(np.where(age < 30, "young", np.where(age < 60, "mid", "old")))
    out["total"] = 2 * out.pay + out.bonus
    out.loc[[8, 9], "where"] = None
    return out


@pytest.fixture(scope="module")
def table():
    return mixed()


def fitted(given, **settings):
    return sdp.Synthesizer(progress=False, workers=1, **settings).fit(given)


def apart(one, other):
    """Largest difference of two fits' parameters, relative to their size."""
    far = 0.0
    for mine, theirs in zip(one._machine.fit.steps, other._machine.fit.steps, strict=True):
        assert mine.targets == theirs.targets
        assert mine.design.used.tolist() == theirs.design.used.tolist()
        assert (mine.gates is None) == (theirs.gates is None)
        for name in [each.name for each in fields(mine.params)] if is_dataclass(mine.params) else []:
            a, b = getattr(mine.params, name), getattr(theirs.params, name)
            if isinstance(a, float | np.ndarray):
                assert np.shape(a) == np.shape(b)
                far = max(far, float(np.max(np.abs(np.subtract(a, b)) / (1 + np.abs(a)), initial=0.0)))
    return far


def test_a_default_fit_of_pieces_is_that_of_the_whole(table):
    known = fitted(table)
    assert {"few records", "extreme records"} <= {remark.kind for remark in known.remarks}
    assert {own.column for own in known.plan.derived} == {"group", "total"}
    found = fitted(RowsHere.of(table, cuts_of(N, 6)))
    assert found.plan.schema == known.plan.schema
    assert found.plan.derived == known.plan.derived
    assert found.plan.steps == known.plan.steps
    assert [str(remark.sentence) for remark in found.remarks] == [
        str(each.sentence) for each in known.remarks
    ]
    assert apart(known, found) < 1e-6  # of iterative fits; see below for closed ones


def test_closed_forms_agree_to_eight_digits(table):
    method = {"sex": "sample", "age": "norm", "pay": "norm", "bonus": "normrank", "day": "normrank"}
    settings = {"method": method, "drop": ["where", "group", "total"], "terms": "main"}
    settings["formulas"] = ["pay ~ bs(age, 4) + sex"]
    known = fitted(table, **settings)
    for number in (2, 9):
        assert apart(known, fitted(RowsHere.of(table, cuts_of(N, number)), **settings)) < 1e-8


def test_one_piece_gives_every_bit(table):
    assert apart(fitted(table), fitted(RowsHere.of(table, []))) == 0.0


def test_what_is_looked_at_is_the_same(table):
    assert str(sdp.look(RowsHere.of(table, cuts_of(N, 5)))) == str(sdp.look(table))
    assert sdp.Synthesizer().plan(RowsHere.of(table, cuts_of(N, 5))) == sdp.Synthesizer().plan(table)


def test_rare_levels_are_merged_where_they_lie(table):
    given = table[["where", "sex"]].dropna()
    known = fitted(given, rare="merge")
    found = fitted(RowsHere.of(given, cuts_of(len(given), 4)), rare="merge")
    assert known.plan.schema["where"] == found.plan.schema["where"]
    assert "e" not in found.plan.schema["where"].levels
    assert apart(known, found) < 1e-8


def test_pairs_that_never_occur_are_counted_where_they_lie():
    rng = np.random.default_rng(2)
    sex, answer = rng.choice(["F", "M"], N), rng.choice(["yes", "no", "unsure"], N)
    given = pd.DataFrame({"sex": sex, "pregnant": np.where((sex == "M") & (answer == "yes"), "no", answer)})
    known = fitted(given)._machine.fit.steps[-1].gates
    found = fitted(RowsHere.of(given, cuts_of(N, 5)))._machine.fit.steps[-1].gates
    assert [shut.sum() for shut in known.shut] == [1]
    assert known.earlier == found.earlier
    assert all(np.array_equal(a, b) for a, b in zip(known.shut, found.shut, strict=True))
    assert np.array_equal(known.usual, found.usual)


def test_values_asked_where_they_lie_are_those_of_the_whole(table):
    schema = sdp.Schema((sdp.NumericColumn("pay"), sdp.NumericColumn("age")))
    given = table[["pay", "age"]]
    whole = split_rows(rows_of(given), schema)
    cut = parts_of_rows(RowsHere.of(given, [0, 1, 700, 700, N]), schema)
    for part in parts_of(schema["pay"]) + parts_of(schema["age"]):
        if not part.numeric:
            continue
        here, there = whole.present(part), cut.present(part)
        assert here.n == there.n
        for step in (1, 7, 500):
            assert np.array_equal(here.every(step), there.every(step))
        assert np.array_equal(here.where(lambda own: own > 50), there.where(lambda own: own > 50))
        assert np.isclose(here.deviation(), there.deviation(), rtol=1e-12)
        ranks = np.arange(here.n)
        assert np.array_equal(here.ranked().at(ranks), there.ranked().at(ranks))
        for mine, theirs in zip(whole.sample(part, 3), cut.sample(part, 1), strict=True):
            assert mine is theirs is None or np.array_equal(mine, theirs[::3])


def test_with_a_schema_no_whole_column_meets_anywhere(table, monkeypatch):
    given = table[["sex", "where", "pay"]]
    schema = sdp.Synthesizer().plan(given).schema
    known = fitted(given, schema=schema, rare="merge")
    monkeypatch.setattr(PiecesHere, "gathered", lambda *_: pytest.fail("a column met"))
    found = fitted(RowsHere.of(given, cuts_of(N, 4)), schema=schema, rare="merge")
    assert found.plan == known.plan
    assert apart(known, found) < 1e-6


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"keep": ["sex"]}, "sex"), ({"method": {"age": "normrank"}, "emit_original": True}, "age")],
)
def test_what_needs_whole_columns_is_refused_by_name(table, settings, name):
    given = RowsHere.of(table[["sex", "age"]].dropna(), [800])
    with pytest.raises(FitError, match=f"{name}: what is asked of it needs the whole column.*Parquet"):
        fitted(given, **settings)


def test_few_rows_do_not_move(table):
    short = table[["sex", "age"]].iloc[: LEAST_BLOCK - 1]
    for ask in (fitted, sdp.look, sdp.Synthesizer().plan, lambda rows: parts_of_rows(rows, sdp.Schema(()))):
        with pytest.raises(FitError, match=r"fewer than 1,000 rows.*compute\(\)"):
            ask(RowsHere.of(short, [500]))


@pytest.mark.parametrize("every", [1, 10**4])
def test_neither_few_rows_nor_all_of_many_meet_here(every):
    pieces = PiecesHere((), [], ())
    with pytest.raises(FitError, match="needs the whole column"):
        SpreadTable(10**6, pieces=pieces).to_learn(every)
    assert LEAST_BLOCK <= SCALE_ROWS


def test_a_sample_has_the_rows_that_it_has_of_the_whole_and_does_not_grow():
    schema = sdp.Synthesizer().plan(mixed()).schema.without(["where", "group"])
    lengths = []
    for times in (1, 3):
        given = pd.concat([mixed(20_000)] * times, ignore_index=True)
        rows = RowsHere.of(given, [1, 5_000, 5_000, 17_000])
        table, every = parts_of_rows(rows, schema), max(1, len(given) // SCALE_ROWS)
        rows.pieces.arrivals.clear()
        found, known = table.to_learn(every), split_rows(rows_of(given), schema)
        lengths.append(sum(rows.pieces.arrivals))
        assert all(np.array_equal(found.parts[key], known.parts[key][::every]) for key in known.parts)
    assert abs(lengths[0] - lengths[1]) < 100


def test_a_column_of_another_type_in_one_piece_is_refused_by_name(table):
    rows = RowsHere.of(table[["sex", "age"]].dropna(), [800])
    odd = rows.pieces.held[1].astype({"age": "float32"})
    rows = RowsHere(PiecesHere((rows.pieces.held[0], odd), [], rows.pieces.starts), rows.n_rows, rows.dtypes)
    for ask in (fitted, sdp.look):
        with pytest.raises(SchemaError, match="age has another type in a partition than the table says"):
            ask(rows)


def test_categories_that_only_pieces_know_are_refused(table):
    rows = RowsHere.of(table[["sex", "group"]].dropna(), [800])
    unknown = pd.CategoricalDtype(["__UNKNOWN_CATEGORIES__"])
    rows = RowsHere(rows.pieces, rows.n_rows, {**rows.dtypes, "group": unknown})
    with pytest.raises(SchemaError, match=r"group has categories.*categorize\(\)"):
        fitted(rows)


def test_rows_that_a_table_speaks_of_are_found_by_their_values(table):
    given = table[["age", "group", "where", "sex"]].dropna()
    schema = sdp.Synthesizer(derive="no").plan(given).schema
    whole = split_rows(rows_of(given), schema)
    columns = {name: coded(schema[name], whole) for name in schema.names}
    for y, x, code in (("group", "age", False), ("group", "age", True), ("sex", "where", False)):
        known = listed(columns[y], columns[x], code=code)
        assert np.array_equal(known, listed_of(columns[y], columns[x], code=code)(whole)), (y, x, code)
    assert not listed(columns["sex"], columns["where"]).all()


def test_a_function_that_a_sample_shows_must_hold_in_all_rows():
    n = 3 * SCALE_ROWS
    rng = np.random.default_rng(1)
    x = rng.integers(0, 10_000, n).astype(float)
    given = pd.DataFrame({"x": x, "twice": 2 * x + 3, "broken": 5 * x})
    given.loc[1::3, "broken"] += 1  # in no row of the sample
    schema = sdp.Schema(
        tuple(sdp.NumericColumn(name, may_be_missing=False, declared=False) for name in given)
    )
    asked = {"order": None, "free": set(given)}
    found = find_relations((RowsHere.of(given, cuts_of(n, 4)),), schema, **asked)
    known = find_relations((rows_of(given),), schema, **asked)
    assert found.exact == known.exact
    assert "broken" not in "".join([*found.exact, *found.exact.values()])


def test_levels_are_counted_where_they_lie(table):
    given = table[["where"]].dropna()
    schema = sdp.Synthesizer().plan(given).schema
    rows = RowsHere.of(given, cuts_of(len(given), 3))
    with pytest.raises(SchemaError, match=r"where \(2\)"):
        settle_rare(schema, (rows,), "refuse")
