"""What users of survey files were promised, in their own words, by public names alone.

The tables are made here and have the structure of real ones. haven makes and reads the files of programs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))
N = 1500
BOOK = """name,label,kind,codes,levels,kinds
sex,Sex,categorical,1 = MALE | 2 = FEMALE | 3 = OTHER,MALE | FEMALE | OTHER,
income,Net income,numeric,,,.a = -8 = not asked | .b = -9 = refused
age,Age in years,numeric,,,
"""


def quality_of_life(n: int = N) -> pd.DataFrame:
    """A table as SD2011 is: codes -8 beside missing values, a skip, a derived column, married children."""
    rng = np.random.default_rng(11)
    age = rng.integers(16, 91, n)
    smoke = rng.choice(["YES", "NO"], n, p=[0.26, 0.74])
    marital = np.where((age >= 20) & (rng.random(n) < 0.6), "MARRIED", "SINGLE")
    marital[np.flatnonzero(age < 18)[:5]] = "MARRIED"
    income = (np.exp(rng.normal(7.2, 0.5, n)) / 50).round() * 50
    why = rng.random(n)
    income[why < 0.12], income[why > 0.86] = -8, np.nan
    height, weight = rng.normal(169, 9, n).round(), rng.normal(72, 13, n).round()
    height[rng.random(n) < 0.02], weight[rng.random(n) < 0.03] = np.nan, np.nan
    edu = pd.Categorical(rng.choice(["LOW", "HIGH"], n), ["LOW", "MIDDLE", "HIGH"], ordered=True)
    return pd.DataFrame({
        "sex": rng.choice(["MALE", "FEMALE"], n),
        "age": age,
        "edu": edu,
        "marital": marital,
        "income": income,
        "smoke": smoke,
        "nociga": np.where(smoke == "YES", rng.poisson(14, n) + 1, -8),
        "job": pd.Series(rng.choice(["1", "2", "4"], n), dtype=object).where(age < 65, None),
        "works": pd.array(rng.random(n) < 0.5, dtype="boolean"),
        "born": pd.Timestamp("2011-03-01") - pd.to_timedelta(age * 365, unit="D"),
        "height": height,
        "weight": weight,
        "bmi": weight / (height / 100) ** 2,
    })  # fmt: skip


def persons(n: int = N) -> pd.DataFrame:
    """A table as eusilc is: pl030 is missing exactly below the age of 16."""
    rng = np.random.default_rng(12)
    age = rng.integers(0, 95, n)
    pl030 = rng.choice(list("1234567"), n).astype(object)
    pl030[age < 16] = None
    wage = np.where((age >= 16) & (rng.random(n) < 0.5), rng.gamma(2, 9000, n).round(2), 0.0)
    return pd.DataFrame(
        {"age": age, "rb090": rng.choice(["male", "female"], n), "pl030": pl030, "py010n": wage}
    )


SETTINGS = {
    "missing": {"income": {-8: "not asked"}},
    "universe": {"nociga": ("smoke == 'YES'", -8)},
    "derive": {"bmi": "weight / (height / 100) ** 2"},
    "rules": ["not (marital == 'MARRIED' and age < 18)"],
    "progress": False,
}


@pytest.fixture(scope="module")
def release() -> sdp.SyntheticRelease:
    """Five copies of the table, with all that was declared of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        return sdp.Synthesizer(**SETTINGS).fit(quality_of_life()).draw(m=5, rng=1)


def haven(folder: Path, code: str) -> str:
    """Run R with haven in a folder; without it a test is skipped, or fails where all must run."""
    ready = shutil.which("Rscript") and not subprocess.run(
        ["Rscript", "--vanilla", "-e", "stopifnot(requireNamespace('haven'), requireNamespace('jsonlite'))"],
        capture_output=True,
        check=False,
    ).returncode  # fmt: skip
    _need(ready, "R with haven and jsonlite")
    _need(find_spec("pyreadstat") is not None, "pyreadstat")
    command = ["Rscript", "--vanilla", "-e", f"suppressMessages(library(haven))\n{code}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _need(there: object, what: str) -> None:
    if not there and MUST_RUN:
        pytest.fail(f"{what} is not installed, and these tests must run here")
    if not there:
        pytest.skip(f"{what} is not installed")


WRITE = """
set.seed(4); n <- 1200; pick <- function(x) as.double(sample(x, n, TRUE))
income <- pick(seq(500, 4000, 50)); kind <- sample(0:3, n, TRUE, c(.7, .15, .1, .05))
levels <- c(Low = 1, Middle = 2, High = 3)
stata <- data.frame(age = as.integer(pick(16:90)))
tagged <- income
for (k in 1:3) tagged[kind == k] <- c(tagged_na("a", "b"), NA)[k]
why <- c(refused = tagged_na("a"), "don't know" = tagged_na("b"))
stata$income <- labelled(tagged, why, label = "Net income")
stata$edu <- labelled(pick(c(1, 3)), levels, label = "Education")
write_dta(stata, "wave.dta")
spss <- data.frame(age = stata$age)
declared <- function(x, type) labelled_spss(type(x),
  c("not asked" = type(-8), refused = type(-9), other = type(98)),
  na_values = type(-8), na_range = type(c(98, 99)))
coded <- income
for (k in 1:3) coded[kind == k] <- c(-8, 98, 99)[k]
spss$income <- declared(coded, as.double)
spss$hours <- declared(pick(c(1:60, rep(c(-8, 98, 99), 8))), as.integer)
score <- as.integer(pick(c(0:9, -8, -9)))
spss$score <- labelled_spss(score, c(refused = -9L), na_values = c(-8L, -9L))
why <- c("not asked" = -8, refused = -9)
spss$edu <- labelled_spss(pick(c(1, 3, -8, -9)), c(levels, why), na_values = c(-8, -9))
write_sav(spss, "wave.sav")
"""
SHOWN = """
one <- function(x) list(values = attr(x, "na_values"), range = attr(x, "na_range"),
  texts = names(attr(x, "labels")), codes = as.vector(attr(x, "labels")),
  label_tags = if (is.double(attr(x, "labels"))) na_tag(attr(x, "labels")),
  tags = if (is.double(x)) na_tag(unclass(x)), bare = as.vector(unclass(x)))
shown <- function(file, read) jsonlite::write_json(lapply(read(file), one),
  paste0(basename(dirname(file)), basename(file), ".json"), na = "null", null = "null", digits = NA)
"""


@pytest.fixture(scope="module")
def waves(tmp_path_factory) -> dict[str, dict]:
    """What haven reads of two files that it wrote itself, and of the first copies of them."""
    folder = tmp_path_factory.mktemp("waves")
    haven(folder, WRITE)
    for ending in ("dta", "sav"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PysynthdpWarning)
            copies = sdp.synthesize(folder / f"wave.{ending}", m=1, rng=1)
            copies.save(folder / ending, formats=("csv", "sav", "dta"))
    files = "c('./wave.sav', 'sav/synthetic_1.sav', 'dta/synthetic_1.sav')"
    stata = "c('./wave.dta', 'sav/synthetic_1.dta', 'dta/synthetic_1.dta')"
    haven(
        folder,
        f"{SHOWN}for (f in {files}) shown(f, function(x) read_sav(x, user_na = TRUE))\n"
        f"for (f in {stata}) shown(f, read_dta)",
    )
    return {path.name[:-5]: json.loads(path.read_text()) for path in folder.glob("*.json")}


FACTS = [
    *("name", "dtype", "missing", "may_be_missing", "labels", "form"),
    *("levels", "ordered", "other", "lower", "upper", "decimals", "unit", "spikes", "step", "offset"),
]


def _facts(column: sdp.NumericColumn | sdp.CategoricalColumn) -> list:
    """What a codebook may say of a column; how its copies came about stands in the plan."""
    universe = getattr(column, "universe", None)
    return [
        type(column),
        universe and (universe.where, universe.outside),
        *(getattr(column, name, None) for name in FACTS),
    ]


def test_statement_4(release, tmp_path):
    """Given m=5 copies, when one is written to CSV and read again with the codebook, then frame and metadata
    are equal to the object."""
    folder = release.save(tmp_path / "out", formats="csv")
    for number, copy in enumerate(release, start=1):
        back = sdp.read(folder / f"synthetic_{number}.csv", folder / "codebook.csv")
        pd.testing.assert_frame_equal(back.frame, copy)
        assert [_facts(column) for column in back.schema] == [_facts(column) for column in release.schema]
        assert sdp.structure_diff(release, back).empty


def test_statement_5(release, tmp_path):
    """Given any copy, when inspected, then a constant watermark column and a metadata field say that it is
    synthetic, unless switched off, which the manifest records."""
    formats = ("parquet", "csv", *(("sav", "dta", "xpt") if find_spec("pyreadstat") else ()))
    folder = release.save(tmp_path / "with", formats=formats)
    manifest = json.loads((folder / "release.json").read_text())
    assert manifest["watermark"] == "_synthetic"
    for number in range(1, 6):
        kept = pd.read_parquet(folder / f"synthetic_{number}.parquet")
        written = pd.read_csv(folder / f"synthetic_{number}.csv")
        for frame in (kept, written):
            assert frame.columns[-1] == "_synthetic"
            assert set(frame["_synthetic"]) == {number}
        assert kept.attrs["pysynthdp"]["synthetic"] is True
    assert all(copy.attrs["pysynthdp"]["synthetic"] is True for copy in release)
    if find_spec("pyreadstat"):
        from pyreadstat import read_dta, read_sav, read_xport

        for ending, read in (("sav", read_sav), ("dta", read_dta), ("xpt", read_xport)):
            frame, meta = read(folder / f"synthetic_3.{ending}")
            assert frame.columns[-1] == ("synthetic_" if ending == "sav" else "_synthetic")
            assert set(frame[frame.columns[-1]]) == {3}
            assert "Synthetic data" in meta.column_labels[-1]
    plain = release.save(tmp_path / "without", formats="csv", watermark=False)
    assert json.loads((plain / "release.json").read_text())["watermark"] is None
    assert "_synthetic" not in pd.read_csv(plain / "synthetic_1.csv")


def test_statement_6(waves):
    """Given a .dta with .a refused and .b don't know on income, when synthesised and written to .dta, then
    haven reads both tags with labels, and their shares are within sampling error of the original's."""
    before, after = waves[".wave.dta"], waves["dtasynthetic_1.dta"]
    assert after["income"]["texts"] == ["refused", "don't know"]
    assert after["income"]["label_tags"] == ["a", "b"]
    for tag in ("a", "b"):
        share, other = (np.mean([one == tag for one in table["income"]["tags"]]) for table in (before, after))
        assert abs(share - other) < 4 * np.sqrt(2 * share * (1 - share) / 1200)


def test_statement_7(waves):
    """Given a .sav with user-missing -8, -9 and range 98-99, when written back, then read_sav(user_na=TRUE)
    shows the same declarations, also for integer columns."""
    before, after = waves[".wave.sav"], waves["savsynthetic_1.sav"]
    assert before["hours"]["range"] == [98, 99]
    assert before["score"]["values"] == [-8, -9]
    for name in before:
        for what in ("values", "range"):
            assert after[name][what] == before[name][what], (name, what)
        labels = [
            dict(zip(table[name]["texts"] or [], table[name]["codes"] or [], strict=True))
            for table in (before, after)
        ]
        assert labels[0] == labels[1], name


def test_statement_8(release):
    """Given SD2011 income with -8 and NA, when synthesised with missing={-8}, then no synthetic value lies in
    (-8, 0), both kinds occur, and non-missing values are >= 0."""
    for copy in release:
        income = copy["income"]
        assert not ((income > -8) & (income < 0)).any()
        assert (income == -8).any()
        assert income.isna().any()
        assert (income[income.notna() & (income != -8)] >= 0).all()


def test_statement_9():
    """Given eusilc, when `universe pl030: age >= 16` is declared, then in every copy pl030 is missing exactly
    when age < 16."""
    for copy in sdp.synthesize(persons(), m=5, rng=1, universe={"pl030": "age >= 16"}):
        assert (copy["pl030"].isna() == (copy["age"] < 16)).all()


def test_statement_11(release):
    """Given bmi derived from height and weight, then |bmi - weight/(height/100)^2| < 1e-9 wherever both are
    present."""
    for copy in release:
        both = copy["height"].notna() & copy["weight"].notna()
        off = (copy["bmi"] - copy["weight"] / (copy["height"] / 100) ** 2)[both]
        assert off.notna().all()
        assert off.abs().max() < 1e-9
        assert copy["bmi"][~both].isna().all()


@pytest.mark.parametrize("source", ["sav", "dta"])
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_statement_12(waves, source, ending):
    """Given a factor with an unused level, when written to .dta and .sav, then the level's label is in the
    file."""
    edu = waves[f"{source}synthetic_1.{ending}"]["edu"]
    labels = dict(zip(edu["texts"], edu["codes"], strict=True))
    assert labels["Middle"] == 2
    assert 2 not in edu["bare"]


def survey(folder: Path, book: str = BOOK) -> sdp.SurveyTable:
    """A labelled table from a CSV file and its codebook."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"sex": rng.integers(1, 3, 400), "income": rng.choice([-8, 600, 700, 800, 900.5], 400)}
    )
    frame["age"] = rng.integers(16, 90, 400)
    frame.to_csv(folder / "t.csv", index=False)
    (folder / "book.csv").write_text(book)
    return sdp.read(folder / "t.csv", folder / "book.csv")


def test_statement_13(tmp_path):
    """Given structure_diff(original, copy), then it is empty for a default synthesis and lists each
    difference after one is made on purpose (type, label, order, missing kind, name)."""
    original = survey(tmp_path)
    assert sdp.structure_diff(original, sdp.synthesize(original, m=1, rng=1)).empty
    for book, what in (
        (BOOK.replace("Age in years", "Age"), [("age", "label")]),
        (BOOK.replace("3 = OTHER", "4 = OTHER"), [("sex", "value labels")]),
        (BOOK.replace(".b = -9 = refused", ".b = -7 = refused"), [("income", "missing kinds")]),
    ):
        other = survey(tmp_path, book)
        assert [(one.column, one.what) for one in sdp.structure_diff(original, other)] == what
    frame = original.frame
    for other, what in (
        (frame.astype({"age": "float64"}), [("age", "type")]),
        (frame[["age", "sex", "income"]], [("", "order")]),
        (frame.rename(columns={"age": "years"}), [("age", "column"), ("years", "column")]),
        (frame.assign(sex=frame["sex"].cat.remove_unused_categories()), [("sex", "levels")]),
    ):
        assert [(one.column, one.what) for one in sdp.structure_diff(frame, other)] == what


def test_statement_14(release):
    """Given rules of which one is broken by 5 original rows, when check is called, then the count is shown as
    "<10" and the synthetic copies break it 0 times."""
    found = dict(sdp.Synthesizer(**SETTINGS).check_rules(quality_of_life()).rules)
    assert found["not (marital == 'MARRIED' and age < 18)"] == "<10"
    assert release.check_rules().broken == 0
    assert not any(((copy["marital"] == "MARRIED") & (copy["age"] < 18)).any() for copy in release)
