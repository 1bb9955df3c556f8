"""What fewer than five records have is taken out of a column before a fit, and said without a value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import FitError, PysynthdpWarning
from pysynthdp.curator.few_records import without_few, without_few_of
from pysynthdp.curator.table import PartTable, scales_of
from pysynthdp.curator.whole_table import check_rows, size_remarks, unused_remarks
from pysynthdp.design.parts import kinds_of, parts_of, split
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

CODES = {-8: "no job", -9: "refused"}


def numbers(**counts: int) -> tuple[pd.Series, NumericColumn]:
    """A column with so many values, missing values, codes -8 and -9, and zeros declared as spikes."""
    cells = np.concatenate(
        [
            100.0 + np.arange(counts.get("value", 0)),
            np.full(counts.get("na", 0), np.nan),
            np.full(counts.get("job", 0), -8.0),
            np.full(counts.get("refused", 0), -9.0),
            np.zeros(counts.get("zero", 0)),
        ]
    )
    column = NumericColumn("x", missing=CODES, spikes=[0.0], may_be_missing="na" in counts, declared=False)
    return pd.Series(cells), column


def changed(**counts: int) -> tuple[dict[str, int], str]:
    """Kinds of the rows afterwards, with the values that models see, and what is said."""
    cells, column = numbers(**counts)
    result = without_few_of(split(cells, column), column)
    kind = result.parts["x", "kind"]
    names = {"value": "value", "NA": "na", "no job": "job", "refused": "refused", "= 0.0": "zero"}
    found = {names[name]: int((kind == i).sum()) for i, name in enumerate(kinds_of(column))}
    seen = kind if result.absent is None else result.absent
    found["seen"] = int(np.count_nonzero(seen == 0))
    return {name: count for name, count in found.items() if count}, " / ".join(map(str, result.remarks))


CASES = [
    ({"value": 90, "na": 10}, {"value": 90, "na": 10, "seen": 90}, ""),
    (
        {"value": 4, "na": 96},
        {"na": 100},
        "have a value besides its spikes, so these records count as missing",
    ),
    ({"value": 5, "na": 95}, {"value": 5, "na": 95, "seen": 5}, "the default methods draw their one average"),
    (
        {"value": 9, "zero": 95},
        {"value": 9, "zero": 95, "seen": 9},
        "method={'x': 'norm'} gives them a spread",
    ),
    ({"value": 10, "na": 95}, {"value": 10, "na": 95, "seen": 10}, ""),
    (
        {"value": 1, "job": 99},
        {"job": 100},
        "have a value besides its spikes, so these records count as 'no job'",
    ),
    ({"value": 3, "zero": 97}, {"zero": 100}, "have a value besides its spikes, so no copy has that"),
    ({"value": 96, "zero": 4}, {"value": 100, "seen": 100}, "drawn as any other number"),
    ({"value": 2, "zero": 4, "job": 94}, {"value": 6, "job": 94, "seen": 6}, "drawn as any other number"),
    ({"value": 1, "zero": 3, "na": 96}, {"na": 100}, "drawn as any other number"),
    ({"value": 90, "na": 7, "refused": 3}, {"value": 90, "na": 10, "seen": 90}, "the code 'refused', so"),
    ({"value": 90, "job": 8, "refused": 2}, {"value": 90, "job": 10, "seen": 90}, "count as 'no job'"),
    ({"value": 90, "na": 4, "refused": 3}, {"value": 90, "na": 7, "seen": 90}, "the code 'refused', so"),
    ({"value": 97, "na": 3}, {"value": 100, "seen": 97}, "no value, and copies have one everywhere"),
    ({"value": 96, "na": 2, "job": 2}, {"value": 100, "seen": 96}, "no value and the code 'no job'"),
    (
        {"value": 3, "na": 1, "zero": 96},
        {"zero": 100},
        "have a value besides its spikes and no value, so no copy has that",
    ),
    ({"value": 4, "na": 4}, {"na": 8}, "have a value besides its spikes, so these records count as missing"),
    ({"value": 3, "refused": 2}, {"refused": 5}, "count as 'refused'"),
]


@pytest.mark.parametrize(("counts", "after", "said"), CASES)
def test_no_kind_of_one_to_four_records_remains(counts, after, said) -> None:
    found, words = changed(**counts)
    assert found == after
    assert said in words
    assert bool(words) is bool(said)
    assert not any(0 < count < 5 for count in found.values())


@pytest.mark.parametrize(("counts", "after", "said"), CASES)
def test_remarks_tell_ways_out_and_no_count(counts, after, said) -> None:  # noqa: ARG001
    cells, column = numbers(**counts)
    for remark in without_few_of(split(cells, column), column).remarks:
        assert remark.kind == "few records"
        assert remark.remedy
        assert not any(digit in remark.what for digit in "1234567")


def test_levels_lose_rare_ways_of_being_absent_too() -> None:
    cells = pd.Series(["a", "b"] * 20 + ["dk"] * 2 + [None] * 2)
    column = CategoricalColumn("g", ["a", "b"], missing={"dk": "don't know"})
    result = without_few_of(split(cells, column), column)
    assert np.unique(result.parts["g", "kind"]).tolist() == [0]
    assert result.absent is not None
    assert np.flatnonzero(result.absent).tolist() == [40, 41, 42, 43]
    few = pd.Series(["Zanzibar"] * 2 + [None] * 38)
    column = CategoricalColumn("g", ["Zanzibar"])
    result = without_few_of(split(few, column), column)
    assert np.unique(result.parts["g", "kind"]).tolist() == [1]
    assert "Zanzibar" not in str(result.remarks)


def test_spikes_become_their_own_numbers() -> None:
    cells, column = numbers(value=96, zero=4)
    parts = without_few_of(split(cells, column), column).parts
    assert np.sort(parts["x", "value"])[:5].tolist() == [0, 0, 0, 0, 100]


def test_a_whole_table_is_changed_where_it_must_be_and_each_column_says_so() -> None:
    full = np.arange(50.0)
    gaps = np.where(full < 2, np.nan, full)
    frame = pd.DataFrame({"a": gaps, "b": full, "c": gaps, "k": np.where(full < 48, np.nan, full)})
    schema = Schema([NumericColumn(name) for name in frame])
    parts = {key: array for c in schema for key, array in split(frame[c.name], c).items()}
    table, remarks = without_few(PartTable(50, parts), schema, quiet=["k"])
    assert [str(remark) for remark in remarks] == [
        f"{name}: fewer than five records have no value, and copies have one everywhere; "
        "recode them before the fit to have it otherwise"
        for name in ("a", "c")
    ]
    (part,) = [part for part in parts_of(schema["a"]) if part.role == "value"]
    assert np.count_nonzero(table.kind(part) == 0) == 48
    assert table.parts["b", "value"] is parts["b", "value"]
    (part,) = [part for part in parts_of(schema["k"]) if part.role == "value"]
    assert scales_of(table, (part,), schema)[part.key].centre == 0.0  # no value is left to centre on


def test_a_systematic_sample_does_not_centre_on_a_few_records() -> None:
    """Every tenth row has one of the twenty values; the scale is kept in the fit."""
    cells = np.full(200_000, np.nan)
    cells[:: 200_000 // 20] = 5.0
    cells[np.arange(1, 20)] = np.arange(1, 20)
    cells[0] = 98_765.43
    column = NumericColumn("x")
    kind, value = parts_of(column)
    table = PartTable(200_000, split(pd.Series(cells), column))
    there = cells[~np.isnan(cells)]
    assert scales_of(table, (kind, value), Schema([column]))[value.key].centre == pytest.approx(there.mean())


@pytest.mark.parametrize("n", [1, 4])
def test_tables_of_fewer_than_five_rows_are_refused(n) -> None:
    with pytest.raises(FitError, match="fewer than five rows"):
        check_rows(n)
    check_rows(5)


@pytest.mark.parametrize(
    ("n", "features", "said"),
    [
        (5, 2, "fewer than 20 rows"),
        (19, 2, "fewer than 20 rows"),
        (20, 10, ""),
        (20, 11, "20 rows and a model of 11 features"),
        (1999, 1000, "1,999 rows and a model of 1,000 features"),
        (2000, 1000, ""),
    ],
)
def test_small_tables_are_told_by_a_stated_rule(n, features, said) -> None:
    assert said in " ".join(map(str, size_remarks(n, features)))
    assert bool(size_remarks(n, features)) is bool(said)


def test_unused_categories_are_counted_not_named() -> None:
    frame = pd.DataFrame({"g": pd.Categorical(["a", "b"], ["a", "Unseen", "b"]), "h": ["x", "y"]})
    learned = CategoricalColumn("g", ["a", "b"], dtype="category", declared=False)
    texts = CategoricalColumn("h", ["x", "y"], declared=False)
    (remark,) = unused_remarks(frame.dtypes, Schema([learned, texts]), ["g", "h"])
    assert str(remark) == (
        "g: 1 of its categories occurs in no record and is left out; "
        "levels={'g': [...]} declares what may be there"
    )
    declared = CategoricalColumn("g", ["a", "b"], dtype="category")
    assert unused_remarks(frame.dtypes, Schema([declared, texts]), ["g"]) == ()


def test_numbers_of_fewer_than_ten_rows_are_named_as_one_average() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=9).round(2), "b": rng.normal(size=9).round(2)})
    with pytest.warns(PysynthdpWarning) as heard:
        drawn = sdp.Synthesizer(progress=False).fit(table).draw(m=1, rng=1)[0]
    said = {one.message.column for one in heard if "one average" in str(one.message)}
    assert said == {"a", "b"}
    assert drawn.nunique().tolist() == [1, 1]
    assert "one average" in " ".join(str(sdp.look(table)).split())
