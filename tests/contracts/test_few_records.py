"""No value of fewer than five records leaves a table: not in copies, a saved fit or a folder."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pysynthdp import CategoricalColumn, FitError, NumericColumn, PysynthdpWarning, Schema, Synthesizer, look
from pysynthdp.cli.app import app

N = 300
WIN = (41_237.5625, 98_765.4375, 77_777.1875)
DAY = ("1931-05-17", "1927-02-11", "1903-11-29")


def with_few(rest: Any, few: Any) -> np.ndarray:
    """A column of one value but for a few records in the middle."""
    cells = np.full(N, rest, dtype=np.float64)
    cells[100 : 100 + len(few)] = few
    return cells


def dates(few: tuple[str, ...]) -> pd.Series:
    """Dates that few records have."""
    cells = pd.Series(np.full(N, np.datetime64("NaT"), dtype="M8[us]"))
    cells[100 : 100 + len(few)] = pd.to_datetime(list(few))
    return cells


def table(**columns: Any) -> pd.DataFrame:
    """A table of one ordinary number, one text and the columns that matter."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 90, N), "sex": rng.choice(["f", "m"], N)})
    return frame.assign(**columns)


def declared(column: NumericColumn) -> Schema:
    """A schema that declares everything."""
    return Schema([NumericColumn("age"), CategoricalColumn("sex", ["f", "m"]), column])


NONE, CODE, ZERO = np.nan, -8.0, 0.0
CASES: dict[str, tuple[pd.DataFrame, dict[str, Any], str]] = {
    "one present": (table(x=with_few(NONE, WIN[:1])), {}, "count as missing"),
    "two present": (table(x=with_few(NONE, WIN[:2])), {}, "count as missing"),
    "three present, last": (table(x=with_few(NONE, WIN))[::-1], {}, "count as missing"),
    "four of one value": (table(x=with_few(NONE, WIN[:1] * 4)), {}, "count as missing"),
    "first column": (table(x=with_few(NONE, WIN[:2]))[["x", "age", "sex"]], {}, "count as missing"),
    "Float64": (table(x=pd.array(with_few(NONE, WIN[:1]), dtype="Float64")), {}, "count as missing"),
    "all codes but three": (
        table(x=with_few(CODE, WIN)),
        {"missing": {"x": {-8: "no win"}}},
        "count as 'no win'",
    ),
    "declared spike but one": (table(x=with_few(ZERO, WIN[:1])), {"spikes": {"x": [0]}}, "no copy has that"),
    "learned spike but three": (table(x=with_few(ZERO, WIN)), {}, "no copy has that"),
    "learned spike but one": (table(x=with_few(ZERO, WIN[:1])), {}, "no copy has that"),
    "one date": (table(x=dates(DAY[:1])), {}, "count as missing"),
    "three dates": (table(x=dates(DAY)), {}, "count as missing"),
    "one duration": (table(x=dates(DAY[:1]) - pd.Timestamp("1970-01-01")), {}, "count as missing"),
    "declared": (
        table(x=with_few(NONE, WIN[:1])),
        {"schema": declared(NumericColumn("x", 0, 1e6, decimals=4, dtype="float64"))},
        "count as missing",
    ),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "proper": {"proper": True},
    "sample": {"method": {"x": "sample"}},
    "norm": {"method": {"x": "norm"}},
    "lognorm": {"method": {"x": "lognorm"}},
}


def fit(frame: pd.DataFrame, **settings: Any) -> tuple[Any, list[PysynthdpWarning]]:
    """Fit, and listen."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = Synthesizer(progress=False, workers=1, **settings).fit(frame)
    return fitted, [each.message for each in heard if isinstance(each.message, PysynthdpWarning)]


def numbers_in(plain: Any) -> Iterator[float]:
    """Every number in plain values, and every number that a text is."""
    if isinstance(plain, dict | list):
        for inner in plain.values() if isinstance(plain, dict) else plain:
            yield from numbers_in(inner)
    elif isinstance(plain, int | float):
        yield float(plain)


def found_in(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Numbers and texts of a saved fit or of a folder's files."""
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix == ".parquet":
                frame = pd.read_parquet(file)
                yield frame.to_csv(), frame.select_dtypes("number").to_numpy(float, na_value=np.nan).ravel()
            elif file.is_file():
                yield file.read_text(), np.empty(0)
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content))
                yield "", array.astype(float).ravel() if array.dtype.kind in "fiub" else np.empty(0)
            else:
                yield content.decode(), np.array(list(numbers_in(json.loads(content))))


def secrets() -> np.ndarray:
    """The values, their means, and the dates in days and microseconds."""
    days = np.array([pd.Timestamp(day).value / 86_400e9 for day in DAY])
    wins = [np.mean(WIN[:k]) for k in (1, 2, 3)] + list(WIN)
    return np.array([*wins, *np.log(wins), *days, days[:2].mean(), days.mean(), *(days * 86_400e6)])


RUNS = [(case, "default") for case in CASES] + [("two present", how) for how in SETTINGS]
RUNS += [(case, "proper") for case in ("all codes but three", "learned spike but one", "three dates")]


@pytest.mark.parametrize(("case", "how"), RUNS)
def test_no_number_or_date_of_few_records_is_kept_or_released(case, how, tmp_path) -> None:
    frame, settings, _ = CASES[case]
    fitted, _ = fit(frame.reset_index(drop=True), **settings, **SETTINGS[how])
    release = fitted.draw(m=2, rng=1)
    folder, file = release.save(tmp_path / "release"), fitted.save(tmp_path / "fit")
    for text, values in (*found_in(folder), *found_in(file)):
        assert not any(str(win) in text or str(int(win)) in text for win in WIN)
        assert not any(day in text for day in DAY)
        gap = np.abs(values[:, None] - secrets()) / np.abs(secrets())
        assert not (gap < 1e-6).any()


def test_the_search_finds_what_is_there(tmp_path) -> None:
    """With five records the mean of five is kept, by design: the search sees it."""
    frame = table(x=with_few(NONE, WIN[:1] * 5))
    fitted, _ = fit(frame)
    found = [values for _, values in found_in(fitted.save(tmp_path / "fit"))]
    assert any((np.abs(values - WIN[0]) < 1e-6).any() for values in found)


@pytest.mark.parametrize("case", CASES)
def test_look_fit_and_statement_say_the_same(case) -> None:
    frame, settings, words = CASES[case]
    frame = frame.reset_index(drop=True)
    fitted, heard = fit(frame, **settings)
    (remark,) = [one for one in fitted.remarks if one.column == "x"]
    assert words in remark.what
    assert "drop=['x']" in remark.remedy
    assert "keep=['x']" in remark.remedy
    assert str(remark) in [str(warning) for warning in heard]
    if "schema" not in settings:  # which look takes no part of
        seen = {column.name: column for column in look(frame, **settings).columns}
        assert f"{remark.what}; {remark.remedy}" in seen["x"].warnings
        assert not seen["sex"].warnings
    learned = fitted.draw(m=1, rng=1).privacy.learned
    spiked = any(fact.startswith("spikes of x") for fact in learned) or "spikes" in settings
    besides = " besides its spikes" if spiked else ""
    assert f"that fewer than five records have a value of x{besides}: no copy has one" in learned
    assert not [fact for fact in learned if "fewer than five" in fact and " of x" not in fact]
    shown = " ".join((*map(str, heard), str(fitted), *learned))
    assert not any(str(int(win)) in shown for win in WIN)


def test_a_saved_fit_says_so_too(tmp_path) -> None:
    frame, settings, _ = CASES["three present, last"]
    fitted, _ = fit(frame.reset_index(drop=True), **settings)
    loaded = type(fitted).load(fitted.save(tmp_path / "fit"))
    assert loaded.draw(m=1, rng=1).privacy.learned == fitted.draw(m=1, rng=1).privacy.learned


def test_kept_columns_stay_whole_and_silent() -> None:
    frame, _, _ = CASES["three present, last"]
    frame = frame.reset_index(drop=True)
    fitted, heard = fit(frame, keep=["x"])
    pd.testing.assert_series_equal(fitted.draw(m=1, rng=1)[0]["x"], frame["x"])
    assert not heard


def test_ordinary_columns_say_nothing() -> None:
    rng = np.random.default_rng(2)
    frame = table(x=np.where(rng.random(N) < 0.1, NONE, np.round(rng.gamma(2.0, 900.0, N))))
    fitted, heard = fit(frame)
    assert fitted.remarks == ()
    assert not heard
    assert not look(frame).warnings


def test_a_digit_needs_five_records() -> None:
    values = np.round(np.random.default_rng(3).gamma(2.0, 900.0, N), 1)
    for finer, decimals in ((4, 1), (5, 3)):
        cells = values.copy()
        cells[:finer] += 0.025
        fitted, heard = fit(table(x=cells))
        assert fitted.schema["x"].decimals == decimals
        assert ("more than 1 decimal, so" in " ".join(map(str, heard))) is (decimals == 1)
    times = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D"))
    for finer, unit in ((4, "day"), (5, "minute")):
        cells = times.copy()
        cells[:finer] += pd.Timedelta(minutes=77)
        fitted, _ = fit(table(x=cells))
        assert fitted.schema["x"].unit == unit


FAMILIES = [f"Family Name {i}" for i in range(2000)]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("keep", [(), ("family",)])
def test_categories_of_no_record_leave_only_where_declared(ordered, keep, tmp_path) -> None:
    family = pd.Categorical(FAMILIES[:2] * (N // 2), categories=FAMILIES, ordered=ordered)
    frame = table(family=family)
    fitted, heard = fit(frame, keep=keep)
    folder = fitted.draw(m=1, rng=1).save(tmp_path / "release")
    assert not any("Family Name 1999" in text for text, _ in found_in(folder))
    assert b"Family Name 1999" not in (folder / "synthetic_1.parquet").read_bytes()
    assert "family: 1,998 of its categories occur in no record" in " ".join(map(str, heard))
    (column,) = [column for column in look(frame, exempt=keep).columns if column.name == "family"]
    assert any("1,998 of its categories" in warning for warning in column.warnings)
    plain = {"levels": {"family": FAMILIES}, "method": {"family": "sample"}}
    fitted, heard = fit(frame[["family"]], **plain)
    assert len(fitted.draw(m=1, rng=1)[0]["family"].cat.categories) == 2000
    assert not heard


def test_a_declared_schema_keeps_its_own_levels_and_no_others() -> None:
    answers = pd.Categorical(["a", "b"] * (N // 2), categories=["a", "nobody", "b", "c"])
    schema = Schema([CategoricalColumn("g", ["a", "b", "c"])])
    fitted, heard = fit(pd.DataFrame({"g": answers}), schema=schema)
    assert fitted.draw(m=1, rng=1)[0]["g"].cat.categories.tolist() == ["a", "b", "c"]
    assert not heard


@pytest.mark.filterwarnings("default:the table has")
@pytest.mark.parametrize(("n", "rc"), [(1, 3), (4, 3), (5, 0), (19, 0), (40, 0)])
def test_tiny_tables_at_every_door(n, rc, tmp_path) -> None:
    frame = table().head(n)
    file, out = tmp_path / "t.csv", tmp_path / "out"
    frame.to_csv(file, index=False)
    done = CliRunner().invoke(app, ["synth", str(file), "--out", str(out), "--m", "1"])
    assert done.exit_code == rc
    assert out.exists() is (rc == 0)
    said = " ".join(look(frame).warnings)
    if rc:
        with pytest.raises(FitError, match="fewer than five rows"):
            fit(frame)
        assert "fewer than five rows" in said
        assert "fewer than five rows" in done.output
        return
    _, heard = fit(frame)
    sizes = [str(warning) for warning in heard if warning.kind == "small table"]
    assert bool(sizes) is (n < 20)
    assert sizes == list(look(frame).warnings)
    assert ("too small to model" in done.stderr) is (n < 20)


def test_a_job_prints_no_level_or_spike(tmp_path) -> None:
    rng = np.random.default_rng(5)
    frame = table(
        town=rng.choice(["Brno", "Uppsala"], N),
        wage=np.where(rng.random(N) < 0.3, 17.25, rng.gamma(2.0, 9.0, N)),
    )
    frame.loc[7, "town"] = "Hamlet-on-the-Hill"
    file = tmp_path / "t.csv"
    frame.to_csv(file, index=False)
    done = CliRunner().invoke(
        app, ["synth", str(file), "--out", str(tmp_path / "out"), "--m", "1", "--debug"]
    )
    assert done.exit_code == 0, done.output
    assert "levels of sex (2), town (3)" in " ".join(done.stdout.split())
    assert not any(word in done.output for word in ("Hamlet", "Uppsala", "17.25"))
    assert "Hamlet" in (tmp_path / "out" / "privacy.json").read_text()
