"""No fault and no warning says a value, a level, a code or a small count of a record, to whoever reads."""

from __future__ import annotations

import csv
import datetime as dt
import functools
import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.base.errors import Told
from pysynthdp.bridge.codec import dumps, loads, named_list
from pysynthdp.bridge.dispatch import PROTOCOL, handle
from pysynthdp.bridge.frames import frame_to_r
from pysynthdp.bridge.plain import plain_from_r, plain_to_r
from pysynthdp.cli.app import app

N = 240
FEW = 7  # how many records share what one must not hear of
TEXT, NUMBER, DAY = "Zwetkoff", 734159.27, "1893-06-19"
UNSAID = re.compile(r"zwetkoff|734[,._ ]?159|1893|\b7\b|\bseven\b|(?<!utf)-8\b", re.IGNORECASE)
RNG = np.random.default_rng(11)
PLAIN = RNG.normal(50, 10, N).round(1)
SEX = RNG.choice(["F", "M"], N)


def planted(value: Any, others: Any, count: int = FEW) -> list[Any]:
    """A column in which the first records share a value."""
    return [value] * count + list(others)[count:]


def table(x: Any, **beside: Any) -> pd.DataFrame:
    """A table with a column of which something can be said."""
    return pd.DataFrame({"x": x, "beside": PLAIN, "sex": SEX, **beside})


TOWNS = RNG.choice(["aa", "bb", "cc"], N)
WHOLE = RNG.integers(0, 90, N)
DAYS = pd.Series(pd.Timestamp("2001-01-01") + pd.to_timedelta(RNG.integers(0, 4000, N), unit="D"))
TEXT_DAYS = DAYS.dt.strftime("%Y-%m-%d")
PEOPLE = [f"{TEXT}{i}" for i in range(N)]
COLUMNS: dict[str, Any] = {
    "plain": PLAIN,
    "rare level": planted(TEXT, TOWNS, 1),
    "few have a level": planted(TEXT, TOWNS),
    "constant": [TEXT] * N,
    "constant number": [NUMBER] * N,
    "nearly constant": planted("aa", [TEXT] * N),
    "code": planted(-8, WHOLE),
    "code among texts": planted("-8", TOWNS),
    "spike": planted(NUMBER, PLAIN, N // 3),
    "few values": RNG.choice([NUMBER, 1.5, 80.25], N),
    "few records": planted(NUMBER, [np.nan] * N, 3),
    "extreme": planted(NUMBER, PLAIN, 1),
    "few missing": planted(None, PLAIN, 3),
    "few zeros": planted(0.0, np.abs(PLAIN) * 1000),
    "numbers as text": [str(value) for value in planted(NUMBER, PLAIN)],
    "thousands": [f"{value:,.2f}" for value in planted(NUMBER, PLAIN * 1000)],
    "dates as text": planted(DAY, TEXT_DAYS),
    "German dates": planted("19.06.1893", DAYS.dt.strftime("%d.%m.%Y")),
    "dates": planted(pd.Timestamp(DAY), DAYS),
    "dates of few": planted(pd.Timestamp(DAY), [pd.NaT] * N, 3),
    "dates as objects": planted(dt.date(1893, 6, 19), [day.date() for day in DAYS]),
    "identifier": PEOPLE,
    "identifier, categorical": pd.Categorical(PEOPLE),
    "identifier, ordered": pd.Categorical(PEOPLE, ordered=True),
    "free text": [f"{TEXT}{i % 150}" for i in range(N)],
    "key of groups": np.repeat([f"{TEXT}{i}" for i in range(N // 3)], 3),
    "key of numbers": np.repeat(734159 + 10 * np.arange(N // 3), 3),
    "running": 734159 + np.arange(N),
    "infinite": planted(np.inf, PLAIN),
    "huge": planted(1e300, PLAIN),
    "too large": PLAIN * 1e200,
    "beyond 2^53": [2**60 + 734159 * int(value) for value in WHOLE],
    "two types": planted(TEXT, PLAIN),
    "numbers as objects": pd.Series(
        planted(Decimal("734159.27"), map(Decimal, WHOLE.tolist())), dtype=object
    ),
    "lists": [[TEXT, NUMBER]] * N,
    "mappings": [{TEXT: NUMBER}] * N,
    "bytes": planted(TEXT.encode(), [b"a", b"b"] * (N // 2)),
    "complex": planted(complex(NUMBER, 1), PLAIN),
    "periods": pd.PeriodIndex([pd.Period(DAY, "D")] * N),
    "intervals": pd.cut(pd.Series(planted(NUMBER, PLAIN)), [0, 50, 800000]),
    "no Unicode": pd.Series(planted(f"{TEXT}\ud800", TOWNS), dtype=object),
    "zones": pd.Series(
        planted(pd.Timestamp(DAY, tz="Asia/Tokyo"), [pd.Timestamp(day, tz="UTC") for day in DAYS]),
        dtype=object,
    ),
    "unused category": pd.Categorical(TOWNS, categories=["aa", "bb", "cc", TEXT]),
    "scale": pd.Categorical(planted("dd", TOWNS, 1), ["aa", "bb", "cc", "dd"], ordered=True),
    "counts": planted(734159, RNG.poisson(2, N), 1),
    "blank": planted("", TOWNS),
    "flags": pd.array(planted(None, [True, False] * (N // 2), 3), dtype="boolean"),
    "empty": [None] * N,
}
METHODS = (
    "norm", "lognorm", "poisson", "negbin", "normrank", "sample", "logreg", "polyreg", "polr", "constant",
    "serial", "gaussian", "dirichlet", "cart",
)  # fmt: skip
DECLARED = {
    "numbers": sdp.NumericColumn("x", lower=0, upper=60),
    "whole numbers": sdp.NumericColumn("x", dtype="int64"),
    "days": sdp.NumericColumn("x", unit="day"),
    "no missing": sdp.NumericColumn("x", may_be_missing=False),
    "levels": sdp.CategoricalColumn("x", ["aa", "bb"]),
    "flags": sdp.CategoricalColumn("x", [True, False], dtype="boolean"),
}
WISHES: dict[str, dict[str, Any]] = {
    "none": {},
    "proper": {"proper": True},
    "merge": {"rare": "merge"},
    "refuse": {"rare": "refuse"},
    "keep": {"keep": ["x"]},
    "bounds": {"bounds": {"x": (0, 60)}},
    "levels": {"levels": {"x": ["aa", "bb"]}},
    "spikes": {"spikes": {"x": [1]}},
    "missing": {"missing": {"x": {1: "refused"}}},
    "missing text": {"missing": {"x": {"aa": "refused"}}},
    "decimals": {"decimals": {"x": 0}},
    "formula": {"formulas": ["beside ~ np.log(x) + sex:x"]},
    "levels in a formula": {"formulas": ["beside ~ C(x, levels=['aa', 'bb'])"]},
    "original": {"emit_original": True},
    **{method: {"method": {"x": method}} for method in METHODS},
    **{f"declared {name}": {"schema": column} for name, column in DECLARED.items()},
}


def told(problem: BaseException) -> Iterator[str]:
    """All that an error or a warning tells, in each dialect, with its faults and what it came from."""
    yield from (str(problem), repr(problem.args), *getattr(problem, "__notes__", ()))
    if isinstance(problem, Told):
        yield from (problem.said(dialect) for dialect in ("python", "shell", "r"))
        yield from (str(problem.what), str(problem.remedy))
        for fault in problem.faults:  # type: ignore[attr-defined]
            if fault is not problem:
                yield from told(fault)
    origin = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    if origin is not None:
        yield from told(origin)


def heard_in(run: Callable[[], object]) -> list[str]:
    """All that a run tells: warnings, and the error that ends it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            run()
        except sdp.PysynthdpError as problem:
            texts = list(told(problem))
        else:
            texts = []
    for one in heard:
        texts += told(one.message) if isinstance(one.message, Warning) else [str(one.message)]
    return texts


def beside(column: sdp.NumericColumn | sdp.CategoricalColumn) -> sdp.Schema:
    """A schema of one's own."""
    return sdp.Schema(
        [column, sdp.NumericColumn("beside", lower=0, upper=100), sdp.CategoricalColumn("sex", ["F", "M"])]
    )


def settings_of(wish: str) -> dict[str, Any]:
    """Settings of a synthesis."""
    wishes = WISHES[wish]
    return {"schema": beside(wishes["schema"])} if "schema" in wishes else wishes


def fitting(frame: pd.DataFrame, settings: dict[str, Any]) -> sdp.FittedSynthesizer:
    """Plan and fit."""
    synthesizer = sdp.Synthesizer(progress=False, **settings)
    synthesizer.plan(frame)
    fitted = synthesizer.fit(frame)
    assert not UNSAID.search(" ".join(map(str, fitted.remarks))), "remarks"
    return fitted


def everything(frame: pd.DataFrame, settings: dict[str, Any], folder: Path) -> None:
    """Plan, fit, draw, save, load, pool and compare."""
    fitted = fitting(frame, settings)
    release = fitted.draw(m=2, rng=1)
    release.save(folder / "release")
    pooled = sdp.ols("beside ~ sex", sdp.SyntheticRelease.load(folder / "release"))
    sdp.compare_fits(pooled, frame)
    sdp.FittedSynthesizer.load(fitted.save(folder / "fit")).draw(m=1, rng=1)


@pytest.mark.parametrize("name", COLUMNS)
def test_no_message_of_a_fit_and_what_follows_it_holds_a_secret(name, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    frame = table(COLUMNS[name])
    texts = heard_in(lambda: everything(frame, {}, tmp_path))
    texts += heard_in(lambda: everything(frame, {"keep": ["x"]}, tmp_path / "kept"))
    for wish in WISHES:
        texts += heard_in(lambda wish=wish: fitting(frame, settings_of(wish)))
    said = [text.replace(str(tmp_path), "") for text in texts]
    assert not [text for text in said if UNSAID.search(text)]
    assert not UNSAID.search(caplog.text)


GUARANTEES = {"noise": (sdp.ZCDP(rho=4.0), {}), "sampling": (sdp.BySampling(), {"x": "dirichlet"})}
STRICT = {
    "numbers": sdp.NumericColumn("x", lower=0, upper=60, decimals=0, may_be_missing=False, fallback=5),
    "days": sdp.NumericColumn("x", unit="day", lower=1, upper=15000, may_be_missing=False, fallback=2),
    "levels": sdp.CategoricalColumn("x", ["aa", "bb"], other="aa", may_be_missing=False),
}


@pytest.mark.parametrize("road", GUARANTEES)
@pytest.mark.parametrize("kind", STRICT)
def test_under_a_guarantee_every_column_is_spoken_of_alike(kind, road, caplog):
    caplog.set_level(logging.DEBUG)
    guarantee, method = GUARANTEES[road]
    said = {}
    for name, cells in COLUMNS.items():
        schema = sdp.Schema([STRICT[kind]])
        synthesizer = sdp.Synthesizer(schema=schema, guarantee=guarantee, method=method, progress=False)
        said[name] = heard_in(lambda run=synthesizer, x=cells: run.fit(pd.DataFrame({"x": x})).draw(m=1))
    assert not [text for texts in said.values() for text in texts if UNSAID.search(text)]
    assert len({tuple(texts) for texts in said.values()}) == 1, said
    assert not UNSAID.search(caplog.text)


def written(path: Path, cells: Any, *, quoted: bool = False) -> Path:
    """Write a table as somebody's program writes it; a column that no text holds is left out."""
    frame = table(cells)
    frame["x"] = [str(cell).encode("utf-8", "replace").decode() for cell in frame["x"]]
    frame.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC if quoted else csv.QUOTE_MINIMAL)
    return path


READINGS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "text": {"text": ["x"]},
    "German": {"decimal": ",", "sep": ","},
    "semicolon": {"sep": ";"},
    "day first": {"day_first": True},
    "month first": {"day_first": False},
    "levels": {"levels": {"x": ["aa", "bb"]}},
    "bounds": {"bounds": {"x": (0, 60)}},
    "codes": {"missing": {"x": {-9: "refused"}}},
    "ASCII": {"encoding": "ascii"},
    **{f"declared {name}": {"schema": beside(column)} for name, column in DECLARED.items()},
    **{f"local {name}": {"schema": beside(column), "texts": True} for name, column in DECLARED.items()},
}


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_no_message_of_reading_a_file_holds_a_secret(name, quoted, tmp_path):
    path = written(tmp_path / "f.csv", COLUMNS[name], quoted=quoted)
    texts = [
        text for how in READINGS.values() for text in heard_in(lambda how=how: sdp.read_table(path, **how))
    ]
    assert not [text for text in texts if UNSAID.search(text.replace(str(tmp_path), ""))]


BROKEN = {
    "a short row": f"x,y\n{TEXT},1\n{TEXT}\nb,2\n",
    "a long row": f"x,y\n{TEXT},1\n{TEXT},{NUMBER},{NUMBER}\n",
    "an open quote": f'x,y\n"{TEXT},1\nb,2\n',
    "a quote within": f'x,y\n{TEXT}"{NUMBER}",1\n"a"b,2\n',
    "a line within quotes": f'x,y\n"{TEXT}\n{NUMBER}",1\nb,2\n',
    "no bytes of text": f"x,y\n{TEXT},1\n".encode() + b"\xff\xfe\x81,2\n" * 9,
    "zero bytes": f"x,y\n{TEXT}\0,1\nb,2\n" * 3,
    "two line ends": f"x,y\r\n{TEXT},1\rb,2\n",
    "names twice": f"x,x\n{TEXT},{NUMBER}\n",
    "one wide line": "x,y\n" + TEXT * 40_000 + ",1\n",
    "blank": f"x,y\n\n{TEXT},1\n\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_no_message_of_a_broken_file_holds_a_secret(name, tmp_path):
    content = BROKEN[name]
    path = tmp_path / "f.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    texts = []
    for how in ({}, {"sep": ","}, {"encoding": "utf-8"}, {"text": ["x"]}, {"texts": True}):
        texts += heard_in(lambda how=how: sdp.synthesize(sdp.read_table(path, **how), m=1, progress=False))
    assert not [text for text in texts if UNSAID.search(text.replace(str(tmp_path), ""))]


@pytest.mark.parametrize("flags", [[], ["--json"], ["--strict"], ["--rare", "refuse"]], ids=str)
@pytest.mark.parametrize("name", COLUMNS)
def test_no_line_of_the_shell_holds_a_secret(name, flags, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / "f.csv", COLUMNS[name])
    ran = CliRunner().invoke(app, ["synth", path.name, "--m", "1", "--out", "copies", *flags])
    lines = [line for line in ran.stderr.splitlines() if "pysynthdp: read " not in line]
    stdout = json.loads(ran.stdout) if flags == ["--json"] and ran.exit_code == 0 else {}
    assert not [line for line in lines if UNSAID.search(re.sub(r"\d+\.\d s", "", line))]
    assert not UNSAID.search(json.dumps(stdout.get("warnings", "")))
    for report in tmp_path.glob("pysynthdp-error-*"):
        pytest.fail(report.read_text())


def asked_from_r(texts: list[str], frame: pd.DataFrame, settings: dict[str, Any]) -> None:
    """Keep all that R is told of a synthesis."""
    args = {"data": frame_to_r(frame), "settings": plain_to_r(settings), "m": plain_to_r(1)}
    asked = {"protocol": plain_to_r(PROTOCOL), "verb": plain_to_r("synthesise"), "args": named_list(args)}
    reply = loads(handle(dumps(named_list(asked))))
    answer = dict(zip(reply.names, reply.items, strict=True))
    parts = ("message", "remedy", "faults", "trace", "warnings")
    said = [str(plain_from_r(answer[part])) for part in parts if part in answer]
    assert "unexpected" not in said[0]
    texts += [re.sub(r"line \d+", "", text) for text in said]


@pytest.mark.parametrize("name", COLUMNS)
def test_no_message_to_r_holds_a_secret(name):
    texts: list[str] = []
    ask = functools.partial(asked_from_r, texts, table(COLUMNS[name]))
    for settings in ({}, {"rare": "refuse"}, {"levels": {"x": ["aa"]}}, {"bounds": {"x": [0, 60]}}):
        texts += heard_in(functools.partial(ask, settings))
    assert texts
    assert not [text for text in texts if UNSAID.search(text)]
