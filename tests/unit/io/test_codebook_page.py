"""The codebook for people: labels, codes with meaning, methods, and frequencies of the copies alone."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.design.tagged import tagged
from pysynthdp.io.folder.codebook_page import codebook_page
from pysynthdp.io.folder.counting import counted
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.schema.labels import Kind, Labels

N = 400
REFUSED = Kind(".a", -8, "refused")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    income = rng.gamma(3, 900, N).round()
    income[:40] = tagged([".a"] * 40)
    smoke = rng.choice(["<Yes>", "No", "refused"], N, p=[0.5, 0.3, 0.2])
    return pd.DataFrame({
        "income": income,
        "smoke": pd.Categorical(smoke, ["<Yes>", "No", "Never", "refused"]),
        "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, N), unit="D"),
        "who": [f"P-{at:04d}" for at in rng.permutation(N)],
    })  # fmt: skip


@pytest.fixture(scope="module")
def release(table) -> sdp.SyntheticRelease:
    schema = Schema([
        NumericColumn("income", decimals=0, missing={".a": "refused"},
                      labels=Labels("Net income", {0: "none"}, (REFUSED,))),
        CategoricalColumn("smoke", ["<Yes>", "No", "Never"], missing={"refused": "refused"},
                          labels=Labels("Smokes?", {1: "<Yes>", 2: "No", 3: "Never"}, (REFUSED,))),
        NumericColumn("day", unit="day", dtype="datetime64[us]"),
        CategoricalColumn("who", sorted(table["who"])),
    ])  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sdp.Synthesizer(schema=schema, method={"who": "serial"}, progress=False).fit(table)
        return fit.draw(m=2, rng=1)


class Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def words(page: str) -> str:
    reader = Words()
    reader.feed(page)
    return " ".join(" ".join(reader.words).split())


def test_the_page_says_labels_codes_methods_and_shares_of_the_copies(release, tmp_path):
    folder = release.save(tmp_path / "r")
    page = (folder / "codebook.html").read_text("utf-8")
    text = words(page)
    every = pd.concat(release)
    for level, code in (("<Yes>", "1"), ("No", "2"), ("Never", "3")):
        share = 100 * (every["smoke"] == level).mean()
        found = re.search(rf"{code} {re.escape(level)} ([\d.]+)", text)
        assert float(found[1]) == pytest.approx(share, rel=1e-3, abs=1e-9), level
    refused = 100 * (every["smoke"] == "refused").mean()
    assert float(
        re.search(r"-8 refused \(missing\) ([\d.]+)", text[text.index("smoke:") :])[1]
    ) == pytest.approx(refused, rel=1e-3)
    assert "income: Net income" in text
    assert "Smokes?" in text
    assert float(re.search(r"mean in the copies ([\d.,]+)", text)[1].replace(",", "")) == pytest.approx(
        every["income"].mean(), rel=1e-3
    )
    assert f"from {every['day'].min():%Y-%m-%d}" in text
    assert "serial: fresh running numbers" in text
    assert "_synthetic Synthetic data: number of the copy" in text
    assert "<Yes>" not in page
    assert "P-0" not in page


def test_the_page_stands_alone(release, tmp_path):
    page = (release.save(tmp_path / "r") / "codebook.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"<script|<img|<link|https?://|src=|url\(", page)
    HTMLParser().feed(page)


def test_real_columns_are_called_real(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"w": rng.choice([1.5, 2.5], N), "x": rng.normal(size=N)})
    release = sdp.synthesize(table, m=1, rng=1, keep=["w"])
    text = words((release.save(tmp_path / "r") / "codebook.html").read_text("utf-8"))
    assert "released REAL: the confidential table's own values" in text
    assert "kept real: not drawn: the real values" in text


def test_blocks_are_counted_as_a_whole(table):
    whole = counted([table], Schema(()))
    parts = counted([table.iloc[:123], table.iloc[123:]], Schema(()))
    assert parts["smoke"].levels == whole["smoke"].levels
    assert parts["income"].mean == pytest.approx(table["income"].mean())
    assert parts["income"].deviation == pytest.approx(table["income"].std())
    assert (parts["income"].absent, parts["income"].rows) == (40, N)


def test_long_copies_are_counted_up_to_a_number_of_rows(table, monkeypatch):
    monkeypatch.setattr("pysynthdp.io.folder.counting.MOST_ROWS", 200)
    assert counted([table.iloc[:150], table.iloc[150:300], table.iloc[300:]], Schema(()))["day"].rows == 300


def test_a_universe_is_told_with_what_stands_outside_it():
    asked = SimpleNamespace(where="smoke == 'YES'", outside=-8)
    column = SimpleNamespace(
        name="cigarettes", labels=None, unit="number", missing=((-8, "not asked"),), universe=asked
    )
    page = codebook_page([column], {}, title="t", privacy="p", methods={})
    assert "universe smoke == 'YES', else not asked" in words(page)
    column.universe = SimpleNamespace(where="age > 15", outside=None)
    assert "universe age > 15, else missing" in words(
        codebook_page([column], {}, title="t", privacy="p", methods={})
    )
