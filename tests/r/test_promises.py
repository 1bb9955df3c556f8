"""What R users were promised, each as one test that they could run themselves."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pysynthdp.bridge import rpy2 as r_inside

ROOT = Path(__file__).parents[2]

_EVERY_KIND = """
d <- data.frame(integer = c(1L, NA, 3L), logical = c(TRUE, NA, FALSE), text = c("a", NA, ""),
  double = c(1.5, NA, NaN), date = as.Date(c("2020-02-29", NA, "1900-01-01")),
  factor = factor(c("u", NA, "v"), c("v", "u", "unused")))
d$labelled <- haven::labelled(c(1, 2, NA), c(yes = 1, no = 2), label = "Question")
d$spss <- haven::labelled_spss(c(1, -8, NA), c(refused = -8), na_values = -8)
d$tagged <- haven::labelled(c(1, haven::tagged_na("a"), NA), c(gone = haven::tagged_na("a")))
back <- suppressWarnings(pysynthdp:::ask("echo", x = d))
same <- vapply(names(d), function(name) identical(back[[name]], d[[name]]), NA)
bits <- identical(serialize(unclass(d$tagged), NULL), serialize(unclass(back$tagged), NULL))
cat(names(d)[!same], all(same), bits, identical(haven::na_tag(back$tagged), c(NA, "a", NA)))
"""


def test_columns_with_na_of_every_kind_are_identical_after_python(run_r):
    """A data frame with NA in every kind of column goes to Python and back identical, column by column.

    Integer, logical, character, Date, factor, and haven's labelled and tagged ones, of which the tags of
    missing values are compared too.
    """
    assert run_r(_EVERY_KIND) == "TRUE TRUE TRUE"


_DESIGNS = """
suppressMessages(library(survey))
data(api)
columns <- apistrat[c("stype", "pw", "fpc", "ell", "meals", "api00")]
s <- synthesise(columns, m = 5, seed = 11, keep = c("stype", "pw", "fpc"))
fits <- with(s, svyglm(api00 ~ ell + meals,
  design = svydesign(~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = .copy)))
p <- pool(fits)
q <- sapply(copies(s), function(d) coef(svyglm(api00 ~ ell + meals,
  svydesign(~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = d))))
u <- sapply(copies(s), function(d) diag(vcov(svyglm(api00 ~ ell + meals,
  svydesign(~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = d)))))
f <- nrow(s[[1]]) / nrow(apistrat)
total <- f * rowMeans(u) + apply(q, 1, var) / 5
cat(isTRUE(all.equal(coef(p), rowMeans(q), tolerance = 1e-12)),
    isTRUE(all.equal(p$pooled$std.error, unname(sqrt(total)), tolerance = 1e-12)), p$rule)
"""


def test_designs_of_five_copies_pool_by_the_rule_for_synthetic_copies(run_r):
    """``svyglm`` on five synthetic designs of ``apistrat`` is pooled by the formula.

    T = f ubar + b / m, as R computes it from the five fits.
    """
    assert run_r(_DESIGNS) == "TRUE TRUE partial_design"


@pytest.mark.parametrize(
    ("r", "rpy2", "said"),
    [
        ("4.2.2", "3.6.7", "rpy2-rinterface 3.6.7 cannot load R 4.2.2: pip install 'rpy2-rinterface==3.6.5'"),
        ("4.4.1", "3.6.6", "cannot load R 4.4.1: pip install 'rpy2-rinterface==3.6.5'"),
        ("4.2.2", "3.6.5", "or reinstall both for this R"),
    ],
)
def test_versions_that_do_not_go_together_name_the_one_to_take(r, rpy2, said, monkeypatch):
    """With a pair of R and rpy2 that does not load, the message says which version to take.

    That the pair of the install notes loads is tested in ``test_rpy2.py``.
    """
    monkeypatch.setattr(r_inside, "version", lambda package: rpy2)  # noqa: ARG005
    monkeypatch.setattr(r_inside, "run_r", lambda code: r)  # noqa: ARG005
    assert said in r_inside._why_not(ImportError("undefined symbol: R_getVar"))


def test_the_version_that_is_named_is_the_one_that_is_installed():
    """The install notes and ``pip install 'pysynthdp[r]'`` take the version that the message names."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (pinned,) = (
        found
        for found in map(Requirement, extras["optional-dependencies"]["r"])
        if found.name == "rpy2-rinterface"
    )
    assert "3.6.5" in pinned.specifier
    assert "3.6.6" not in pinned.specifier


_TIDY = """
s <- synthesise(mtcars[c("mpg", "wt", "cyl")], m = 5, seed = 1)
p <- pool(with(s, lm(mpg ~ wt)))
theirs <- names(broom::tidy(lm(mpg ~ wt, mtcars), conf.int = TRUE))
plain <- broom::tidy(p)
wide <- broom::tidy(p, conf.int = TRUE)
cat(identical(setdiff(names(wide), "df"), theirs),
    identical(setdiff(names(wide), names(plain)), c("conf.low", "conf.high")),
    identical(names(wide), c(names(plain), "conf.low", "conf.high")), inherits(wide, "tbl_df"),
    identical(wide$term, c("(Intercept)", "wt")))
"""


def test_a_pooled_table_is_tidied_as_broom_tidies(run_r):
    """``tidy()`` has broom's columns in its order, beside ``df``; ``conf.int = TRUE`` adds two."""
    assert run_r(_TIDY) == "TRUE TRUE TRUE TRUE TRUE"
