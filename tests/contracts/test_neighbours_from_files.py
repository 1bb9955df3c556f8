"""Files and frames that differ in one record are synthesised, and nothing that comes out tells them apart.

Files go through the command line. With the same noised answers given back to both, exit code, screen,
warnings and every byte of the release must agree; no other row is encoded otherwise, and the exact zCDP
loss is at most the budget. A file that a cell could bend is refused before anything is asked.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.privacy.guarantees.zcdp import ZCDP

_SPEC = importlib.util.spec_from_file_location("neighbours", Path(__file__).parents[1] / "neighbours.py")
shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = shared
_SPEC.loader.exec_module(shared)
Run, watched, loss, changed_rows = shared.Run, shared.watched, shared.loss, shared.changed_rows
N, RHO, AT = 300, 50.0, 7
rng = np.random.default_rng(5)
DAYS = rng.integers(7305, 10305, N).astype(np.float64)
CODES = rng.integers(1, 4, N).astype(np.int32)
WRITTEN = np.array([f"{day:%Y-%m-%d}" for day in pd.to_datetime(DAYS, unit="D")], dtype=object)
CODEBOOK = """
[columns.born]
lower = 0
upper = 20000
unit = "day"
decimals = 0
may_be_missing = false
fallback = 5000
[columns.day]
lower = 0
upper = 20000
unit = "day"
may_be_missing = false
fallback = 5000
[columns.amount]
lower = 0
upper = 20000
fallback = 5000
may_be_missing = true
[columns.group]
levels = ["a", "NA", "null"]
other = "a"
may_be_missing = true
[columns.code]
levels = [1, 2, 3]
values = "number"
other = 1
may_be_missing = false
"""
ONE_COLUMN = CODEBOOK.partition("[columns.day]")[0]
PLAN = 'codebook = "codebook.toml"\nguarantee = {{name = "zcdp", rho = {rho}}}\n'
CELLS = [
    "",
    "NA",
    "x",
    "1e400",
    "-inf",
    "31337",
    "2020-01-01",
    "01",
    "True",
    "None",
    "null",
    " ",
    "a\rb",
    "\r",
    "\x00",
]


def people() -> pd.DataFrame:
    groups = np.array(["a", "NA", "null"])[CODES - 1]
    own = {
        "born": DAYS.astype(int),
        "day": WRITTEN,
        "amount": DAYS,
        "group": groups,
        "code": CODES,
    }
    return pd.DataFrame(own)


def lines_of(frame: pd.DataFrame) -> list[str]:
    return [",".join(frame.columns), *(",".join(map(str, row)) for row in frame.itertuples(index=False))]


@pytest.fixture
def synth(tmp_path, monkeypatch) -> Callable[..., tuple[Any, Any]]:
    """Run ``pysynthdp synth`` on a file; give what it asked the noise to hide, and all that can be seen."""

    def run(
        name: str,
        write: Callable[[Path], object],
        given: Run | None,
        book: str = CODEBOOK,
        form: str = "",
    ) -> tuple[Any, Any]:
        folder = tmp_path / "work"  # the same paths for both
        folder.mkdir()
        (folder / "codebook.toml").write_text(book)
        plan = PLAN.format(rho=1.0 if book == ONE_COLUMN else RHO)
        (folder / "plan.toml").write_text(form + plan)
        write(folder / name)
        command = ["synth", folder / name, "--plan", folder / "plan.toml", "--m", 1, "--seed", 1]
        with watched(monkeypatch, given) as seen, warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            done = CliRunner().invoke(app, [*map(str, command), "--out", str(folder / "out")])
        out = folder / "out"
        files = {path.name: path.read_bytes() for path in out.iterdir()} if out.exists() else {}
        folder.rename(tmp_path / f"done {len(list(tmp_path.iterdir()))}")
        return seen, (done.exit_code, done.output, files, [str(one.message) for one in heard])

    return run


def csv_of(lines: list[str]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def compared(pair: tuple[Any, Any], other: tuple[Any, Any], rho: float) -> None:
    assert pair[1][0] == 0, pair[1][1]
    assert len(pair[1][2]) > 4
    assert pair[1] == other[1]
    assert changed_rows(pair[0], other[0]) <= {AT}
    assert loss(pair[0], other[0]) <= Fraction(rho)


@pytest.mark.parametrize("cell", [*CELLS, "\udcff", '""', '"a"b"c"'], ids=ascii)
def test_an_odd_record_of_a_csv_leaves_every_byte_of_the_release(cell, synth):
    lines = lines_of(people())
    odd = [*lines[: AT + 1], ",".join([cell] * 5), *lines[AT + 2 :]]
    plain = synth("t.csv", csv_of(lines), None)
    compared(plain, synth("t.csv", csv_of(odd), plain[0]), RHO)


GERMAN = 'sep = ";"\ndecimal = ","\nencoding = "cp1252"\nday_first = true\n'


@pytest.mark.parametrize(
    "cell",
    [*CELLS, "1,5", "1.234", "1;2;3;4;5;6;7", "02.01.1990", "31.13.1990", "\xfc", "\x81", '"a;b"'],
    ids=ascii,
)
def test_an_odd_record_of_a_declared_form_leaves_every_byte_of_the_release(cell, synth):
    german = people()
    german["amount"] = [f"{value:.1f}".replace(".", ",") for value in german["amount"]]
    german["day"] = [f"{day:%d.%m.%Y}" for day in pd.to_datetime(german["day"])]
    lines = [
        line.replace("|", ";")
        for line in ("|".join(map(str, row)) for row in [german.columns, *german.to_numpy()])
    ]
    odd = [*lines[: AT + 1], ";".join([cell] * 5), *lines[AT + 2 :]]

    def write(rows):
        return lambda path: path.write_bytes(("\n".join(rows) + "\n").encode("latin-1"))

    plain = synth("t.csv", write(lines), None, form=GERMAN)
    compared(plain, synth("t.csv", write(odd), plain[0], form=GERMAN), RHO)


SETTINGS = {
    "even draws": 'draws = "even"\n',
    "main effects": 'terms = "main"\n',
    "one predictor": "max_predictors = 1\n",
    "an order": 'visit_sequence = ["code", "amount", "group", "day", "born"]\n',
    "a derived column": 'derive = {amount = "born + 0"}\n',
    "declared cells": 'method = {born = {name = "cells", edges = [8000, 8000, 9000, 10000]}}\n',
}


@pytest.mark.parametrize("cell", ["", "31337", "8000", "x"])
@pytest.mark.parametrize("form", SETTINGS.values(), ids=SETTINGS)
def test_an_odd_record_leaves_every_byte_whatever_is_asked_for(form, cell, synth):
    lines = lines_of(people())
    plain = synth("table.csv", csv_of(lines), None, form=form)
    odd = lines.copy()
    odd[1 + AT] = ",".join([cell] * 5)
    other = synth("table.csv", csv_of(odd), plain[0], form=form)
    compared(plain, other, RHO)
    assert plain[1][3] == other[1][3] == []


def test_a_head_of_another_form_is_refused_before_anything_is_asked(synth):
    lines = [line.replace(",", ";") for line in lines_of(people())]
    seen, (code, said, files, _) = synth("t.csv", csv_of(lines), None)
    assert (code, files, seen.exact) == (3, {}, [])
    assert "--sep ';'" in said


@pytest.mark.parametrize("row", ["1", "1,2", ",,,,,,,,", "1,2,3,4,5,6,7", '"x, y",1,2', ",,,,"])
def test_a_record_of_another_length_leaves_every_byte_of_the_release(row, synth):
    lines = lines_of(people())
    plain = synth("t.csv", csv_of(lines), None)
    compared(plain, synth("t.csv", csv_of([*lines[: AT + 1], row, *lines[AT + 2 :]]), plain[0]), RHO)


@pytest.mark.parametrize("cell", CELLS, ids=ascii)
def test_an_odd_cell_of_a_one_column_csv_leaves_every_byte_of_the_release(cell, synth):
    lines = lines_of(people()[["born"]])
    plain = synth("t.csv", csv_of(lines), None, ONE_COLUMN)
    compared(
        plain, synth("t.csv", csv_of([*lines[: AT + 1], cell, *lines[AT + 2 :]]), plain[0], ONE_COLUMN), 1.0
    )


@pytest.mark.parametrize("row", ['3,"', '"\n', 'a,"b\nc",d', ""])
def test_a_file_that_a_cell_could_bend_is_refused_before_anything_is_asked(row, synth):
    lines = lines_of(people())
    seen, (code, said, files, _) = synth("t.csv", csv_of([*lines[: AT + 1], row, *lines[AT + 2 :]]), None)
    assert (code, files, seen.exact) == (3, {}, [])
    assert "every line of a CSV is one record" in said


def missing(frame: pd.DataFrame) -> pd.DataFrame:
    odd = frame.astype({"code": "Int64", "born": "Int64"})
    odd.loc[AT] = None
    return odd


@pytest.mark.parametrize("dates", [False, True], ids=["texts", "dates"])
def test_a_missing_record_of_a_parquet_file_leaves_every_byte_of_the_release(dates, synth):
    frame = people().astype({"code": "Int64", "born": "Int64"})
    if dates:
        frame["day"] = pd.to_datetime(frame["day"])
    plain = synth("t.parquet", lambda path: frame.to_parquet(path, index=False), None)
    odd = synth("t.parquet", lambda path: missing(frame).to_parquet(path, index=False), plain[0])
    compared(plain, odd, RHO)


# labelled files: labels and formats alone say what a column is

LABELLED = """
[columns.code]
codes = {"1" = "one", "2" = "two", "3" = "three"}
levels = ["one", "two", "three"]
other = "one"
may_be_missing = false
[columns.amount]
lower = 0
upper = 20000
fallback = 5000
[columns.day]
kind = "numeric"
lower = 0
upper = 20000
unit = "day"
decimals = 0
may_be_missing = false
fallback = 5000
"""
_TO_SPSS = 141_428  # days from 14 October 1582 to 1970


def sav_of(record: dict[str, float]) -> Callable[[Path], object]:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"code": CODES.astype(float), "amount": DAYS, "day": (DAYS + _TO_SPSS) * 86_400})
    frame.loc[AT, list(record)] = list(record.values())
    facts = {
        "variable_value_labels": {"code": {1.0: "one", 2.0: "two", 3.0: "three"}, "amount": {-8.0: "none"}},
        "missing_ranges": {"amount": [-8, {"lo": 30_001, "hi": 30_009}], "code": [9]},
        "variable_format": {"code": "F8.0", "amount": "F8.0", "day": "DATE11"},
    }
    return lambda path: pyreadstat.write_sav(frame, str(path), **facts)


@pytest.mark.parametrize(
    "record",
    [
        {"code": 7.0, "amount": 31_337.0, "day": -1e15},
        {"code": 1.5, "amount": -8.0, "day": 0.5},
        {"code": 9.0, "amount": 30_003.5, "day": np.nan},
        {"code": np.nan, "amount": np.nan},
        {"amount": 0.25},
    ],
    ids=str,
)
def test_an_odd_record_of_a_labelled_file_leaves_every_byte_of_the_release(record, synth):
    plain = synth("t.sav", sav_of({}), None, LABELLED)
    compared(plain, synth("t.sav", sav_of(record), plain[0], LABELLED), RHO)
    assert plain[1][3] == []


# frames in Python: one odd cell gives a column another type

WHEN = {"lower": 0, "upper": 20000, "unit": "day", "may_be_missing": False, "fallback": 5000}
SCHEMA = sdp.Schema([
    sdp.NumericColumn("born", decimals=0, **WHEN),
    sdp.NumericColumn("day", **WHEN),
    sdp.NumericColumn("amount", lower=0, upper=20000, fallback=5000),
    sdp.CategoricalColumn("group", ["a", "NA", "null"], other="a"),
    sdp.CategoricalColumn("code", [1, 2, 3], other=1, may_be_missing=False),
])  # fmt: skip
FORMS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "numpy": lambda frame: frame,
    "nullable": lambda frame: frame.convert_dtypes(),
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "dates": lambda frame: frame.assign(day=pd.to_datetime(frame["day"])),
    "categories": lambda frame: frame.assign(group=frame["group"].astype("category")),
}
OBJECTS = [
    None,
    "x",
    np.nan,
    pd.NA,
    pd.NaT,
    [1],
    1j,
    10**400,
    pd.Timestamp("1990-01-01"),
    True,
    7305.5,
    np.inf,
]


@pytest.mark.parametrize("odd", OBJECTS, ids=ascii)
@pytest.mark.parametrize("form", FORMS)
def test_an_odd_record_of_a_frame_leaves_every_byte_of_the_release(form, odd, tmp_path, monkeypatch):
    settings = sdp.Synthesizer(schema=SCHEMA, guarantee=ZCDP(RHO), progress=False)
    frame = FORMS[form](people())
    other = frame.astype(object)
    for name in other.columns:
        cells = other[name].to_numpy(dtype=object, copy=True)
        cells[AT] = odd
        other[name] = pd.Series(cells, dtype=object)
    seen, given = [], None
    for number, table in enumerate((frame, other.infer_objects())):
        with watched(monkeypatch, given) as run:
            folder = settings.fit(table).draw(m=1, rng=1).save(tmp_path / f"{number}")
        seen.append({path.name: path.read_bytes() for path in folder.iterdir()})
        given, first = run, given
    assert seen[0] == seen[1]
    assert changed_rows(first, given) <= {AT}
    assert loss(first, given) <= Fraction(RHO)
