"""A Parquet file or folder read by blocks is the table that is read into memory, of every type of column."""

from __future__ import annotations

import datetime as dt
import decimal
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pysynthdp as sdp
from pysynthdp.base.scratch import Scratch, is_stored
from pysynthdp.base.scratch_folder import opened_scratch
from pysynthdp.cli.exit_codes import exit_of
from pysynthdp.io import parquet_parts
from pysynthdp.io.sources import parquet, read_on_disk
from pysynthdp.io.sources.sealed import SealedRows

N = 700


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Read in several blocks, as a large table is."""
    monkeypatch.setattr(parquet_parts, "BLOCK", 150)
    monkeypatch.setattr(parquet, "BLOCK", 150)
    monkeypatch.setattr("pysynthdp.io.sources.sealed.BLOCK", 130)


def every_type(n=N):
    """Make a column of every type that pandas writes to Parquet, with and without missing cells."""
    rng = np.random.default_rng(1)
    gaps = np.arange(n) % 9 == 4
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    words = rng.choice(["Ayr", "Bute", "Cowal"], n)
    columns = {
        "int": rng.integers(0, 9, n),
        "small": rng.integers(0, 9, n).astype("uint8"),
        "float": np.where(gaps, np.nan, rng.normal(size=n)),
        "single": rng.normal(size=n).astype("float32"),
        "flag": rng.random(n) < 0.4,
        "flag gaps": pd.Series(rng.random(n) < 0.4, dtype=object).where(~gaps),
        "text": pd.Series(words, dtype="str"),
        "text gaps": pd.Series(words, dtype="str").where(~gaps),
        "string": pd.Series(words, dtype="string").where(~gaps),
        "Int": pd.Series(rng.integers(0, 9, n), dtype="Int64").where(~gaps),
        "Float": pd.Series(rng.normal(size=n), dtype="Float64").where(~gaps),
        "boolean": pd.Series(rng.random(n) < 0.4, dtype="boolean").where(~gaps),
        "ordered": pd.Categorical(rng.choice(["low", "high"], n), ["low", "high", "none"], ordered=True),
        "category": pd.Series(words, dtype="category").where(~gaps),
        "numbers": pd.Series(rng.integers(0, 3, n)).astype("category"),
        "day": days,
        "day gaps": pd.Series(days).where(~gaps),
        "zone": days.tz_localize("Europe/Vienna"),
        "span": pd.to_timedelta(rng.integers(0, 900, n), unit="s"),
        "date": pd.Series([dt.date(2020, 1, 1 + at % 28) for at in range(n)], dtype=object),
        "money": pd.Series([decimal.Decimal(at) / 4 for at in range(n)], dtype=object),
        "arrow": pd.Series(rng.integers(0, 9, n), dtype=pd.ArrowDtype(pa.int32())),
        "none": np.full(n, np.nan),
    }
    return pd.DataFrame(columns)


def by_hand(n=N):
    """Make an Arrow table as other programs write it: nothing of pandas in it, integers with gaps."""
    gaps = np.arange(n) % 9 == 4
    return pa.table(
        {
            "gaps": pa.array(np.arange(n), mask=gaps),
            "late": pa.array(np.arange(n), mask=np.arange(n) == n - 1),
            "flag": pa.array(np.arange(n) % 2 == 0, mask=gaps),
            "text": pa.array(["a", "b"] * (n // 2), mask=gaps),
            "level": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
            "time": pa.array(np.arange(n, dtype="int32")).cast(pa.time32("s")),
            "whole": np.arange(n),
        }
    )


def of_pandas(path):
    every_type().to_parquet(path, row_group_size=200)


def with_index(path):
    frame = every_type()
    frame.set_index("text").to_parquet(path)


def with_two_levels(path):
    every_type().set_index(["text", "int"]).to_parquet(path)


def with_range(path):
    every_type().set_axis(pd.RangeIndex(5, 5 + 2 * N, 2, name="who")).to_parquet(path)


def without_rows(path):
    every_type().iloc[:0].to_parquet(path)


def of_others(path):
    pq.write_table(by_hand(), path, row_group_size=200)


def without_counts(path):
    pq.write_table(by_hand(), path, row_group_size=200, write_statistics=False)


def in_parts(path):
    path.mkdir()
    frame = every_type().drop(columns="money")  # typed by its largest cell
    for number, start in enumerate(range(0, N, 250)):
        frame.iloc[start : start + 250].to_parquet(path / f"part-{number}.parquet")
    (path / "_SUCCESS").touch()


def other_categories(path):
    """Categories in another order in every part."""
    path.mkdir()
    for number, levels in enumerate(("ab", "bac", "d")):
        frame = pd.DataFrame({"level": pd.Categorical(list(levels) * 100, list(levels)), "x": 1.5})
        frame.to_parquet(path / f"{number}.parquet")


def by_value(path):
    """Folders named for values, a missing one among them."""
    table = every_type()[["int", "float", "text gaps", "numbers", "category"]]
    table = table.assign(year=2000 + np.arange(N) % 3).astype({"numbers": "int64", "category": "str"})
    pq.write_to_dataset(pa.Table.from_pandas(table), path, partition_cols=["year", "text gaps"])


KINDS = [
    of_pandas, with_index, with_two_levels, with_range, without_rows, of_others, without_counts, in_parts,
    other_categories, by_value,
]  # fmt: skip


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("write", KINDS, ids=lambda kind: kind.__name__)
def test_every_type_comes_as_in_memory(write, texts, tmp_path):
    path = tmp_path / "t.parquet"
    write(path)
    in_memory, on_disk = sdp.read_table(path, texts=texts), read_on_disk(path, Scratch(), texts=texts)
    pd.testing.assert_frame_equal(on_disk, in_memory, check_exact=True)
    assert on_disk.attrs == in_memory.attrs
    pytest.importorskip("cryptography")
    sealed = read_on_disk(path, opened_scratch(None, encrypt=True), texts=texts)
    assert isinstance(sealed, SealedRows)
    pd.testing.assert_frame_equal(sealed.take(sealed.columns), in_memory, check_exact=True)


@pytest.mark.parametrize("write", [of_pandas, of_others])
def test_pandas_itself_reads_the_same(write, tmp_path):
    write(tmp_path / "t.parquet")
    for texts in (False, True):
        own = pd.read_parquet(
            tmp_path / "t.parquet", **({"dtype_backend": "numpy_nullable"} if texts else {})
        )
        pd.testing.assert_frame_equal(sdp.read_table(tmp_path / "t.parquet", texts=texts), own)


def test_the_arrays_of_every_plain_type_lie_on_disk(tmp_path):
    of_pandas(tmp_path / "t.parquet")
    frame = read_on_disk(tmp_path / "t.parquet", Scratch())
    for name in ("int", "float", "flag", "day gaps", "span"):
        assert is_stored(frame[name].to_numpy()), name
    assert is_stored(frame["category"].array.codes)
    assert is_stored(frame["zone"].array.view("i8"))


def test_texts_lie_on_disk(tmp_path):
    pd.DataFrame({"text": [f"{at:050}" for at in range(20_000)]}).to_parquet(tmp_path / "t.parquet")
    before = pa.total_allocated_bytes()
    frame = read_on_disk(tmp_path / "t.parquet", Scratch())
    assert pa.total_allocated_bytes() - before < 20_000
    assert frame["text"].str.len().sum() == 1_000_000


def test_what_is_dropped_is_not_read(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"x": np.random.default_rng(1).normal(size=N), "notes": ["a long text"] * N})
    frame.to_parquet(path)
    where = pq.ParquetFile(path).metadata.row_group(0).column(1)
    start, length = where.dictionary_page_offset, where.total_compressed_size
    content = bytearray(path.read_bytes())
    content[start : start + length] = b"\xff" * length  # whoever reads it fails
    path.write_bytes(content)
    with pytest.raises(sdp.SchemaError, match="cannot be read: damaged"):
        read_on_disk(path, Scratch())
    for encrypt in (False, True):
        fitted = sdp.Synthesizer(progress=False, drop=["notes"], scratch_encrypt=encrypt).fit(path)
        assert fitted.schema.names == ("x",)
    plain = sdp.Synthesizer(progress=False, drop=["notes"]).fit(frame)
    pd.testing.assert_frame_equal(fitted.draw(m=1, rng=1)[0], plain.draw(m=1, rng=1)[0], check_exact=True)


def unlike(folder, second):
    """Write two parts."""
    folder.mkdir()
    pd.DataFrame({"x": [1, 2], "town": ["a", "b"]}).to_parquet(folder / "1.parquet")
    pd.DataFrame(second).to_parquet(folder / "2.parquet")
    return folder


SECONDS = {
    "lacks": ({"x": [1]}, "town is not in .*2.parquet but in .*1.parquet"),
    "other type": ({"x": [1.5], "town": ["a"]}, "x has another type in .*2.parquet than in .*1.parquet"),
    "no type": ({"x": [1], "town": [None]}, "town has another type in .*2.parquet"),
    "further": ({"x": [1], "town": ["a"], "new": [1]}, "new is in .*2.parquet and not in .*1.parquet"),
}


@pytest.mark.parametrize("encrypt", [False, True])
@pytest.mark.parametrize("case", SECONDS)
def test_a_part_that_is_unlike_the_first_is_named(case, encrypt, tmp_path):
    second, words = SECONDS[case]
    folder = unlike(tmp_path / "t", second)
    readings = (
        lambda: sdp.read_table(folder),
        lambda: read_on_disk(folder, opened_scratch(None, encrypt=encrypt)),
    )
    for reading in readings:
        with pytest.raises(sdp.SchemaError, match=words) as found:
            reading()
        assert str(found.value).endswith("write all parts with the same columns and types")
        assert exit_of(found.value) == 3


def another_kind(folder):
    unlike(folder, {"x": [1], "town": ["a"]})
    (folder / "README.txt").write_text("about")


def in_files_too(folder):
    (folder / "x=1").mkdir(parents=True)
    pd.DataFrame({"x": [1, 1], "y": 2}).to_parquet(folder / "x=1" / "1.parquet")


def other_depth(folder):
    (folder / "year=1").mkdir(parents=True)
    pd.DataFrame({"y": [2]}).to_parquet(folder / "year=1" / "1.parquet")
    pd.DataFrame({"y": [2]}).to_parquet(folder / "2.parquet")


def twice(folder):
    folder.mkdir()
    pq.write_table(pa.table([[1, 2], [3, 4]], names=["x", "x"]), folder / "1.parquet")


FOLDERS = {
    another_kind: r"README.txt is no Parquet file; take it out of the folder",
    in_files_too: r"x is in .*1.parquet and in the name of its folder; write it once",
    other_depth: r"1.parquet lies in folders that name other columns than those of .*2.parquet",
    twice: r"1.parquet has two columns that are called 'x'; rename one",
}


@pytest.mark.parametrize("write", FOLDERS, ids=lambda each: each.__name__)
def test_a_folder_that_is_no_one_table_is_refused(write, tmp_path):
    write(tmp_path / "t")
    for reading in (sdp.read_table, lambda path: read_on_disk(path, Scratch())):
        with pytest.raises(sdp.SchemaError, match=FOLDERS[write]) as found:
            reading(tmp_path / "t")
        assert exit_of(found.value) == 3


def touched(folder):
    (folder / "2.parquet").touch()


def shorter(folder):
    (folder / "2.parquet").write_bytes((folder / "2.parquet").read_bytes()[:-30])


def gone(folder):
    (folder / "2.parquet").unlink()


def further(folder):
    (folder / "3.parquet").write_bytes((folder / "2.parquet").read_bytes())


@pytest.mark.parametrize("road", ["memory", "disk"])
@pytest.mark.parametrize("change", [touched, shorter, gone, further], ids=lambda each: each.__name__)
def test_files_that_change_come_or_go_meanwhile_are_refused(change, road, tmp_path, monkeypatch):
    folder = unlike(tmp_path / "t", {"x": [1], "town": ["a"]})
    real = parquet_parts.Parts.check_alike

    def changing(self, names):
        real(self, names)
        change(folder)

    monkeypatch.setattr(parquet_parts.Parts, "check_alike", changing)
    with pytest.raises(sdp.SchemaError, match="changed while it was read; wait until it is whole") as found:
        sdp.read_table(folder) if road == "memory" else read_on_disk(folder, Scratch())
    assert exit_of(found.value) == 3


def test_a_folder_is_fitted_as_the_table_in_memory(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    columns = ["int", "float", "text gaps", "category", "day", "zone", "Int", "boolean"]
    for number in range(3):
        every_type()[columns].iloc[number * 200 :][:200].to_parquet(folder / f"{number}.parquet")
    settings = sdp.Synthesizer(workers=1, progress=False)
    copies = [settings.fit(each).draw(m=1, rng=1)[0] for each in (folder, sdp.read_table(folder))]
    pd.testing.assert_frame_equal(*copies, check_exact=True)


def test_under_a_guarantee_neighbours_in_parts_are_read_alike(tmp_path):
    """One record's cell, missing or not, decides no type; nor in which part it stands."""
    types = []
    for number, cell in enumerate((7, None)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for part, cells in enumerate(([*range(9)], [cell, *range(5)])):
            pq.write_table(pa.table({"age": pa.array(cells, pa.int64())}), folder / f"{part}.parquet")
        types += [str(read_on_disk(folder, Scratch(), texts=True)["age"].dtype)]
    assert types == ["Int64", "Int64"]


def test_no_message_quotes_a_cell(tmp_path):
    folder = unlike(tmp_path / "t", {"x": ["secret"], "town": ["secret"]})
    with pytest.raises(sdp.SchemaError) as found:
        read_on_disk(folder, Scratch())
    assert not re.search("secret", str(found.value))
