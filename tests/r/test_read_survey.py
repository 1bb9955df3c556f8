"""Files with labels that are read for R, and releases of them that R reads, are as haven reads such files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import pysynthdp as sdp

pytestmark = pytest.mark.r_packages("haven")
_BEGIN = """
suppressMessages(library(haven))
set.seed(4)
n <- 300
pick <- function(x) sample(x, n, TRUE)
same <- function(x, y, skip = character()) {
  stopifnot(identical(names(x), names(y)))
  for (name in setdiff(names(x), skip)) {
    if (!identical(x[[name]], y[[name]])) {
      str(attributes(x[[name]]))
      str(attributes(y[[name]]))
      stop(name)
    }
  }
}
attributes_alike <- function(x, y) for (name in names(x)) {
  one <- attributes(x[[name]])
  other <- attributes(y[[name]])
  if (!identical(one[order(names(one))], other[order(names(other))])) stop(name)
}
"""
_SPSS = """
pay <- pick(c(100.5, 200:220, -8, -8, 98, 98, NA))
x <- data.frame(pay = labelled_spss(pay, c("not asked" = -8, unknown = 98), na_values = -8,
  na_range = c(97, 99), label = "Pay per month"))
x$sex <- labelled_spss(pick(c(1, 2, 9)), c(Man = 1, Woman = 2, Other = 3, Refused = 9), na_values = 9)
x$part <- labelled(as.double(pick(0:40)), c(none = 0, many = 99), label = "Some of its codes have labels")
x$town <- labelled(pick(c("a", "b")), c(Aachen = "a", Bonn = "b", Celle = "c"), label = "Town")
x$day <- structure(as.Date("1960-02-29") + pick(0:9000), label = "Day")
x$name <- structure(pick(c("x", "y")), label = "Name")
path <- tempfile(fileext = ".sav")
write_sav(x, path)
x <- as.data.frame(read_sav(path, user_na = TRUE))
y <- read_survey(path)
same(x, y)
attributes_alike(x, syn(path, m = 1, seed = 1, method = "parametric")$syn)
attributes_alike(x, synthesise(path, m = 2, seed = 1)[[2]])
folder <- tempfile()
write_release(synthesise(x, m = 1, seed = 1), folder)
attributes_alike(x, read_release(folder, factors = FALSE)[[1]])
"""
_STATA = """
why <- c(refused = tagged_na("a"), "don't know" = tagged_na("b"))
x <- data.frame(pay = labelled(pick(c(1.5, 2:50, tagged_na("a", "b"), NA)), c(low = 2, why), label = "Pay"))
x$band <- labelled(pick(c(1, 2, tagged_na("a"))), c(low = 1, high = 2, top = 3, why[1]), label = "Band")
x$day <- structure(as.Date("1960-02-29") + pick(0:9000), label = "Day")
path <- tempfile(fileext = ".dta")
write_dta(x, path)
x <- as.data.frame(read_dta(path))
y <- read_survey(path)
same(x, y)
stopifnot(identical(na_tag(x$pay), na_tag(y$pay)), identical(na_tag(x$band), na_tag(y$band)))
s <- synthesise(path, m = 1, seed = 1)
stopifnot(setequal(na_tag(s[[1]]$pay), c(NA, "a", "b")), setequal(na_tag(s[[1]]$band), c(NA, "a")))
"""
_REFUSED = """
said <- tryCatch(syn("survey.csv"), error = conditionMessage)
stopifnot(grepl("read_survey(\\"survey.csv\\")", said, fixed = TRUE))
stopifnot(grepl("synthesise()", said, fixed = TRUE))
said <- tryCatch(read_survey("nowhere.sav"), error = conditionMessage)
stopifnot(grepl("nowhere.sav", said, fixed = TRUE))
"""


@pytest.mark.parametrize("program", [_SPSS, _STATA, _REFUSED], ids=["spss", "stata", "refused"])
def test_what_is_read_is_what_haven_reads(run_r, program):
    run_r(_BEGIN + program)


def test_copies_of_python_are_codes_or_factors(run_r, tmp_path):
    rng, n = np.random.default_rng(1), 300
    frame = pd.DataFrame(
        {"sex": rng.choice([1.0, 2.0, 9.0], n), "pay": rng.choice([-8.0, -8.0, *range(12)], n)}
    )
    frame["day"] = np.datetime64("1960-02-29") + rng.integers(0, 9_000, n).astype("timedelta64[D]")
    pyreadstat.write_sav(
        frame,
        tmp_path / "survey.sav",
        column_labels={"day": "Day"},
        variable_value_labels={"sex": {1.0: "Man", 2.0: "Woman", 3.0: "Other", 9.0: "Refused"}},
        missing_ranges={"sex": [9.0], "pay": [{"lo": -9.0, "hi": -8.0}]},
    )
    table = sdp.read(tmp_path / "survey.sav")
    sdp.synthesize(table, m=1, rng=1, progress=False).save(tmp_path / "out")
    run_r(
        f"""
        folder <- "{(tmp_path / "out").as_posix()}"
        said <- NULL
        s <- withCallingHandlers(read_release(folder), warning = function(w) {{
          said <<- conditionMessage(w)
          invokeRestart("muffleWarning")
        }})
        stopifnot(grepl("sex: codes with labels", said), grepl("factors = TRUE", said))
        x <- s[[1]]
        stopifnot(inherits(x$sex, "haven_labelled_spss"), attr(x$sex, "na_values") == 9)
        stopifnot(any(unclass(x$pay) == -8, na.rm = TRUE), identical(attr(x$pay, "na_range"), c(-9, -8)))
        stopifnot(inherits(x$day, "Date"), identical(attr(x$day, "label"), "Day"))
        f <- read_release(folder, factors = TRUE)[[1]]
        stopifnot(identical(levels(f$sex), c("Man", "Woman", "Other", "Refused")))
        stopifnot(identical(as.vector(haven::as_factor(x$sex)), as.vector(f$sex)))
        again <- tempfile()
        write_release(s, again, formats = "sav")
        y <- haven::read_sav(Sys.glob(file.path(again, "*.sav")), user_na = TRUE)
        stopifnot(identical(as.vector(unclass(x$sex)), as.vector(unclass(y$sex))))
        """
    )
