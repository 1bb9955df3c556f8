"""What haven writes and the example files of R's packages are read here as haven reads them."""

from __future__ import annotations

import json
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.design.tagged import letters_of

pytestmark = [pytest.mark.r_packages("haven", "jsonlite"), pytest.mark.filterwarnings("ignore")]
_WRITE = """
suppressMessages(library(haven))
set.seed(4); n <- 300; pick <- function(x) sample(x, n, TRUE)
x <- data.frame(id = as.integer(1:n))
x$income <- labelled_spss(pick(c(100.5, 200, -8, -9, 98, NA)), c("not asked" = -8, unknown = 98),
  na_values = -8, na_range = c(97, 99), label = "Income per month")
x$sex <- labelled_spss(as.integer(pick(c(1, 2, 9))), c(Man = 1L, Woman = 2L, Other = 3L, Refused = 9L),
  na_values = 9L)
x$town <- labelled(pick(c("a", "b")), c(Aachen = "a", Bonn = "b", Celle = "c"), label = "Town")
x$day <- as.Date("1960-02-29") + pick(0:9000)
x$time <- as.POSIXct("2020-01-01 10:00:00", tz = "UTC") + pick(0:9000)
x$text <- pick(c("\u00e9t\u00e9", "y"))
write_sav(x, "w.sav"); write_sav(x, "w.zsav", compress = "zsav")
y <- x[c("id", "day", "time", "text")]
why <- c(refused = tagged_na("a"), "don't know" = tagged_na("b"))
y$income <- labelled(pick(c(1.5, 2, tagged_na("a", "b", "z"), NA)), why)
y$band <- labelled(pick(c(1, 2, tagged_na("a"))), c(low = 1, high = 2, top = 3, why[1]))
write_dta(y, "w.dta")
write_xpt(x[c("id", "day", "text")], "w.xpt", version = 8)
invisible(file.copy(Sys.glob(file.path(system.file("examples", package = "haven"), "iris.*")), "."))
invisible(file.copy(Sys.glob(file.path(system.file("files", package = "foreign"), "*.sav")), "."))
"""
_READ = """
suppressMessages(library(haven))
sav <- function(file) read_sav(file, user_na = TRUE)
own <- list(sav = sav, zsav = sav, dta = read_dta, sas7bdat = read_sas, xpt = read_xpt)
tags <- function(x) if (is.double(x)) na_tag(unclass(x))
one <- function(x) {
  labels <- attr(x, "labels")
  timed <- inherits(x, c("Date", "POSIXct"))
  list(label = attr(x, "label", exact = TRUE),
    texts = names(labels), codes = as.vector(labels), tagged = tags(labels),
    na_values = attr(x, "na_values"), na_range = attr(x, "na_range"),
    cells = if (timed) as.numeric(x) else as.vector(unclass(x)), tags = if (!timed) tags(x))
}
for (file in Sys.glob("*.*")) {
  read <- own[[tools::file_ext(file)]]
  if (!is.null(read)) {
    jsonlite::write_json(lapply(read(file), one), paste0(file, ".json"), digits = NA, null = "null",
      na = "null")
  }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, r_environment):
    place = tmp_path_factory.mktemp("files")
    for program in (_WRITE, _READ):
        command = ["Rscript", "--vanilla", "-e", program]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=place, env=r_environment
        )
        assert done.returncode == 0, done.stderr
    return place


FILES = [
    "w.sav",
    "w.zsav",
    "w.dta",
    "w.xpt",
    "iris.sav",
    "iris.dta",
    "iris.sas7bdat",
    "electric.sav",
    "testdata.sav",
]


def _read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        return sdp.read(path)


@pytest.mark.parametrize("name", FILES)
def test_cells_labels_and_missing_kinds_are_those_that_haven_reads(folder, name):
    table = _read(folder / name)
    oracle = json.loads((folder / f"{name}.json").read_text())
    assert list(oracle) == list(table.schema.names)
    for column, said in oracle.items():
        _same_labels(table.schema[column].labels, said)
        _same_cells(table, column, said)


def _same_labels(labels, said):
    assert labels.label == ((said["label"] or [""])[0] or "").strip()
    texts = said["texts"] or []
    tags = said["tagged"] or [None] * len(texts)
    pairs = zip(tags, texts, said["codes"] or [], strict=True)
    real = {f".{tag}" if tag else _short(code): text.strip() for tag, text, code in pairs}
    ours = {_short(code): text for code, text in labels.codes}
    ours |= {_short(kind.own): kind.label for kind in labels.kinds if kind.label and kind.own is not None}
    assert {code: text for code, text in ours.items() if not text.startswith("other code")} == real
    assert list(labels.missing_range or []) == [float(end) for end in said["na_range"] or []]
    assert {_short(code) for code in said["na_values"] or []} <= {_short(kind.own) for kind in labels.kinds}


def _short(code):
    return str(int(code)) if isinstance(code, int | float) and float(code).is_integer() else str(code)


def _same_cells(table, name, said):
    """Compare cell by cell, in the file's own codes."""
    cells, column = table.frame[name], table.schema[name]
    real = pd.Series(said["cells"], dtype=object)
    codes = column.labels.code_of() if column.labels else {}
    if isinstance(cells.dtype, pd.CategoricalDtype):
        ours = cells.astype(object).map(codes)
        ours[ours.isin([kind.tag for kind in column.labels.kinds if column.labels.source == "spss"])] = None
    elif cells.dtype.kind == "M":
        per = 86_400 if column.unit == "day" else 1
        ours = (cells - pd.Timestamp(0)).dt.total_seconds() / per
    elif cells.dtype.kind in "fi" or str(cells.dtype) == "Int64":
        ours = cells.astype(float).astype(object)
        kinds = {kind.tag: kind.code for kind in column.labels.kinds}
        letters = letters_of(cells.to_numpy(dtype=float, na_value=np.nan))
        for at in np.flatnonzero(letters):
            ours.iloc[at] = kinds[f".{chr(letters[at])}"]
    else:
        ours = cells.astype(object)
    tags = said["tags"] or [None] * len(real)
    for own, cell, tag, shown in zip(ours, real, tags, cells, strict=True):
        if tag is not None:
            assert (f".{tag}" in codes.values()) if isinstance(shown, str) else np.isnan(shown)
        elif cell in (None, ""):
            assert pd.isna(own)
        elif own is None:  # a code that few records have, in the range of missing ones
            assert column.labels.missing_range[0] <= cell <= column.labels.missing_range[1]
        else:
            assert _short(own) == _short(cell) or abs(float(own) - float(cell)) < 1e-6
    if column.tags and column.labels.source == "stata":
        found = [chr(letter) if letter else None for letter in letters_of(cells.to_numpy())]
        assert found == tags
