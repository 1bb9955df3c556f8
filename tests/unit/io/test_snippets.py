"""The programs in a release folder: the one for Python is run, beside ``pool`` on the same copies.

``tests/r/test_snippets.py`` runs the one for R. Stata and SPSS are not to be had here; their files say so.
"""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.analysis import share_of
from pysynthdp.io.snippets.example import example_of
from pysynthdp.tags import ReleaseTags

N = 60


def copies(m, *, spread=0.5):
    """Copies whose slopes differ by nest, two copies a nest."""
    rng = np.random.default_rng(8)

    def one(shift):
        x = rng.normal(size=N)
        g = rng.choice(["a", "b"], N)
        return pd.DataFrame({"x": x, "g": g, "y": 1 + shift * x + rng.normal(size=N)})

    return tuple(one(1 + spread * (i // 2 % 3)) for i in range(m))


CASES = {
    "partial_size_adjusted": {"n_org": 90},
    "raab_simple": {"m": 1},
    "raab_proper": {"m": 1, "parameters": "drawn"},
    "census_fresh_samples": {"sampling": "census"},
    "missing_then_partial_reiter2004": {"nests": tuple("aabbcc"), "n_org": N},
    "missing_then_partial_size_adjusted": {"nests": tuple("aabbcc"), "n_org": 90},
    "two_stage_partial": {"nests": tuple("abcabc"), "nesting": "two_stage", "n_org": N},
    "noise_floored": {"noise": "per_copy_from_one", "parameters": "drawn"},
}


@pytest.fixture(params=list(CASES))
def case(request, parts_of):
    """Give a release whose tags choose the rule, and the name of the rule."""
    changes = {"m": 6, "n_org": 50, **CASES[request.param]}
    frames = copies(changes["m"])
    tags = ReleaseTags(kind="complete", n_syn=N, synthesised=frozenset("xgy"), **changes)
    parts = parts_of(frames[0], tags.m) | {"copies": frames, "tags": tags}
    return sdp.SyntheticRelease(**parts), request.param


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_the_python_program_gives_what_pool_gives(case, file_format, tmp_path, monkeypatch):
    release, rule = case
    folder = release.save(tmp_path / "r", format=file_format)
    monkeypatch.chdir(folder)
    program = runpy.run_path("analyse.py")
    got = program["combine"]([program["fit"](program["read"](file)) for file in program["FILES"]])
    want = release.fit("y ~ x", smf.ols)
    assert want.rule == rule
    assert rule in program["__doc__"]
    np.testing.assert_allclose(got["estimate"], want.params, rtol=1e-10)
    np.testing.assert_allclose(got["std.error"], want.bse, rtol=1e-8)
    np.testing.assert_allclose(got["df"], want.df, rtol=1e-6)
    np.testing.assert_allclose(got["p.value"], want.pvalues, rtol=1e-5)
    np.testing.assert_allclose(got[["conf.low", "conf.high"]], want.conf_int(), rtol=1e-7)


def test_it_runs_alone_and_prints(release_of, small, tmp_path):
    folder = release_of(small, 3).save(tmp_path / "r", format="csv")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-I", "analyse.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "conf.high" in done.stdout


def test_codes_are_no_values_and_columns_may_have_any_name(release_of, tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"my 'odd' \"x\"": rng.normal(size=40), "größe": rng.normal(size=40)})
    frame.loc[:9, "größe"] = -8.0
    release = release_of(frame, 2, missing={"größe": {-8: "refused"}})
    monkeypatch.chdir(release.save(tmp_path / "r", format="csv"))
    program = runpy.run_path("analyse.py")
    first = program["read"](program["FILES"][0])
    assert first["größe"].isna().sum() == 10
    assert list(program["fit"](first).index) == ["Intercept", 'Q("my \'odd\' \\"x\\"")']


def test_without_numbers_a_share_is_the_example(release_of, tmp_path, monkeypatch):
    frame = pd.DataFrame({"sex": ["F", "M", "M", "M"] * 10, "job": ["it's", "none"] * 20})
    folder = release_of(frame, 2).save(tmp_path / "r", format="csv")
    monkeypatch.chdir(folder)
    program = runpy.run_path("analyse.py")
    got = program["combine"]([program["fit"](program["read"](file)) for file in program["FILES"]])
    assert got["estimate"].iloc[0] == pytest.approx(0.25)
    assert "indicator" in (folder / "analyse.sps").read_text()


def test_an_absent_level_stops_the_program(case, tmp_path, monkeypatch):
    release, _ = case
    if release.m == 1:
        pytest.skip("one copy cannot differ from another")
    monkeypatch.chdir(release.save(tmp_path / "r", format="csv"))
    program = runpy.run_path("analyse.py")
    fits = [program["fit"](program["read"](file)) for file in program["FILES"]]
    with pytest.raises(SystemExit, match="merge rare levels"):
        program["combine"]([fits[0].drop(index='Q("x")'), *fits[1:]])


def test_other_programs_hold_the_same_constants(case, tmp_path):
    release, _ = case
    folder = release.save(tmp_path / "r", format="csv")
    python = runpy.run_path(str(folder / "analyse.py"))
    stata, spss = ((folder / f"analyse.{end}").read_text() for end in ("do", "sps"))
    for name in ("WITHIN", "BETWEEN", "NESTED", "FLOOR"):
        found = re.search(rf"scalar {name.lower()}_? = (\S+)", stata)
        assert float(found.group(1)) == python[name]
    written = re.search(r"T = MAX\((\S+) \* ubar \+ (\S+) \* b \+ (\S+) \* w, (\S+) \* ubar", spss)
    assert [float(part) for part in written.groups()] == [
        python[name] for name in ("WITHIN", "BETWEEN", "NESTED", "FLOOR")
    ]
    assert f"local nests {' '.join(map(str, python['NEST']))}" in stata
    assert spss.count("!read copy=") == release.m
    for text in (stata, spss):
        assert "@@" not in text
        assert "not run this file" in " ".join(text.replace("*", " ").split()).replace("have ", "")


def test_no_program_where_no_rule_is_sure(parts_of, small, tmp_path):
    parts = parts_of(small, 2)
    tags = ReleaseTags(kind="complete", m=2, n_syn=len(small), n_org=None)
    folder = sdp.SyntheticRelease(**parts | {"tags": tags}).save(tmp_path / "r")
    assert not list(folder.glob("analyse.*"))
    text = " ".join((folder / "README.txt").read_text().split())
    assert "analyse.py" not in text
    assert "no ready-made program" in text
    assert "n_org is not published" in text


@pytest.mark.parametrize(
    ("file_format", "programs"),
    [
        ("csv", {"analyse.py", "analyse.R", "analyse.do", "analyse.sps"}),
        ("parquet", {"analyse.py", "analyse.R"}),
    ],
)
def test_programs_are_listed_with_checksums_beside_copies_that_they_read(
    release_of, small, tmp_path, file_format, programs
):
    folder = release_of(small, 2).save(tmp_path / "r", format=file_format)
    listed = {entry["name"] for entry in json.loads((folder / "release.json").read_text())["files"]}
    assert {name for name in listed if name.startswith("analyse")} == programs
    assert {path.name for path in folder.glob("analyse.*")} == programs
    for name in programs:
        for copy in ("synthetic_1", "synthetic_2"):
            assert copy in (folder / name).read_text()
    text = " ".join((folder / "README.txt").read_text().split())
    assert ("Programs for Stata and SPSS come with" in text) == (file_format == "parquet")


STATA = {
    "_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n", "_N", "_pi",
    "_pred", "_rc", "_skip", "str5", "str2045", "strL", "using", "with",
}  # fmt: skip


def test_a_program_for_stata_uses_no_word_of_stata_as_a_name(release_of, tmp_path):
    names = [*sorted(STATA), "in_", "y", "ALL", "with space"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=60).round(2) for name in names})
    folder = release_of(frame, 2).save(tmp_path / "r", format="csv")
    text = (folder / "analyse.do").read_text()
    used = re.search(r'import delimited (.*) using "`name', text)[1].split()
    assert not STATA & set(used)
    assert len(set(used)) == len(used) == len(names) + 1
    assert used[-1] == "_synthetic"
    assert all(re.fullmatch(r"[A-Za-z]\w{0,30}", name) for name in used[:-1])
    said = " ".join(text.replace("\n*", " ").split())
    assert "Names of columns that cannot be used here are written otherwise:" in said
    assert "if as if_" in said
    spss = (folder / "analyse.sps").read_text()
    assert "    ALL_ F20.0" in spss
    assert "    with_ F20.0" in spss
    assert "    synthetic_ F20.0" in spss


def test_codes_are_read_as_numbers_and_text_as_text_by_every_program(release_of, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "post": rng.choice(["01", "02", "NA"], 90),
            "edu": rng.choice([1, 2, 3], 90),
            "age": rng.normal(size=90),
        }
    )
    folder = release_of(frame, 2).save(tmp_path / "r", format="csv")
    monkeypatch.chdir(folder)
    program = runpy.run_path("analyse.py")
    assert set(program["read"]("synthetic_1.csv")["post"]) == {"01", "02", "NA"}
    spss = (folder / "analyse.sps").read_text()
    assert "    post A200\n    edu F20.0\n    age F20.0" in spss
    assert "SET DECIMAL=DOT." in spss
    assert " stringcols(1) " in (folder / "analyse.do").read_text()
    assert 'colClasses = c("post" = "character"' in (folder / "analyse.R").read_text()


def test_a_share_of_a_coded_level_is_of_a_number(release_of, tmp_path):
    frame = pd.DataFrame({"vote": [0, 1] * 40, "edu": [1, 2, 3, 4] * 20})
    folder = release_of(frame, 2).save(tmp_path / "r", format="csv")
    assert "COMPUTE indicator = (vote = 0)." in (folder / "analyse.sps").read_text()
    assert "generate double indicator = (vote == 0) if" in (folder / "analyse.do").read_text()


@pytest.mark.parametrize(
    ("columns", "order", "model"),
    [
        (["popul", "age", "income", "logpopul"], (), ("income", ("popul", "age"))),
        (["age", "age2", "wage", "rent", "log_wage"], (), ("rent", ("age", "wage"))),
        (["income", "age", "size", "rooms", "rent"], ("rent", "age", "size", "rooms", "income"),
         ("income", ("rent", "age", "size"))),
        (["x", "log_x"], (), ("log_x", ())),
        (["age", "wage"], (), ("wage", ("age",))),
    ],
)  # fmt: skip
def test_the_example_explains_what_is_drawn_last_and_no_function_of_it(columns, order, model):
    schema = sdp.Schema([sdp.NumericColumn(name) for name in columns])
    example = example_of(schema, (), order)
    assert (example.outcome, example.predictors) == model


def test_what_marks_the_copies_is_claimed_only_where_it_is(release_of, small, tmp_path):
    release = release_of(small, 2)

    def said(name, **asked):
        return " ".join((release.save(tmp_path / name, **asked) / "README.txt").read_text().split())

    for number, one in enumerate(("csv", "parquet")):
        assert "Do not remove the column _synthetic" in said(f"m{number}", format=one)
    csv = said("c", format="csv", watermark=False)
    parquet = said("p", watermark=False)
    assert "within them nothing says that the data are synthetic" in csv
    assert "marks" not in csv
    assert "the files' metadata" in parquet
    marks = pq.read_schema(tmp_path / "p" / "synthetic_1.parquet").metadata[b"pysynthdp"]
    assert json.loads(marks)["synthetic"] is True


def test_codes_of_all_columns_are_no_values_in_any_program(release_of, tmp_path, monkeypatch):
    """Users change the model, so codes of texts, of dates and of columns without a part in it go too."""
    rng = np.random.default_rng(2)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 40, 300), unit="D")
    frame = pd.DataFrame({"vote": rng.choice(["a", "b", "it's no"], 300), "day": day})
    release = release_of(frame, 3, missing={"vote": ["it's no"], "day": {18262: "unknown"}})
    folder = release.save(tmp_path / "r", format="csv")
    monkeypatch.chdir(folder)
    got = runpy.run_path("analyse.py")
    copy = got["read"]("synthetic_1.csv")
    assert set(copy["vote"].dropna()) == {"a", "b"}
    assert (copy["day"].dropna() != "2020-01-01").all()
    pooled = got["combine"]([got["fit"](got["read"](file)) for file in got["FILES"]])
    want = release.apply(share_of("vote", "a"))
    assert pooled["estimate"].to_numpy() == pytest.approx(want.params.to_numpy())
    others = ("analyse.R", "analyse.do", "analyse.sps")
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in others}
    assert """copy[["vote"]][copy[["vote"]] %in% c("it's no")] <- NA""" in texts["analyse.R"]
    assert """quietly replace vote = "" if vote == `"it's no"\'""" in texts["analyse.do"]
    assert "IF (RTRIM(vote) = 'it''s no') vote = ''." in texts["analyse.sps"]
    assert all("2020-01-01" in text for text in texts.values())
