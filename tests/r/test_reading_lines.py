"""The lines of a read-me give back what the copies hold: pandas' by Python, R's by R, run as they stand."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

ABSENT = "<absent>"


@pytest.fixture(scope="module")
def sent(tmp_path_factory) -> tuple[Path, pd.DataFrame]:
    """A release of texts that readers like to fold, and its only copy."""
    rng, n = np.random.default_rng(0), 300
    table = pd.DataFrame({
        "land": rng.choice(["NA", "None", "null", "DE"], n),
        "plz": rng.choice(["01067", "50667", "00001"], n),
        "my grade": rng.choice(["1", "2"], n),
        "works": pd.array(rng.random(n) < 0.4, dtype="boolean"),
        "tf": rng.choice(["T", "F"], n),
        "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, n), unit="D"),
        "x": rng.normal(size=n),
        "k": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        "e": rng.choice(["", "a"], n),
    })  # fmt: skip
    table.loc[rng.random(n) < 0.2, ["land", "works", "day", "x", "k"]] = pd.NA
    release = sdp.Synthesizer(progress=False).fit(table).draw(m=1, rng=1)
    return release.save(tmp_path_factory.mktemp("sent") / "r", format="csv"), release[0]


def line(folder: Path, start: str) -> str:
    return re.search(rf"{re.escape(start)}.*$", (folder / "README.txt").read_text("utf-8"), re.MULTILINE)[0]


def texts(column: pd.Series) -> list[str]:
    """Cells as texts, the empty one as a missing value, which the note of the read-me says."""
    return [ABSENT if pd.isna(cell) or cell == "" else str(cell) for cell in column]


def test_the_line_for_pandas(sent, monkeypatch):
    folder, copy = sent
    monkeypatch.chdir(folder)
    got = eval(line(folder, "pandas.read_csv("), {"pandas": pd})  # noqa: S307
    assert list(got) == [*copy, "_synthetic"]
    for name in copy:
        assert got[name].isna().tolist() == [cell == ABSENT for cell in texts(copy[name])]
        kept = copy[name].notna() & (copy[name].astype(str) != "")
        assert got[name][kept].tolist() == copy[name][kept].tolist(), name
    assert "the empty text, which they take for missing" in " ".join(
        (folder / "README.txt").read_text("utf-8").split()
    )


def test_the_line_for_r(sent):
    folder, copy = sent
    code = (
        f"copy <- {line(folder, 'read.csv(')}\n"
        "stopifnot(is.logical(copy$works), inherits(copy$day, 'Date'), is.integer(copy$k))\n"
        f"for (name in names(copy)) writeLines(ifelse(is.na(copy[[name]]), '{ABSENT}', "
        "format(copy[[name]], digits = 15, trim = TRUE)), paste0('seen ', name))\n"
    )
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in copy:
        seen = (folder / f"seen {name}").read_text("utf-8").splitlines()
        if name == "x":
            np.testing.assert_allclose(
                [float(s) for s in seen if s != ABSENT], copy["x"].dropna(), rtol=1e-12
            )
            continue
        want = copy[name].dt.strftime("%Y-%m-%d") if name == "day" else copy[name]
        assert [s.rstrip() for s in seen] == [
            t.upper() if name == "works" and t != ABSENT else t for t in texts(want)
        ]


def test_the_programs_read_the_same(sent):
    folder, _ = sent
    assert 'read_csv(file, dtype={"land": str' in (folder / "analyse.py").read_text("utf-8")
    assert 'colClasses = c("land" = "character"' in (folder / "analyse.R").read_text("utf-8")


def test_our_own_reader_gives_the_copy(sent):
    folder, copy = sent
    got = sdp.read_table(folder / "synthetic_1.csv", text=["plz", "my grade", "tf"])
    for name in copy:
        assert got[name].isna().tolist() == copy[name].isna().tolist()
        assert got[name].dropna().tolist() == copy[name].dropna().tolist(), name
