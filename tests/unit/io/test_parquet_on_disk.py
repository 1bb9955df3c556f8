"""A Parquet file whose columns lie on disk is fitted as the same table in memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pysynthdp as sdp
from pysynthdp.base.scratch import Scratch
from pysynthdp.io.sources import read_on_disk
from pysynthdp.synthesizer import opening

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(1)
    z = rng.normal(size=600)
    frame = pd.DataFrame(
        {
            "score": z,
            "rent": np.where(rng.random(600) < 0.2, np.nan, np.exp(z).round(2)),
            "age": rng.integers(18, 90, 600),
            "town": rng.choice(["Ayr", "Bute", "Cowal"], 600),
            "edu": pd.Categorical(rng.choice(["low", "high"], 600), ["low", "high", "none"], ordered=True),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 600), unit="D"),
            "member": rng.random(600) < 0.4,
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_copies_are_equal_to_the_last_bit(path):
    settings = sdp.Synthesizer(workers=1, progress=False)
    on_disk, in_memory = settings.fit(path), settings.fit(pd.read_parquet(path))
    assert on_disk.schema == in_memory.schema
    for one, other in zip(on_disk.draw(m=2, rng=1), in_memory.draw(m=2, rng=1), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_the_scratch_folder_is_empty_behind_a_fit(path, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    sdp.Synthesizer(workers=1, progress=False, scratch=folder).fit(path)
    assert list(folder.iterdir()) == []


def test_a_named_index_stays_apart(path):
    pd.read_parquet(path).assign(who=range(600)).set_index("who").to_parquet(path)
    with pytest.warns(sdp.PysynthdpWarning, match="index"):
        fitted = sdp.Synthesizer(workers=1, progress=False).fit(path)
    assert "who" not in fitted.schema.names


def test_a_csv_too(path):
    frame = pd.read_parquet(path)
    frame.to_csv(path.with_suffix(".csv"), index=False)
    settings = sdp.Synthesizer(workers=1, progress=False)
    on_disk = settings.fit(path.with_suffix(".csv"))
    in_memory = settings.fit(sdp.read_table(path.with_suffix(".csv")))
    pd.testing.assert_frame_equal(on_disk.draw(m=1, rng=1)[0], in_memory.draw(m=1, rng=1)[0])


@pytest.mark.parametrize(("name", "words"), [("none.parquet", "there is no file"), ("a.xyz", "a.xyz")])
def test_what_is_no_table_is_refused_by_name(tmp_path, name, words):
    with pytest.raises(sdp.PysynthdpError, match=words):
        sdp.Synthesizer(progress=False).fit(tmp_path / name)


def test_under_a_guarantee_a_missing_cell_decides_no_type(path, monkeypatch):
    """Neighbours that differ in one missing cell are read as the same types; so is a path that is fitted."""
    types = []
    for cell in (7, None):
        pq.write_table(pa.table({"age": [cell, *range(50)]}), path)
        read = [read_on_disk(path, Scratch(), texts=texts)["age"] for texts in (True, False)]
        types.append([column.dtype.name for column in read])
    assert [each[0] for each in types] == ["Int64", "Int64"]
    assert len({each[1] for each in types}) == 2  # without a guarantee they may differ
    asked = []
    monkeypatch.setattr(
        opening, "read_on_disk", lambda *a, **k: asked.append(k["texts"]) or read_on_disk(*a, **k)
    )
    schema = sdp.Schema((sdp.NumericColumn("age", lower=0, upper=60, may_be_missing=True),))
    for guarantee in (sdp.ByNoise(sdp.ZCDP(0.5), testing=True), None):
        settings = sdp.Synthesizer(schema=schema, guarantee=guarantee, workers=1, progress=False)
        settings.fit(path, **({"noise_seed": 1} if guarantee else {}))
    assert asked == [True, False]


def test_a_scratch_folder_that_takes_no_file_is_named_as_such(path, tmp_path):
    settings = sdp.Synthesizer(progress=False, scratch=tmp_path / "none")
    with pytest.raises(sdp.PlanError, match=r"scratch: .* is not there; name another with scratch="):
        settings.fit(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
def test_a_full_scratch_is_said_and_ends_as_full(path):
    """A limit on the size of files stands for a full disk."""
    code = (
        "import resource, signal, sys, pysynthdp as sdp\n"
        "from pysynthdp.cli.exit_codes import exit_of\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
        "try:\n"
        f"    sdp.Synthesizer(progress=False, workers=1).fit({str(path)!r})\n"
        "except sdp.PlanError as error:\n"
        "    print(str(error), int(exit_of(error)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "may become that large; raise the limit" in done.stdout, done.stderr
    assert done.stdout.strip().endswith("8")
