"""A Parquet file whose columns lie on disk is fitted as the same table in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

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


def test_a_file_that_changes_is_refused(path, monkeypatch):
    real = pd.read_parquet

    def changing(*args, **kwargs):
        with path.open("ab") as file:
            file.write(b"")
        path.touch()
        return real(*args, **kwargs)

    monkeypatch.setattr(pd, "read_parquet", changing)
    with pytest.raises(sdp.PysynthdpError, match="changed while it was read"):
        sdp.Synthesizer(progress=False).fit(path)


def test_under_a_guarantee_a_missing_cell_decides_no_type(path):
    """Copies of neighbours that differ in one missing cell have the same types, as in memory."""
    whole = pd.DataFrame({"age": np.arange(200) % 50})
    schema = sdp.Schema((sdp.NumericColumn("age", lower=0, upper=60, may_be_missing=True),))
    types = []
    for missing in (False, True):
        frame = whole.astype("Int64")
        if missing:
            frame.loc[3, "age"] = pd.NA
        frame.to_parquet(path)
        settings = sdp.Synthesizer(
            schema=schema, guarantee=sdp.ByNoise(sdp.ZCDP(0.5), testing=True), progress=False
        )
        types.append(str(settings.fit(path, noise_seed=1).draw(m=1, rng=1)[0]["age"].dtype))
    assert types[0] == types[1]
