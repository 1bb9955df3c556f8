"""A CSV file whose columns lie on disk: every block is read by what all of them say, and memory stays."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv import learned, records
from pysynthdp.io.sources import read_on_disk
from pysynthdp.io.tables import read_table

ROWS = 3000


@pytest.fixture
def path(tmp_path):
    """A file of many blocks, of which only the last row says what its columns are."""
    rng = np.random.default_rng(0)
    rows = [
        f"{at},{at % 7},{rng.random():.3f},2020-01-0{at % 9 + 1},{'TRUE' * (at % 2)},ä{at}"
        for at in range(ROWS)
    ]
    rows += [',x,,2020-01-01T10:00:00.123456789,"FALSE","NA"', "1,0,12345678901234567890,,,"]
    rows[-2] = rows[-2].replace("2020-01-01T10:00:00.123456789", "2020-01-01")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["whole,code,real,day,flag,text", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Have many blocks without a large file."""
    monkeypatch.setattr(learned, "_BLOCK", 1 << 12)
    monkeypatch.setattr(records, "_PIECE", 1 << 11)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("texts", [False, True])
def test_all_blocks_say_what_a_column_is(path, texts, packed):
    if packed:
        path = path.with_suffix(".csv.gz")
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    mapped = read_on_disk(path, Scratch(), texts=texts)
    pd.testing.assert_frame_equal(mapped, read_table(path, texts=texts))
    if not texts:
        kinds = ["Int64", "str", "float64", "datetime64[us]", "boolean", "str"]
        assert [str(kind) for kind in mapped.dtypes] == kinds


def test_times_of_two_steps_take_the_finer(tmp_path):
    path = tmp_path / "t.csv"
    times = ["2020-01-01T10:00:00"] * 1000 + ["2020-01-01T10:00:00.123456789"]
    path.write_text("x,when\n" + "".join(f"1,{time}\n" for time in times))
    mapped = read_on_disk(path, Scratch())
    assert str(mapped["when"].dtype) == "datetime64[ns]"
    assert mapped["when"].iloc[-1] == pd.Timestamp(times[-1])
    pd.testing.assert_frame_equal(mapped, read_table(path))


@pytest.mark.parametrize("texts", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused(path, texts, monkeypatch):
    opened = records.gzip.open

    def written_to(name):
        file = opened(name)
        with path.open("ab") as other:
            other.write(b"\0")  # as a packed file may end
        return file

    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path = packed
    monkeypatch.setattr(records.gzip, "open", written_to)
    with pytest.raises(SchemaError, match="changed while it was read"):
        read_on_disk(path, Scratch(), texts=texts)


def test_a_file_replaced_with_its_time_set_back_is_refused(path, monkeypatch):
    before = path.stat()
    decoded = records._decoded

    def meanwhile(pieces, named):
        path.write_bytes(path.read_bytes().replace(b"1", b"2"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return decoded(pieces, named)

    monkeypatch.setattr(records, "_decoded", meanwhile)
    with pytest.raises(SchemaError, match="changed while it was read"):
        read_on_disk(path, Scratch())


def test_nothing_is_left_on_disk(path, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    frame = read_on_disk(path, Scratch(scratch))
    assert list(scratch.iterdir()) == []
    assert not frame["whole"].array._data.flags.writeable
