"""A release folder: exact types back, whole or not at all, nothing in it that was learned as a bound."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

import pysynthdp as sdp
from pysynthdp import BySampling
from pysynthdp.base.errors import ReleaseError
from pysynthdp.io.folder import copy_files, release_dir
from pysynthdp.io.folder.formats import Wishes
from pysynthdp.models import Gaussian
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import NumericColumn, Schema
from pysynthdp.synthesizer import Synthesizer
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

DAYS = pd.to_datetime(["2020-01-01", None, "1999-12-31"] * 10)
TIMES = pd.to_datetime(["2020-01-01 10:11:12.123456", None, "1999-12-31 23:59:59.000001"] * 10)


def _category(values, categories=None, *, ordered=False):
    return pd.Series(pd.Categorical(values * 10, categories=categories, ordered=ordered))


COLUMNS = {
    "float64": pd.Series([0.1 + 0.2, np.nan, -1e300] * 10),
    "float32": pd.Series([0.1, np.nan, 3.25] * 10, dtype="float32"),
    "float16": pd.Series([0.1, np.nan, 3.25] * 10, dtype="float16"),
    "int64": pd.Series([2**53 - 1, -5, 7] * 10),
    "int8": pd.Series([1, 2, 3] * 10, dtype="int8"),
    "uint64": pd.Series([1, 2, 3] * 10, dtype="uint64"),
    "Int64": pd.Series([2**53 - 1, None, 7] * 10, dtype="Int64"),
    "UInt8": pd.Series([1, None, 7] * 10, dtype="UInt8"),
    "Float64": pd.Series([0.5, None, 7.125] * 10, dtype="Float64"),
    "bool": pd.Series([True, False, True] * 10),
    "boolean": pd.Series([True, None, False] * 10, dtype="boolean"),
    "object bool": pd.Series([True, None, False] * 10, dtype=object),
    "str": pd.Series(["", None, 'a "quoted"\nline, ünï'] * 10, dtype="str"),
    "string python": pd.Series(["", None, "NA"] * 10, dtype=pd.StringDtype("python")),
    "string pyarrow": pd.Series(["", None, "nan"] * 10, dtype=pd.StringDtype("pyarrow")),
    "object text": pd.Series(["", None, "x"] * 10, dtype=object),
    "object dates": pd.Series([dt.date(2020, 1, 1), None, dt.date(1950, 2, 3)] * 10, dtype=object),
    "datetime ns": pd.Series(DAYS.as_unit("ns")),
    "datetime us": pd.Series(TIMES.as_unit("us")),
    "datetime s": pd.Series(DAYS.as_unit("s")),
    "zoned": pd.Series(TIMES.as_unit("us").tz_localize("Europe/Berlin")),
    "fixed offset": pd.Series(TIMES.as_unit("ns").tz_localize("+05:30")),
    "durations": pd.Series(pd.to_timedelta([1, None, 86_401_000_001] * 10, unit="us")),
    "arrow int": pd.Series([1, None, 5, 6, 7, 8] * 5, dtype=pd.ArrowDtype(pa.int16())),
    "arrow text": pd.Series(["a", None, ""] * 10, dtype=pd.ArrowDtype(pa.string())),
    "arrow zoned": pd.Series(
        TIMES.as_unit("us").tz_localize("UTC"), dtype=pd.ArrowDtype(pa.timestamp("us", "UTC"))
    ),
    "unordered": _category(["b", None, "a"], ["z", "b", "a", "unused"]),
    "ordered": _category(["low", "high", None], ["low", "middle", "high"], ordered=True),
    "empty text level": _category(["", None, "a"], ["", "a", "NA"]),
    "whole levels": _category([3, None, 1], [3, 2, 1]),
    "real levels": _category([0.1, None, 2.5], [2.5, 0.1]),
    "bool levels": _category([True, None, False], [True, False]),
    "time levels": _category(
        [pd.Timestamp("2020-01-01"), None, pd.Timestamp("2021-01-01")],
        [pd.Timestamp("2021-01-01"), pd.Timestamp("2020-01-01")],
    ),
    "mixed levels": _category(["no", None, -8], ["no", -8, "unused"]),
    "intervals": pd.Series(pd.cut([1.0, 5.0, np.nan] * 10, [0, 2, 6, 9])),
    "all missing": pd.Series([np.nan] * 30),
    "all missing text": pd.Series([None] * 30, dtype="str"),
    "all missing object": pd.Series([None] * 30, dtype=object),
}


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_comes_back_exactly(name, file_format, release_of, tmp_path):
    frame = pd.DataFrame({name: COLUMNS[name]})
    folder = release_of(frame).save(tmp_path / "r", format=file_format)
    loaded = SyntheticRelease.load(folder)[0]
    pd.testing.assert_frame_equal(loaded, frame, check_exact=True)
    assert loaded[name].dtype == frame[name].dtype
    if isinstance(frame[name].dtype, pd.CategoricalDtype):
        assert list(loaded[name].cat.categories) == list(frame[name].cat.categories)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_release_comes_back_whole(file_format, release_of, tmp_path):
    frame = pd.DataFrame({name: column for name, column in COLUMNS.items() if name != "all missing"})
    release = release_of(frame, m=2, bounds={"float64": (-1e301, 1e301)}, missing={"int64": {-5: "no"}})
    loaded = SyntheticRelease.load(release.save(tmp_path / "deep" / "r", format=file_format))
    for part in ("schema", "privacy", "provenance", "tags"):
        assert getattr(loaded, part) == getattr(release, part), part
    for number, copy in enumerate(loaded, start=1):
        pd.testing.assert_frame_equal(copy, frame, check_exact=True)
        mark = {"synthetic": True, "privacy": release.privacy.to_dict(), "copy": number}
        assert copy.attrs == {"pysynthdp": mark}


def test_awkward_names_and_single_column_csv(release_of, tmp_path):
    frame = pd.DataFrame({'a, b.\n"c" ü': [1.5, None, 2.5], "y": [1.0, 2.0, 4.0], "index": [None, "a", ""]})
    loaded = SyntheticRelease.load(release_of(frame).save(tmp_path / "r", format="csv"))
    pd.testing.assert_frame_equal(loaded[0], frame)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_blocks_make_the_same_copy(file_format, parts_of, tmp_path):
    frame = pd.DataFrame({name: COLUMNS[name] for name in ("float64", "object dates", "mixed levels", "str")})
    parts = parts_of(frame, m=2)
    blocks = [frame.iloc[:1].reset_index(drop=True), frame.iloc[1:2], frame.iloc[2:]]
    streamed = {**parts, "copies": ((block for block in blocks) for _ in range(2))}
    release_dir.write(streamed, tmp_path / "blocks", wished=Wishes((file_format,)))
    for copy in release_dir.read(tmp_path / "blocks", Provenance, ReleaseTags)["copies"]:
        pd.testing.assert_frame_equal(copy, frame, check_exact=True)


def test_first_block_may_be_all_missing_in_object_columns(parts_of, tmp_path):
    frame = pd.DataFrame({name: COLUMNS[name] for name in ("object text", "object dates", "object bool")})
    first = frame.iloc[[1, 1]] if frame["object text"].isna()[1] else frame
    parts = parts_of(frame)
    whole = pd.concat([first, frame], ignore_index=True)
    parts["tags"] = parts["tags"].with_size(m=1, n_syn=len(whole))
    parts["privacy"] = replace(parts["privacy"], draws=(Draw(len(whole), 1),))
    release_dir.write({**parts, "copies": [[first, frame]]}, tmp_path / "r", wished=Wishes(("parquet",)))
    pd.testing.assert_frame_equal(
        release_dir.read(tmp_path / "r", Provenance, ReleaseTags)["copies"][0], whole
    )


@pytest.mark.parametrize("failure", [ValueError("stop"), KeyboardInterrupt()])
@pytest.mark.parametrize("good_blocks", [0, 1])
def test_failure_midway_leaves_nothing(failure, good_blocks, parts_of, small, tmp_path):
    parts = parts_of(small, m=2)

    def broken():
        yield small
        yield from [small] * good_blocks
        raise failure

    with pytest.raises(type(failure)):
        release_dir.write({**parts, "copies": broken()}, tmp_path / "r", wished=Wishes(("parquet",)))
    assert list(tmp_path.iterdir()) == []


def test_failure_within_a_copy_leaves_nothing(parts_of, small, tmp_path):
    def broken():
        yield small
        msg = "disk"
        raise OSError(msg)

    with pytest.raises(ReleaseError, match="cannot be written"):
        release_dir.write({**parts_of(small), "copies": [broken()]}, tmp_path / "r", wished=Wishes(("csv",)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rows", [slice(0, 39), slice(0, 0)])
def test_copies_that_are_not_those_of_the_tags_are_refused(rows, parts_of, small, tmp_path):
    parts = parts_of(small)
    with pytest.raises(ReleaseError, match="rows"):
        release_dir.write({**parts, "copies": [small.iloc[rows]]}, tmp_path / "r", wished=Wishes(("csv",)))
    with pytest.raises(ReleaseError, match="number of copies"):
        release_dir.write({**parts, "copies": [small, small]}, tmp_path / "r", wished=Wishes(("csv",)))
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_never_touched(release_of, small, tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "mine.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="exists already"):
        release_of(small).save(tmp_path / "r")
    assert [path.name for path in tmp_path.rglob("*")] == ["r", "mine.txt"]


def test_unknown_format_and_unwritable_parent(release_of, small, tmp_path):
    with pytest.raises(ReleaseError, match="parquet, csv"):
        release_of(small).save(tmp_path / "r", format="xlsx")
    (tmp_path / "file").write_text("")
    with pytest.raises(ReleaseError, match="cannot be written"):
        release_of(small).save(tmp_path / "file" / "r")


def test_levels_that_read_alike_are_refused(release_of, tmp_path):
    frame = pd.DataFrame({"q": _category([1, "1"], [1, "1"])})
    with pytest.raises(ReleaseError, match="q has two levels"):
        release_of(frame).save(tmp_path / "r")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("release.json", "{"),
        ("release.json", '{"format": "pysynthdp release", "format_version": 99}'),
        ("release.json", '{"format": "pysynthdp release", "format_version": 1}'),
        ("privacy.json", "{}"),
        ("schema.json", "{}"),
        ("synthetic_1.csv", '"age","sex"\n"x","F"\n'),
        ("synthetic_1.csv", '"age","sex"\n1,"F"\n'),
        ("synthetic_1.csv", '"age"\n1\n'),
        ("synthetic_1.csv", ""),
    ],
)
def test_damaged_folder_is_a_typed_error(name, text, release_of, small, tmp_path):
    folder = release_of(small).save(tmp_path / "r", format="csv")
    (folder / name).write_text(text)
    with pytest.raises(ReleaseError):
        SyntheticRelease.load(folder)
    (folder / name).unlink()
    with pytest.raises(ReleaseError):
        SyntheticRelease.load(folder)


def test_value_outside_the_categories_is_refused(release_of, relist, tmp_path):
    frame = pd.DataFrame({"sex": pd.Categorical(["F", "M"] * 5)})
    folder = release_of(frame).save(tmp_path / "r", format="csv")
    path = folder / "synthetic_1.csv"
    path.write_text(path.read_text().replace('"M"', '"W"'))
    with pytest.raises(ReleaseError, match=r"synthetic_1\.csv was changed"):
        SyntheticRelease.load(folder)
    relist(folder)
    with pytest.raises(ReleaseError, match="sex holds values that are not among its categories"):
        SyntheticRelease.load(folder)


def test_folder_is_readable_without_the_package(release_of, tmp_path):
    frame = pd.DataFrame(
        {"age": [20.5, None, 31.0], "sex": pd.Categorical(["F", "M", None], ["M", "F", "X"])}
    )
    release = release_of(frame, m=2)
    folder = release.save(tmp_path / "r")
    plain = pd.read_parquet(folder / "synthetic_2.parquet")
    pd.testing.assert_frame_equal(plain, frame.assign(_synthetic=np.int32(2)))
    assert plain.attrs["pysynthdp"]["copy"] == 2
    metadata = pa_parquet.read_schema(folder / "synthetic_1.parquet").metadata
    assert json.loads(metadata[b"pysynthdp"])["privacy"] == release.privacy.to_dict()
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.txt",
        "analyse.R",
        "analyse.py",
        "codebook.csv",
        "codebook.html",
        "privacy.json",
        "release.json",
        "schema.json",
        "synthetic_1.parquet",
        "synthetic_2.parquet",
    ]
    assert "no formal privacy guarantee" in (folder / "README.txt").read_text().replace("\n", " ").lower()


def test_checksums_are_those_of_the_files(release_of, small, tmp_path):
    import hashlib

    folder = release_of(small).save(tmp_path / "r")
    listed = json.loads((folder / "release.json").read_text())["files"]
    assert {entry["name"] for entry in listed} == {p.name for p in folder.iterdir()} - {"release.json"}
    for entry in listed:
        assert hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest() == entry["sha256"]


def test_kept_columns_are_loud(release_of, small, tmp_path):
    folder = release_of(small, kept=["sex"]).save(tmp_path / "r")
    assert "NOT synthetic" in (folder / "README.txt").read_text()
    assert ",REAL,kept real" in (folder / "codebook.csv").read_text()
    assert not json.loads((folder / "schema.json").read_text())["columns"][1]["synthetic"]


def test_serial_columns_never_list_identifiers(release_of, tmp_path):
    frame = pd.DataFrame({"id": pd.Categorical([f"zyx{i}" for i in range(9)])})
    shown = pd.DataFrame({"id": pd.Series([str(i) for i in range(1, 10)]).astype("category")})
    release = release_of(frame, methods={"id": "serial"})
    release = replace(release, copies=(shown,))
    folder = release.save(tmp_path / "r", format="csv")
    assert all("zyx" not in path.read_text() for path in folder.iterdir())
    pd.testing.assert_frame_equal(SyntheticRelease.load(folder)[0], shown)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_running_numbers_may_differ_from_block_to_block(file_format, parts_of, tmp_path):
    frame = pd.DataFrame({"id": pd.Categorical([f"zyx{i}" for i in range(4)])})
    blocks = [pd.DataFrame({"id": pd.Categorical(ids)}) for ids in (["1", "2"], ["3", "4"])]
    parts = {**parts_of(frame, methods={"id": "serial"}, exempt=["id"]), "copies": [blocks]}
    release_dir.write(parts, tmp_path / "r", wished=Wishes((file_format,)))
    copy = release_dir.read(tmp_path / "r", Provenance, ReleaseTags)["copies"][0]
    pd.testing.assert_frame_equal(copy, pd.DataFrame({"id": pd.Categorical(["1", "2", "3", "4"])}))


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("streamed", [False, True])
def test_no_bound_of_the_data_and_no_seed_in_any_file(file_format, streamed, tmp_path):
    rng = np.random.default_rng(5)
    wage = rng.normal(3000, 500, 200)
    wage[[3, 77]] = 731_926.8254, -948_372.1639
    table = pd.DataFrame({"wage": wage, "sex": rng.choice(["F", "M"], 200)})
    fitted = Synthesizer(method={"wage": "norm", "sex": "sample"}, progress=False).fit(table)
    seed = 918_273_645
    if streamed:
        folder = fitted.draw_to(tmp_path / "r", m=2, rng=seed, format=file_format)
    else:
        folder = fitted.draw(m=2, rng=seed).save(tmp_path / "r", format=file_format)
    forbidden = re.compile(rb"731926|731,926|948372|948,372|918273645|918,273,645")
    for path in folder.iterdir():
        assert not forbidden.search(path.read_bytes()), path.name
    loaded = SyntheticRelease.load(folder)
    assert loaded.schema["wage"].lower is None
    assert not any(np.isin(copy["wage"], wage).any() for copy in loaded)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_streaming_gives_the_copies_of_draw(file_format, tmp_path):
    rng = np.random.default_rng(6)
    table = pd.DataFrame({"x": rng.normal(size=300), "g": pd.Categorical(rng.choice(["a", "b", "c"], 300))})
    fitted = Synthesizer(progress=False).fit(table)
    release = fitted.draw(m=2, k=20_000, rng=1)
    loaded = SyntheticRelease.load(fitted.draw_to(tmp_path / "r", m=2, k=20_000, rng=1, format=file_format))
    for ours, theirs in zip(release, loaded, strict=True):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


MIXED = pd.DataFrame(
    {
        "x": np.random.default_rng(7).normal(size=400).round(3),
        "g": pd.Categorical(np.random.default_rng(8).choice(["a", "b", "c"], 400)),
        "t": np.random.default_rng(9).choice(["north", "south"], 400),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400) % 50, unit="D"),
        "id": [f"p{number:04}" for number in range(400)],
    }
)


@pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("draws", ["even", "independent"])
def test_a_streamed_folder_has_the_bytes_of_a_saved_one_for_every_number_of_workers(
    file_format, draws, tmp_path, monkeypatch
):
    monkeypatch.setattr(copy_files, "_GROUP_BYTES", 2**20)  # two groups, and rows left over
    settings = {"progress": False, "draws": draws, "method": {"id": "serial"}}
    asked = {"m": 2, "k": 70_001, "rng": 1}
    fits = [Synthesizer(workers=workers, **settings).fit(MIXED) for workers in (1, 1, 3)]
    folders = [fits[0].draw(**asked).save(tmp_path / "0", format=file_format)]
    folders += [fit.draw_to(tmp_path / f"{id(fit)}", **asked, format=file_format) for fit in fits[1:]]
    first, *others = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert others == [first, first]


def test_a_streamed_folder_tells_of_clamped_draws_as_a_saved_one_does(tmp_path):
    wide, narrow = ((-1000, 1000), (-1, 1))
    for name, (lower, upper) in {"wide": wide, "narrow": narrow}.items():
        schema = Schema([NumericColumn("x", lower=lower, upper=upper, fallback=0, may_be_missing=False)])
        settings = {"guarantee": BySampling(), "method": {"x": Gaussian(sigma=15.0)}, "schema": schema}
        fit = Synthesizer(**settings, progress=False).fit(pd.DataFrame({"x": np.linspace(-1, 1, 50)}))
        drawn = fit.draw(m=1, k=20_000)
        streamed = SyntheticRelease.load(fit.draw_to(tmp_path / name, m=1, k=20_000))
        assert drawn.tags.bias == ("clamped" if name == "narrow" else "none")
        assert streamed.tags == drawn.tags


def test_row_groups_are_large_and_memory_holds_one(release_of, tmp_path, monkeypatch):
    release = release_of(pd.DataFrame({"x": np.arange(100_000) / 4, "y": np.arange(100_000.0) % 7}))
    whole = pa_parquet.read_metadata(release.save(tmp_path / "a") / "synthetic_1.parquet")
    assert whole.num_row_groups == 1
    monkeypatch.setattr(copy_files, "_GROUP_BYTES", 20 * 40_000)  # bytes of a row, the mark too
    path = release.save(tmp_path / "b") / "synthetic_1.parquet"
    groups = pa_parquet.read_metadata(path)
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [32_768] * 3 + [1696]
    pd.testing.assert_frame_equal(
        pd.read_parquet(path).drop(columns="_synthetic"), release[0], check_exact=True
    )


def test_blocks_that_fit_no_group_are_cut(parts_of, tmp_path, monkeypatch):
    monkeypatch.setattr(copy_files, "_GROUP_BYTES", 12 * 20_000)
    frame = pd.DataFrame({"x": np.arange(50_000) / 4})
    blocks = [frame.iloc[:7], frame.iloc[7:30_000], frame.iloc[30_000:]]
    release_dir.write({**parts_of(frame), "copies": [blocks]}, tmp_path / "r", wished=Wishes(("parquet",)))
    path = tmp_path / "r" / "synthetic_1.parquet"
    groups = pa_parquet.read_metadata(path)
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [16_384] * 3 + [848]
    pd.testing.assert_frame_equal(pd.read_parquet(path).drop(columns="_synthetic"), frame)


def test_types_that_no_file_holds_are_named(tmp_path):
    cells = pd.Series((np.arange(30) / 4).astype("longdouble"))
    release = Synthesizer(progress=False).fit(pd.DataFrame({"pay": cells})).draw(m=1, rng=1)
    with pytest.raises(ReleaseError, match="pay has type"):
        release.save(tmp_path / "out")


def test_lists_and_mappings_are_refused_before_anything_is_written(tmp_path):
    table = pd.DataFrame({"x": [{"Zwetkoff": 1.0}] * 40, "y": np.arange(40.0) % 7})
    release = Synthesizer(keep=["x"], progress=False).fit(table).draw(m=1, rng=1)
    with pytest.raises(ReleaseError, match="x holds lists or mappings") as caught:
        release.save(tmp_path / "release")
    assert "Zwetkoff" not in str(caught.value)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_files_say_by_their_last_column_that_they_are_synthetic(file_format, release_of, small, tmp_path):
    release = release_of(small, m=2)
    folder = release.save(tmp_path / "r", format=file_format)
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv}[file_format]
    for number, path in enumerate(sorted(folder.glob(f"synthetic_*.{file_format}")), start=1):
        plain = read(path)
        assert list(plain)[-1] == "_synthetic"
        assert set(plain["_synthetic"]) == {number}
        assert list(sdp.read_table(path)) == list(small)
    assert json.loads((folder / "release.json").read_text())["watermark"] == "_synthetic"
    opened = SyntheticRelease.open(folder)
    for number, copy in enumerate(SyntheticRelease.load(folder)):
        pd.testing.assert_frame_equal(copy, release[number])
        assert list(opened[number].columns) == list(release[number])
        assert list(next(iter(opened[number].blocks()))) == list(release[number])


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_the_mark_may_be_left_out_and_the_list_says_so(file_format, release_of, small, tmp_path):
    folder = release_of(small, m=2).save(tmp_path / "r", format=file_format, watermark=False)
    assert json.loads((folder / "release.json").read_text())["watermark"] is None
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv}[file_format]
    assert list(read(folder / f"synthetic_1.{file_format}")) == list(small)
    assert SyntheticRelease.load(folder).m == 2


def test_a_column_that_is_called_like_the_mark_is_refused_before_anything_is_written(release_of, tmp_path):
    release = release_of(pd.DataFrame({"x": [1.0, 2.5], "_synthetic": [3.0, 4.0]}))
    with pytest.raises(ReleaseError, match=r"leave it out with drop=\['_synthetic'\]"):
        release.save(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []
    folder = release.save(tmp_path / "r", watermark=False)
    pd.testing.assert_frame_equal(SyntheticRelease.load(folder)[0], release[0])


def test_a_copy_whose_mark_was_taken_off_is_told(release_of, small, tmp_path, relist):
    folder = release_of(small).save(tmp_path / "r")
    path = folder / "synthetic_1.parquet"
    table = pa_parquet.read_table(path)
    pa_parquet.write_table(table.drop_columns("_synthetic"), path)
    relist(folder)
    with pytest.raises(ReleaseError, match=r"synthetic_1\.parquet has other columns"):
        SyntheticRelease.load(folder)


def test_formats_are_checked(release_of, small, tmp_path):
    release = release_of(small)
    with pytest.raises(ReleaseError, match="format must be one of parquet, csv, sav, dta, xpt"):
        release.save(tmp_path / "r", formats=["parquet", "sas"])


def test_a_release_is_on_disk_before_it_takes_its_name(tmp_path, release_of, monkeypatch):
    order = []
    monkeypatch.setattr(release_dir, "flush_tree", lambda draft: order.append(sorted(draft.iterdir())))
    monkeypatch.setattr(release_dir, "moved", lambda draft, folder: order.append(draft.rename(folder)))
    release_of(pd.DataFrame({"x": [1.0, 2.0] * 10})).save(tmp_path / "r", format="csv")
    flushed, _ = order
    assert {path.name for path in flushed} == {path.name for path in (tmp_path / "r").iterdir()}
