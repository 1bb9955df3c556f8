"""A table that haven read and R synthesised is written as haven would write the table itself."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.r_packages("haven")
_COMPARE = """
suppressMessages(library(haven))
set.seed(4)
n <- 300
pick <- function(x) sample(x, n, TRUE)
of_haven <- function(x, write, read, ending) {
  path <- tempfile(fileext = ending)
  write(x, path)
  read(path)
}
of_copy <- function(x, read, ending) {
  folder <- tempfile()
  write_release(synthesise(x, m = 1, seed = 1), folder, formats = substring(ending, 2))
  read(Sys.glob(file.path(folder, paste0("*", ending))))
}
same <- function(x, y) {
  stopifnot(identical(names(x), setdiff(names(y), c("_synthetic", "synthetic_"))))
  for (name in names(x)) {
    if (!identical(attributes(x[[name]]), attributes(y[[name]]))) {
      print(attributes(x[[name]]))
      print(attributes(y[[name]]))
      stop(name)
    }
  }
}
"""
_SPSS = """
pay <- pick(c(100.5, 200:220, -8, -8, 98, 98, NA))
x <- data.frame(pay = labelled_spss(pay, c("not asked" = -8, unknown = 98), na_values = -8,
  na_range = c(97, 99), label = "Pay per month"))
x$sex <- labelled_spss(as.integer(pick(c(1, 2, 9))), c(Man = 1L, Woman = 2L, Other = 3L, Refused = 9L),
  na_values = 9L)
x$open <- labelled_spss(pick(c(1, 2, 97)), c(Low = 1, High = 2, None = 97), na_range = c(97, Inf))
x$part <- labelled(pick(c(0:40)), c(none = 0, many = 99), label = "Some of its codes have labels")
x$town <- labelled(pick(c("a", "b")), c(Aachen = "a", Bonn = "b", Celle = "c"), label = "Town")
x$code <- labelled_spss(pick(c("a", "b", "z")), c(A = "a", B = "b", Z = "z"), na_values = "z")
x$day <- structure(as.Date("1960-02-29") + pick(0:9000), label = "Day", format.spss = "DATE11")
x$grade <- structure(factor(pick(c("u", "v")), c("u", "v", "w")), label = "A factor")
x <- of_haven(x, write_sav, function(path) read_sav(path, user_na = TRUE), ".sav")
y <- of_copy(x, function(path) read_sav(path, user_na = TRUE), ".sav")
same(x, y)
stopifnot(setequal(unique(unclass(y$sex)), c(1, 2, 9)), any(unclass(y$pay) == -8, na.rm = TRUE))
stopifnot(mean(is.na(unclass(y$pay))) < .1, any(is.na(unclass(y$pay))))
"""
_STATA = """
why <- c(refused = tagged_na("a"), "don't know" = tagged_na("b"), unused = tagged_na("c"))
x <- data.frame(pay = labelled(pick(c(1.5, 2:50, tagged_na("a", "b"), NA)), why, label = "Pay"))
x$band <- labelled(pick(c(1, 2, tagged_na("a"))), c(low = 1, high = 2, top = 3, why[1]), label = "Band")
x$kids <- labelled(pick(0:30), c(none = 0L))
x$day <- structure(as.Date("1960-02-29") + pick(0:9000), label = "Day", format.stata = "%td")
x$name <- structure(pick(c("x", "y")), label = "Name", format.stata = "%9s")
x <- of_haven(x, write_dta, read_dta, ".dta")
y <- of_copy(x, read_dta, ".dta")
same(x, y)
stopifnot(setequal(na_tag(y$pay), c(NA, "a", "b")), setequal(na_tag(y$band), c(NA, "a")))
"""
_SAS = """
x <- data.frame(pay = labelled(pick(c(2:50, tagged_na("a", "b"))), c(refused = tagged_na("a"),
  unknown = tagged_na("b")), label = "Pay"))
x$town <- structure(pick(c("a", "b")), label = "Town")
y <- of_copy(x, read_xpt, ".xpt")
stopifnot(identical(attr(y$pay, "label"), "Pay"), identical(attr(y$town, "label"), "Town"))
stopifnot(setequal(na_tag(y$pay), c(NA, "a", "b")), identical(sum(is.na(y$pay)), sum(!is.na(na_tag(y$pay)))))
"""


@pytest.mark.parametrize("program", [_SPSS, _STATA], ids=["spss", "stata"])
def test_haven_reads_the_attributes_of_the_table_from_the_copies(run_r, program):
    run_r(_COMPARE + program)


def test_files_for_sas_have_labels_and_tags(run_r):
    run_r(_COMPARE + _SAS)
