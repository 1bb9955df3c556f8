"""Missing kinds are NaN to everybody else, and come through a synthesis and through files as they were."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp import CategoricalColumn, NumericColumn, Schema
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.design.coerce import coerce
from pysynthdp.design.parts import join, split
from pysynthdp.design.tagged import letters_of, missing_kinds, tagged, tags_in
from pysynthdp.schema.labels import TAGS, sentinel

A, B, Z = tagged([".a", ".b", ".z"])


def _table(n: int = 1500) -> pd.DataFrame:
    """Incomes with two kinds and plain gaps, a scale with one kind, and whole columns."""
    rng = np.random.default_rng(3)
    at = rng.random(n)
    income = np.select([at < 0.2, at < 0.3, at < 0.35], [A, B, np.nan], np.round(rng.lognormal(7, 1, n)))
    score = np.where(rng.random(n) < 0.1, B, rng.integers(0, 4, n).astype(float))
    return pd.DataFrame({"age": rng.integers(18, 90, n), "income": income, "score": score})


TABLE = _table()
MISSING = {"income": {".a": "refused", ".B": "don't know"}, "score": {".b": "not asked"}}


@pytest.fixture(scope="module")
def release() -> sdp.SyntheticRelease:
    return sdp.synthesize(TABLE, m=2, rng=1, missing=MISSING)


def test_every_tag_has_bits_of_its_own() -> None:
    numbers = tagged(TAGS)
    assert np.isnan(numbers).all()
    assert [f".{chr(letter)}" for letter in letters_of(numbers)] == list(TAGS)
    assert tags_in(np.append(numbers[::-1], [1.0, np.nan, -np.nan])) == TAGS
    assert not letters_of(np.array([np.nan, -np.nan, 0.0, np.inf, sentinel(".a")])).any()
    assert numbers[:1].view(np.uint64)[0] == 0x7FF0_0061_0000_07A2  # haven::tagged_na("a")
    quiet = (numbers.view(np.uint64) | np.uint64(1 << 51)).view(np.float64)  # what arithmetic leaves
    assert tags_in(quiet) == TAGS


def test_copies_have_the_kinds_in_their_shares(release) -> None:
    kinds = missing_kinds(TABLE, release.schema)
    for copy in release.copies:
        assert copy.dtypes.equals(TABLE.dtypes)
        drawn = missing_kinds(copy, release.schema)
        for name in ("income", "score"):
            real = kinds[name].value_counts(normalize=True, dropna=False)
            assert (drawn[name].value_counts(normalize=True, dropna=False) - real).abs().max() < 0.03
        assert copy["income"].max() < 1e6
        assert copy["income"].isna().mean() == pytest.approx(0.35, abs=0.05)
        assert copy["score"].dropna().isin([0, 1, 2, 3]).all()


def test_analyses_leave_kinds_out(release) -> None:
    fit = sdp.ols("age ~ income", release)
    rows = [len(copy["income"].dropna()) for copy in release.copies]
    assert max(rows) < 0.75 * len(TABLE)
    whole = release.copies[0].dropna(subset="income")
    slope = np.polyfit(whole["income"], whole["age"], 1)[0]
    other = release.copies[1].dropna(subset="income")
    assert fit.params["income"] == pytest.approx(
        (slope + np.polyfit(other["income"], other["age"], 1)[0]) / 2, rel=1e-8
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_release_folders_keep_every_bit(release, tmp_path, form) -> None:
    release.save(tmp_path / "r", format=form)
    back = sdp.SyntheticRelease.load(tmp_path / "r")
    assert back.schema == release.schema
    for ours, theirs in zip(release.copies, back.copies, strict=True):
        pd.testing.assert_frame_equal(ours, theirs)
        for name in ("income", "score"):
            assert (ours[name].to_numpy().view(np.uint64) == theirs[name].to_numpy().view(np.uint64)).all()
    assert sdp.verify(tmp_path / "r").exit_code == 10  # nothing to claim, nothing wrong
    assert ".a = refused | .b = don't know" in (tmp_path / "r" / "codebook.csv").read_text()


def test_a_csv_is_of_numbers_to_programs_that_are_told_the_kinds(release, tmp_path) -> None:
    release.save(tmp_path / "r", format="csv")
    program = (tmp_path / "r" / "analyse.py").read_text()
    assert 'na_values=["", ".a", ".b"]' in program
    assert 'na.strings = c("", ".a", ".b")' in (tmp_path / "r" / "analyse.R").read_text()
    assert "destring income, replace" in (tmp_path / "r" / "analyse.do").read_text()
    frame = pd.read_csv(tmp_path / "r" / "synthetic_1.csv", na_values=[".a", ".b"])
    np.testing.assert_array_equal(frame["income"], release.copies[0]["income"])
    first = (tmp_path / "r" / "synthetic_1.csv").read_text().splitlines()[1]
    assert '"' not in first


@pytest.mark.parametrize(
    "column",
    [
        NumericColumn("x", missing={".a": "refused", -8: "none"}, spikes=[0], dtype="float64"),
        NumericColumn("x", missing={".a": "refused", -8: "none"}, spikes=[0], dtype="float64", unit="day"),
        CategoricalColumn(
            "x", [0.0, 1.0, 2.5], missing={".a": "refused", -8: "none"}, other=0.0, dtype="float64"
        ),
    ],
)
def test_parts_hold_kinds_apart(column) -> None:
    series = pd.Series(np.append([0.0, 1.0, -8.0, np.nan, 2.5, 0.0], [A, A]))
    parts = split(series, column)
    assert len(set(parts["x", "kind"][[0, 2, 3, 6]]) - {0}) >= 3
    back = join(parts, column).to_numpy()
    assert (back.view(np.uint64) == series.to_numpy().view(np.uint64)).all()
    shuffled = series[::-1].reset_index(drop=True)
    fitting, changed = coerce(shuffled, column)
    assert not changed.any()
    assert {key: part.tolist() for key, part in split(fitting, column).items()} == {
        key: part[::-1].tolist() for key, part in parts.items()
    }


def test_cells_of_any_type_are_read_alone_under_a_guarantee() -> None:
    number = NumericColumn("x", 0, 9, missing={".a": "refused"})
    scale = CategoricalColumn("x", [0.0, 1.0], missing={".a": "refused"}, other=0.0, dtype="float64")
    cells = [1.0, ".a", A, Z, "1"]
    assert coerce(pd.Series(cells, dtype=object), number)[0].fillna(-1).tolist() == [
        1.0, sentinel(".a"), sentinel(".a"), -1.0, 1.0,
    ]  # fmt: skip
    found = coerce(pd.Series(cells, dtype=object), scale)[0]
    assert found.astype(object).where(found.notna(), None).tolist() == [1.0, ".a", ".a", None, 1.0]


def test_undeclared_kinds_are_plain_missing_and_named() -> None:
    with pytest.warns(PysynthdpWarning, match="score: its missing values are of kinds") as said:
        release = sdp.synthesize(TABLE, m=1, rng=1, missing={"income": MISSING["income"]})
    assert ".b" not in str([each.message for each in said if "score" in str(each.message)])
    assert release[0]["score"].isna().any()
    assert not letters_of(release[0]["score"].to_numpy()).any()
    assert ".b" in str(sdp.look(TABLE))


def test_look_shows_kinds_with_their_labels() -> None:
    seen = {column.name: column for column in sdp.look(TABLE, missing=MISSING).columns}
    assert [label for label, _ in seen["income"].missing] == ["NA", "refused", "don't know"]
    assert [label for label, _ in seen["score"].missing] == ["not asked"]


def test_a_column_of_kinds_alone_stays_one() -> None:
    table = TABLE.assign(none=np.where(np.arange(len(TABLE)) % 2, A, np.nan))
    release = sdp.synthesize(table, m=1, rng=1, missing=MISSING | {"none": {".a": "skipped"}})
    assert 0.45 < (letters_of(release[0]["none"].to_numpy()) > 0).mean() < 0.55


def test_noise_takes_declared_kinds() -> None:
    schema = Schema(
        [
            NumericColumn("age", 18, 90, 0, may_be_missing=False, fallback=40),
            NumericColumn("income", 0, 20_000, 0, missing=MISSING["income"], fallback=0),
            CategoricalColumn("score", [0.0, 1, 2, 3], missing=MISSING["score"], other=0.0, dtype="float64"),
        ]
    )
    guarantee = sdp.ByNoise(sdp.ZCDP(50.0), testing=True)
    fitted = sdp.Synthesizer(schema=schema, guarantee=guarantee).fit(TABLE, noise_seed=1)
    copy = fitted.draw(1, rng=1)[0]
    shares = missing_kinds(copy, schema)["income"].value_counts(normalize=True)
    assert (letters_of(copy["income"].to_numpy()) == ord("a")).mean() == pytest.approx(0.2, abs=0.05)
    assert set(shares.index) == {"refused", "don't know"}
    assert (letters_of(copy["score"].to_numpy()) == ord("b")).mean() == pytest.approx(0.1, abs=0.05)


def _derived(**derive: str) -> pd.DataFrame:
    """Derive columns of a table of numbers with two kinds and of answers, one of them a missing one."""
    rng = np.random.default_rng(5)
    answers = rng.choice(["yes", "no", "refused"], 600)
    numbers = rng.choice([1.5, 2.5, 4.0], 600)
    at = rng.random(600)
    table = pd.DataFrame(
        {
            "said": pd.Categorical(answers),
            "x": np.select([at < 0.2, at < 0.3], [A, B], numbers),
            "y": np.where(at < 0.5, A, numbers),
            "again": pd.Categorical(answers),
        }
    )
    missing = {
        "said": {"refused": "refused"}, "again": {"refused": "refused"}, "x": {".a": "a", ".b": "b"},
        "y": {".a": "a", ".b": "b"},
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*rows are not as", PysynthdpWarning)
        return sdp.synthesize(table, m=1, rng=1, missing=missing, derive=derive)[0]


def test_expressions_know_for_which_reason_a_value_is_missing() -> None:
    copy = _derived(y='where(is_missing(x, ".b"), missing(".a"), where(is_missing(x), missing(".b"), x))')
    x, y = (letters_of(copy[name].to_numpy()) for name in ("x", "y"))
    assert set(x) == {0, ord("a"), ord("b")}
    swapped = np.select([x == ord("a"), x == ord("b")], [ord("b"), ord("a")], 0)
    assert (y == swapped).all()
    values = copy[x == 0]
    assert (values["x"] == values["y"]).all()


def test_expressions_pass_reasons_of_levels_on() -> None:
    copy = _derived(again="where(said == 'yes', said, said)")
    assert (copy["said"] == "refused").any()
    assert copy["again"].astype(object).equals(copy["said"].astype(object))
    copy = _derived(again="where(is_missing(said, 'refused'), 'no', missing('refused'))")
    assert ((copy["said"] == "refused") == (copy["again"] == "no")).all()
    assert set(copy["again"]) == {"no", "refused"}


def test_expressions_with_unknown_reasons_are_refused() -> None:
    with pytest.raises(sdp.PlanError, match="neither a code nor a kind"):
        _derived(y='where(is_missing(x, "gone"), 1, x)')
    with pytest.raises(sdp.PlanError, match="y: what it is derived from is missing for a reason"):
        _derived(y='where(x == 1.5, missing(".q"), x)')
    with pytest.raises(sdp.PlanError, match="takes one reason"):
        _derived(y="where(x == 1.5, missing(x), x)")


def test_a_level_called_as_a_kind_is_a_declared_code_too() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"g": pd.Categorical(rng.choice(["a", "b", ".z"], 400)), "x": rng.normal(size=400)})
    release = sdp.synthesize(table, m=2, rng=1, missing={"g": {".z": "no label"}})
    assert list(sdp.ols("x ~ C(g)", release).params.index) == ["Intercept", "C(g)[T.b]"]
    assert (release[0]["g"] == ".z").mean() == pytest.approx(1 / 3, abs=0.1)
