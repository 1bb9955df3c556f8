# What copies give away: the same as in Python, worded for R.

risk_data <- function(n = 80L) {
  set.seed(1)
  data.frame(sex = factor(sample(c("F", "M"), n, TRUE)), age = sample(20:60, n, TRUE),
             ill = factor(sample(c("no", "yes"), n, TRUE)))
}

test_that("a copy of the data fails, and what to type is R", {
  skip_without_engine()
  d <- risk_data()
  found <- disclosure_risk(d, d, keys = list(neighbour = c("sex", "age")), attacks = 20)
  expect_s3_class(found, "disclosure_risk")
  expect_output(print(found), "INTERNAL")
  expect_true(any(grepl("the table", found$alarms)))
  expect_match(found$text, "targets =", fixed = TRUE)
  rows <- as.data.frame(found, table = "identity")
  expect_equal(rows$RepU, rows$UiO)
  key <- paste(d$sex, d$age)
  expect_equal(rows$UiO[[1L]], 100 * sum(table(key) == 1) / nrow(d))
})

test_that("copies of synthesise() have a control by a hold-out or by refits", {
  skip_without_engine()
  d <- risk_data(120L)
  s <- synthesise(d[1:80, ], m = 2, seed = 1)
  ask_for <- function(...) {
    disclosure_risk(s, d[1:80, ], keys = list(k = c("sex", "age")), targets = "ill",
                    known_by_all = list(ill = "no"), ngroups = c(age = 5), attacks = 20, ...)
  }
  out <- as.data.frame(ask_for(holdout = d[81:120, ]), table = "attribute")
  expect_false(anyNA(out$control))
  expect_false(anyNA(as.data.frame(ask_for(refit = list()), table = "attribute")$control))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(ask_for()))
})

test_that("earlier releases and the list of evaluations are counted", {
  skip_without_engine()
  d <- risk_data()
  s <- synthesise(d, m = 2, seed = 1)
  own <- tempfile("own")
  dir.create(own)
  out <- file.path(tempfile("release"))
  write_release(s, out)
  ask_for <- function(...) disclosure_risk(s, d, keys = list(k = c("sex", "age")), attacks = 5, log = own, ...)
  first <- ask_for()
  found <- ask_for(earlier = list(s, d, list(d, d), out))
  expect_match(first$text, "evaluations of this table so far: +1")
  expect_match(found$text, "evaluations of this table so far: +2")
  expect_match(found$text, "earlier releases of this source, counted in growth: +4")
  expect_equal(max(as.data.frame(found, table = "growth")$release), 5)
  expect_true(file.exists(file.path(own, "INTERNAL_attempts.jsonl")))
  expect_match(ask_for(earlier = s)$text, "counted in growth: +1")
  expect_error(disclosure_risk(s, d, keys = "sex", log = out), "release")
})

test_that("risks are drawn by key set, and the trade-off where there is one", {
  skip_without_engine()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  d <- risk_data()
  s <- synthesise(d, m = 1, seed = 1)
  plain <- disclosure_risk(s, d, keys = list(k = c("sex", "age")), targets = "ill", attacks = 5)
  expect_error(plot(plain, "trade-off"), "neither a guarantee nor a membership attack")
  told <- disclosure_risk(s, d, keys = list(k = c("sex", "age")), refit = list(), attacks = 5, shadow_fits = 8)
  expect_identical(plot(told, "trade-off"), told)
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    for (drawn in list(ggplot2::autoplot(plain), ggplot2::autoplot(told, "trade-off"))) {
      expect_match(drawn$labels$title, "^INTERNAL")
      expect_s3_class(ggplot2::ggplot_build(drawn), "ggplot_built")
    }
  }
})

test_that("slips are answered", {
  skip_without_engine()
  d <- risk_data()
  expect_error(disclosure_risk(d, d, keys = "sez"), "did you mean 'sex'")
  expect_error(disclosure_risk(d), "needs the confidential data")
  expect_error(disclosure_risk(d, d), "what an intruder knows")
})
