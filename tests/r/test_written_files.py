"""haven and foreign read the files of copies: labels, tags, declared missing codes, whole numbers, dates."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pysynthdp.design.tagged import letters_of, tagged
from pysynthdp.io.survey.writing import planned, write_files
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.schema.labels import Kind, Labels

N = 40


@pytest.fixture(scope="module")
def copy() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    income = rng.gamma(3, 900, N).round()
    income[:9] = np.concatenate([tagged([".a"] * 5), tagged([".b"] * 3), [np.nan]])
    grade = rng.integers(1, 6, N).astype(float)
    grade[:6] = tagged([".a", ".b", ".c"] * 2)
    smoke = rng.choice(["Yes", "No", "refused"], N)
    return pd.DataFrame({
        "income": income,
        "grade": grade,
        "smoke": pd.Categorical(smoke, ["Yes", "No", "Never", "refused"]),
        "age": rng.integers(18, 90, N),
        "kids": pd.array([*rng.integers(0, 5, N - 1), None], dtype="Int64"),
        "town": rng.choice(["Bergen", "Narvik"], N),
        "day": pd.to_datetime("1919-05-01") + pd.to_timedelta(rng.integers(0, 50_000, N), unit="D"),
        "score": rng.normal(size=N),
    })  # fmt: skip


@pytest.fixture(scope="module")
def files(copy, tmp_path_factory) -> Path:
    """A copy in three formats, as a table read from SPSS declares it."""
    folder = tmp_path_factory.mktemp("survey")
    income = Labels("Net income", {0: "none"}, (Kind(".a", -8, "refused"), Kind(".b", -9, "unknown")),
                    format="F8.0", source="spss")  # fmt: skip
    kinds = (Kind(".a", 98, "other"), Kind(".b", 99, "none"), Kind(".c", -8, "refused"))
    grade = Labels("Grade", kinds=kinds, missing_range=(98, 99), format="F2.0", source="spss")
    smoke = Labels(
        "Smokes?", {1: "Yes", 2: "No", 3: "Never"}, (Kind(".a", -8, "refused"),), measure="nominal"
    )
    schema = Schema([
        NumericColumn("income", decimals=0, missing={".a": "refused", ".b": "unknown"}, labels=income),
        NumericColumn("grade", decimals=0, missing={kind.tag: kind.label for kind in kinds}, labels=grade),
        CategoricalColumn("smoke", ["Yes", "No", "Never"], missing={"refused": "refused"}, labels=smoke),
        NumericColumn("day", unit="day", dtype="datetime64[us]"),
    ])  # fmt: skip
    plans = planned(copy, [copy], schema, ("sav", "dta", "xpt"), watermark=True)
    list(write_files(plans, copy, folder, "copy", number=1, title="Synthetic data, copy 1 of 1"))
    letters = {
        name: [chr(one) if one else None for one in letters_of(copy[name].to_numpy())]
        for name in ("income", "grade")
    }
    plain = {
        "letters": letters,
        "income": [None if np.isnan(one) else one for one in copy["income"]],
        "smoke": copy["smoke"].astype(str).tolist(),
        "age": copy["age"].tolist(),
        "kids": [None if pd.isna(one) else int(one) for one in copy["kids"]],
        "town": copy["town"].tolist(),
        "day": copy["day"].dt.strftime("%Y-%m-%d").tolist(),
        "score": copy["score"].tolist(),
    }
    (folder / "want.json").write_text(json.dumps(plain))
    return folder


PLAIN = """
want <- jsonlite::fromJSON("want.json")
bare <- function(x) { attributes(x) <- NULL; x }
same <- function(a, b) if (!identical(a, b)) { print(a); print(b); stop(deparse(sys.call())) }
numbers <- function(x) as.double(bare(x))
plain <- function(d, mark) {
  same(names(d), c("income", "grade", "smoke", "age", "kids", "town", "day", "score", mark))
  same(numbers(d$age), as.double(want$age))
  same(numbers(d$kids), as.double(want$kids))
  same(trimws(bare(d$town)), want$town)
  stopifnot(isTRUE(all.equal(numbers(d$score), want$score, tolerance = 1e-15)))
  same(unique(numbers(d[[mark]])), 1)
}
"""


def run(folder: Path, code: str) -> str:
    command = ["Rscript", "--vanilla", "-e", PLAIN + code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.r_packages("haven", "jsonlite")
def test_haven_reads_the_file_for_spss(files):
    run(files, """
d <- haven::read_sav("copy.sav", user_na = TRUE)
plain(d, "synthetic_")
same(attr(d, "label"), "Synthetic data, copy 1 of 1")
same(attr(d$income, "label"), "Net income")
same(attr(d$income, "na_values"), c(-8, -9))
same(attr(d$income, "na_range"), NULL)
same(attr(d$income, "labels"), c(none = 0, refused = -8, unknown = -9))
same(attr(d$income, "format.spss"), "F8.0")
codes <- c(a = -8, b = -9)[want$letters$income]
same(numbers(d$income), unname(ifelse(is.na(codes), want$income, codes)))
same(attr(d$grade, "na_range"), c(98, 99))
same(attr(d$grade, "na_values"), -8)
same(attr(d$grade, "labels"), c(other = 98, none = 99, refused = -8))
same(attr(d$grade, "format.spss"), "F2.0")
same(is.na(d$grade), !is.na(want$letters$grade))
same(attr(d$smoke, "labels"), c(Yes = 1, No = 2, Never = 3, refused = -8))
same(as.character(haven::as_factor(d$smoke)), want$smoke)
same(attr(d$smoke, "na_values"), -8)
same(class(d$day), "Date")
same(format(d$day), want$day)
same(attr(d$synthetic_, "label"), "Synthetic data: number of the copy")
""")  # fmt: skip


@pytest.mark.r_packages("haven", "jsonlite")
def test_haven_reads_the_file_for_stata(files):
    run(files, """
d <- haven::read_dta("copy.dta")
plain(d, "_synthetic")
same(attr(d$income, "label"), "Net income")
same(haven::na_tag(d$income), want$letters$income)
same(haven::na_tag(d$grade), want$letters$grade)
same(numbers(d$income)[!is.na(d$income)], as.double(want$income)[!is.na(want$income)])
labels <- attr(d$income, "labels")
same(names(labels), c("none", "refused", "unknown"))
same(haven::na_tag(bare(labels)), c(NA, "a", "b"))
labels <- attr(d$smoke, "labels")
same(names(labels), c("Yes", "No", "Never", "refused"))
same(bare(labels)[1:3], c(1, 2, 3))
same(haven::na_tag(bare(labels)), c(NA, NA, NA, "a"))
same(as.character(haven::as_factor(d$smoke)), want$smoke)
same(format(d$day), want$day)
""")  # fmt: skip


@pytest.mark.r_packages("haven", "jsonlite")
def test_haven_reads_the_file_for_sas(files):
    run(files, """
d <- haven::read_xpt("copy.xpt")
plain(d, "_synthetic")
same(attr(d$income, "label"), "Net income")
same(haven::na_tag(d$income), want$letters$income)
same(haven::na_tag(d$grade), want$letters$grade)
same(c("Yes", "No", "Never")[numbers(d$smoke)], ifelse(want$smoke == "refused", NA, want$smoke))
same(haven::na_tag(d$smoke), ifelse(want$smoke == "refused", "a", NA))
same(format(d$day), want$day)
""")  # fmt: skip


@pytest.mark.r_packages("foreign", "jsonlite")
def test_foreign_reads_the_files_for_spss_and_stata(files):
    run(files, """
d <- suppressWarnings(foreign::read.spss("copy.sav", use.value.labels = FALSE, use.missings = FALSE))
plain(d, "synthetic_")
same(attr(d$income, "value.labels")[c("none", "refused", "unknown")], c(none = 0, refused = -8, unknown = -9))
same(attr(d, "missings")$income, list(type = "two", value = c(-8, -9)))
same(attr(d, "missings")$grade, list(type = "range+1", value = c(98, 99, -8)))
same(unname(attr(d, "variable.labels")["income"]), "Net income")
d <- foreign::read.dta("copy.dta", convert.factors = FALSE, missing.type = TRUE)
plain(d, "_synthetic")
kinds <- attr(d, "missing")$income
letters <- want$letters$income
same(as.integer(kinds[!is.na(kinds) & kinds > 0]), match(letters, c("a", "b"))[!is.na(letters)])
tables <- attr(d, "label.table")
same(bare(tables[[attr(d, "val.labels")[3]]])[1:3], 1:3)
same(attr(d, "var.labels")[1], "Net income")
same(format(d$day), want$day)
""")  # fmt: skip
