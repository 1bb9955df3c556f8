"""Households from R: copies are right, and pool says when rows of one were taken for independent."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

pytestmark = pytest.mark.r_packages("survey", "jsonlite")
RUN = r"""
suppressMessages(library(survey))
d <- read.csv(arguments[[1L]], stringsAsFactors = TRUE)
households <- list(id = ~hid, size = "hsize", order = "age desc")
s <- suppressWarnings(synthesise(d, m = 5, seed = 3, units = households))
write_release(s, file.path(arguments[[2L]], "out"), format = "csv")
back <- read_release(file.path(arguments[[2L]], "out"))
heard <- function(e) withCallingHandlers(e, pysynthdp_warning = function(w) {
  told <<- c(told, conditionMessage(w)); kind <<- w$kind; remedy <<- w$remedy; invokeRestart("muffleWarning")
})
try_pool <- function(fits, ...) {
  told <<- character(); kind <<- remedy <<- NULL
  p <- heard(pool(fits, ...))
  list(told = I(told), flags = I(p$flags[grepl("rows of one", p$flags)]), kind = kind, remedy = remedy,
       estimate = coef(p), error = sqrt(diag(vcov(p))), df = p$pooled$df, f = p$n_syn / p$n_org)
}
ask <- function(fits, ...) try_pool(fits, ...)[c("told", "flags")]
by_survey <- with(synth_design(s, ids = ~hid), svyglm(pay ~ age + sex))
q <- sapply(as.list(by_survey), coef); u <- sapply(as.list(by_survey), function(fit) diag(vcov(fit)))
own <- lapply(copies(s), function(copy) lm(pay ~ age + sex, copy))
pairs <- lapply(copies(s), function(copy) list(c(mean = mean(copy$pay)), var(copy$pay) / nrow(copy)))
of_survey <- lapply(copies(s), function(copy) {
  survey::svyglm(pay ~ age, survey::svydesign(~hid, weights = rep(1, nrow(copy)), data = copy))
})
describe <- function(call) {
  told <<- character()
  p <- heard(call)
  list(told = I(told), flags = I(p$flags[grepl("rows of one", p$flags)]), notes = I(p$notes),
       terms = names(coef(p)), estimate = unname(coef(p)), error = p$pooled$std.error)
}
described <- list(mean_of = describe(mean_of(s, "pay")), by = describe(mean_of(s, "pay", by = "sex")),
  share_of = describe(share_of(s, "sex", "f", by = "region")),
  quantile_of = describe(quantile_of(s, "pay", 0.3)),
  cells = describe(pool(with(synth_design(s), svymean(~interaction(region, sex))))),
  crosstab_of = describe(crosstab_of(s, "sex", "region")))
plan <- suppressWarnings(synthesis_plan(d, units = households))
cat("\n", jsonlite::toJSON(list(
  plan = colSums(plan$predictor.matrix)[c("hid", "hsize")], named = rownames(plan$predictor.matrix),
  same = all.equal(copies(s), copies(back)), unit = back$tags$unit, print = capture.output(print(s)),
  rows = try_pool(with(back, lm(pay ~ age + sex))),
  survey = try_pool(by_survey), by_hand = rowMeans(u) + apply(q, 1, var) / 5,
  one_row = {
    p <- pool(with(s, lm(region_pay ~ hsize, subset = !duplicated(hid))))
    list(flags = I(p$flags), notes = I(p$notes))
  },
  silent = list(
    default_ids = ask(with(synth_design(s), svymean(~pay))),
    by_name = ask(suppressWarnings(with(s, svymean(~pay, svydesign(id = ~hid, data = .copy))))),
    region = ask(with(synth_design(s, ids = ~region), svymean(~pay))),
    one_row = ask(with(s, lm(region_pay ~ hsize, subset = !duplicated(hid)))),
    given = ask(of_survey, data = s)),
  loud = list(
    ids_1 = ask(with(synth_design(s, ids = ~1), svymean(~pay))),
    glm = ask(with(s, glm(I(pay > 10) ~ age, family = binomial))),
    or = ask(with(s, lm(pay ~ age, subset = age > 30 | hid < 3))),
    given = ask(own, data = s), pairs = ask(pairs, data = s)), described = described
), digits = NA, auto_unbox = TRUE), sep = "")
"""

GUARANTEED = r"""
d <- read.csv(arguments[[1L]])[c("hid", "region", "age", "sex")]
households <- list(id = "hid", size = "hsize", max_size = 3L, larger = "truncate",
                   order = "age desc", shared = "region")
s <- synthesise(d, m = 2, schema = arguments[[2L]], units = households,
                guarantee = zcdp(rho = 20, unit = "household"))
lacking <- list(id = "hid", order = "age desc")
refused <- tryCatch(
  synthesise(d, m = 2, schema = arguments[[2L]], units = lacking, guarantee = zcdp(rho = 20)),
  error = conditionMessage
)
keyed <- synthesise(d[rep(1:2, each = 200), ], m = 1, schema = arguments[[2L]],
  guarantee = zcdp(rho = 4e6, unit = "household", unit_key = "hid", rows_per_unit = 400L))
write_release(s, file.path(arguments[[3L]], "protected"))
cat("\n", jsonlite::toJSON(list(
  refused = refused, shown = capture.output(print(privacy_statement(s))),
  ages = mean(copies(keyed)[[1L]]$age), aged = mean(d$age[1:2])), auto_unbox = TRUE))
"""
BOOK = """
[columns.region]
levels = ["n", "s", "w"]
other = "n"
may_be_missing = false
[columns.age]
lower = 0
upper = 90
decimals = 0
may_be_missing = false
fallback = 50
[columns.sex]
levels = ["f", "m"]
other = "f"
may_be_missing = false
"""


def _households(count: int = 300) -> pd.DataFrame:
    """Persons in households: size, region and pay by region are shared; pay is alike in one."""
    rng = np.random.default_rng(5)
    size = rng.integers(1, 5, count)
    hid = np.repeat(np.arange(101, 101 + count), size)
    own = np.repeat(rng.normal(0, 4, count), size)
    region = np.repeat(rng.choice(["n", "s", "w"], count), size)
    rank = pd.Series(hid).groupby(hid).cumcount()
    age = np.repeat(rng.integers(40, 80, count), size) - 6 * rank - rng.integers(0, 4, len(hid))
    frame = pd.DataFrame(
        {"hid": hid, "hsize": np.repeat(size, size), "region": region, "age": age.to_numpy()}
    )
    frame["sex"] = rng.choice(["f", "m"], len(hid))
    frame["pay"] = (10 + own + 0.1 * frame["age"] + rng.normal(0, 1, len(hid))).round(2)
    frame["region_pay"] = np.repeat(rng.normal(20, 3, count).round(1), size)
    return frame


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> tuple[pd.DataFrame, str]:
    """The confidential persons, and where they lie."""
    path = tmp_path_factory.mktemp("units") / "persons.csv"
    frame = _households()
    frame.to_csv(path, index=False)
    return frame, str(path)


def test_households_are_right_and_pool_says_when_rows_are_taken_for_independent(
    run_r: Callable[..., str], table, tmp_path
):
    out = json.loads(run_r(RUN, table[1], tmp_path).strip().splitlines()[-1])
    release = sdp.SyntheticRelease.load(tmp_path / "out")
    for copy in release:
        households = copy.groupby("hid")
        assert (households["pay"].transform("size") == copy["hsize"]).all()
        for name in ("region", "region_pay", "hsize"):
            assert (households[name].transform("first") == copy[name]).all()
        assert (households["age"].diff().dropna() <= 0).all()
        assert copy["hid"].nunique() == table[0]["hid"].nunique()
    assert out["same"] is True
    assert out["unit"] == "hid"
    assert out["named"] == list(table[0])
    assert out["plan"][0] == 0 < out["plan"][1]  # of an id nothing is drawn
    assert out["print"][:2] == [
        "Synthetic data: 5 copies of 300 units and 7 columns",
        f"from 300 units by pysynthdp {sdp.__version__} ",
    ]
    _says_so(out["rows"])
    _is_of_clusters(out["survey"], out["by_hand"], release)
    assert np.all(np.divide(out["survey"]["error"], out["rows"]["error"])[[0, 1]] > 1.1)
    assert "within" not in " ".join(out["one_row"]["flags"])  # one row each is no subgroup
    assert out["one_row"]["notes"] == [
        "The table speaks of units, of which the fits used one row each by hid."
    ]
    for name, one in out["silent"].items():
        assert one == {"told": [], "flags": []}, name
    for name, one in out["loud"].items():
        assert len(one["told"]) == len(one["flags"]) == 1, name
    assert "only where the variances that were given do" in out["loud"]["pairs"]["told"][0]
    _describes_units(out["described"], release)


def test_the_household_is_the_protected_unit_in_r_too(run_r: Callable[..., str], table, tmp_path):
    (tmp_path / "book.toml").write_text(BOOK, "utf-8")
    out = json.loads(run_r(GUARANTEED, table[1], tmp_path / "book.toml", tmp_path).strip().splitlines()[-1])
    assert 'units under a guarantee need max_size, shared, larger = "truncate"' in out["refused"]
    assert 'units = list(id = "hid"' in out["refused"]
    assert "two tables that differ in one household, in its values and in how many rows" in " ".join(
        " ".join(out["shown"]).split()
    )
    assert abs(out["ages"] - out["aged"]) < 3  # rows of a key that is read, not the fallbacks of public rows
    release = sdp.SyntheticRelease.load(tmp_path / "protected")
    assert release.privacy.unit.whole
    for copy in release:
        assert (copy.groupby("hid")["age"].transform("size") == copy["hsize"]).all()
        assert copy.groupby("hid")["region"].nunique().max() == 1


def _says_so(rows: dict) -> None:
    """Both a warning and a flag: what is wrong, and what to write."""
    assert rows["told"] == rows["flags"]
    assert rows["kind"] == "units"
    assert "u, the variance within a copy, counts rows and not units" in rows["told"][0]
    assert "pool(with(synth_design(s, ids = ~hid), svyglm(y ~ x)))" in rows["remedy"]
    assert "ols() or glm() of pysynthdp in Python" in rows["remedy"]


def _is_of_clusters(survey: dict, by_hand: list[float], release: sdp.SyntheticRelease) -> None:
    """T = f ubar + b/m with clusters in u; Python's own clusters differ by small factors."""
    assert survey["told"] == survey["flags"] == []
    np.testing.assert_allclose(np.square(survey["error"]), by_hand, rtol=1e-10)
    ours = sdp.ols("pay ~ age + C(sex)", release)
    order = ["Intercept", "age", "C(sex)[T.m]"]
    np.testing.assert_allclose(ours.params[order], survey["estimate"], rtol=1e-8)
    np.testing.assert_allclose(ours.bse[order], survey["error"], rtol=5e-3)


def _describes_units(described: dict, release: sdp.SyntheticRelease) -> None:
    """Descriptives of R sum over units as those of Python, and say so."""
    ours = {
        "mean_of": sdp.mean_of("pay", release),
        "by": sdp.mean_of("pay", release, by="sex"),
        "share_of": sdp.share_of("sex", "f", release, by="region"),
        "quantile_of": sdp.quantile_of("pay", 0.3, release),
    }
    for name, own in ours.items():
        np.testing.assert_allclose(described[name]["estimate"], own.params, rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(described[name]["error"], own.bse, rtol=1e-10, err_msg=name)
    cells, table = described.pop("cells"), described["crosstab_of"]
    assert len(table["terms"]) == 6
    np.testing.assert_allclose(table["estimate"], cells["estimate"], rtol=1e-10)
    np.testing.assert_allclose(table["error"], cells["error"], rtol=1e-10)
    for name, one in described.items():
        assert one["told"] == one["flags"] == [], name
        assert "standard errors are of clusters: rows of one hid are alike" in one["notes"][-1], name
