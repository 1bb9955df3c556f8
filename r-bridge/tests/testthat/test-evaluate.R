copies_of <- function(m = 3, ...) synthesise(survey_data(), m = m, seed = 1, ...)

test_over_carriers("copies are held against the data, and the result says INTERNAL", {
  d <- survey_data()
  found <- evaluate_synthetic(copies_of(), d, models = list(income ~ age + sex), by = "sex", rules = "age >= 0")
  expect_s3_class(found, "synthetic_evaluation")
  expect_output(print(found), "INTERNAL: copies against the confidential table")
  expect_length(found$alarms, 0L)
  two <- as.data.frame(found, table = "two-way")
  expect_false(is.unsorted(rev(two$ratio[!is.na(two$ratio)])))
  real <- as.data.frame(found, table = "moments")
  row <- real[real$column == "age" & real$statistic == "mean", ]
  expect_equal(row$confidential, mean(d$age, na.rm = TRUE))
  expect_identical(unique(as.data.frame(found, table = "regressions")$model), "income ~ age + sex")
  expect_error(as.data.frame(found, table = "two"), class = "pysynthdp_plan_error")
})

test_that("the data themselves, and copies of another tool, are taken", {
  skip_without_engine()
  d <- survey_data()
  found <- evaluate_synthetic(list(d, d[sample(nrow(d)), ]), d, models = FALSE)
  expect_match(found$alarms[[1L]], "this is no synthesis")
  expect_identical(as.data.frame(found)$what[[1L]], "ALARM")
  expect_error(evaluate_synthetic(3, d), class = "pysynthdp_error")
  expect_error(evaluate_synthetic(d), class = "pysynthdp_error")
})

test_that("an evaluation is drawn, in base graphics and by ggplot2, and says INTERNAL", {
  skip_without_engine()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  d <- survey_data()
  d$seen <- as.Date("2020-01-01") + seq_len(nrow(d)) %% 300
  found <- evaluate_synthetic(synthesise(d, m = 1, seed = 1), d, models = list(income ~ age + sex))
  for (kind in c("columns", "tables", "regressions", "propensity")) {
    expect_identical(plot(found, kind, most = 4L), found)
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      drawn <- ggplot2::autoplot(found, kind, most = 4L)
      expect_match(drawn$labels$title, "^INTERNAL")
      expect_gt(nrow(ggplot2::ggplot_build(drawn)$data[[1L]]), 0L)
    }
  }
  expect_error(plot(found, "colums"), "did you mean columns")
  expect_error(plot(found, most = "all"), "number of panels")
  none <- evaluate_synthetic(d, d, models = FALSE)
  expect_error(plot(none, "regressions"), "nothing to draw")
})

test_that("pictures show the frames as they are", {
  skip_without_engine()
  d <- survey_data()
  found <- evaluate_synthetic(copies_of(m = 2), d, models = list(income ~ age + sex))
  part <- found$tables$distributions
  part <- part[part$column == "age", ]
  at <- pysynthdp:::placed_cells(part)
  expect_equal(nrow(at$cells), nrow(part))
  expect_true(all(diff(at$x) > 0))
  expect_equal(sum(at$cells$confidential), 1, tolerance = 0.02)
  z <- found$pictures$residuals
  expect_setequal(names(z), c("table", "row", "column", "z"))
  own <- found$pictures$intervals
  fit <- stats::lm(income ~ age + sex, d)
  real <- own[own$side == "confidential" & own$term == "age", ]
  expect_equal(real$value, unname(stats::coef(fit)["age"]), tolerance = 1e-6)
  expect_equal(c(real$low, real$high), unname(stats::confint(fit)["age", ]), tolerance = 1e-6)
  expect_equal(colSums(found$pictures$scores[c("confidential", "copies")]), c(confidential = 1, copies = 1))
})

test_that("intervals are foreseen if the synthesis model held", {
  skip_without_engine()
  settings <- list(method = list(age = "norm"))
  s <- do.call(synthesise, c(list(survey_data(), m = 2, seed = 1), settings))
  found <- evaluate_synthetic(s, survey_data(), models = list(age ~ sex), refit = settings, foreseen = 10)
  seen <- as.data.frame(found, table = "foreseen")
  expect_identical(unique(seen$condition), "if the synthesis model held")
  expect_true(all(seen$coverage >= 0 & seen$coverage <= 1))
  expect_match(found$text, "if the synthesis model held")
  expect_error(evaluate_synthetic(s, survey_data(), foreseen = 10), "give refit = list(...)", fixed = TRUE)
  expect_error(evaluate_synthetic(s, survey_data(), refit = "norm"), "list of settings")
})

test_that("a cross table is tested for independence as a chi-squared test of one table is, but for the copies", {
  skip_without_engine()
  set.seed(3)
  d <- data.frame(a = factor(sample(c("x", "y", "z"), 600, TRUE)), b = factor(sample(c("no", "yes"), 600, TRUE)))
  d$c <- factor(ifelse(stats::runif(600) < 0.3, as.character(d$b), sample(c("no", "yes"), 600, TRUE)))
  s <- synthesise(d, m = 5, seed = 1)
  found <- crosstab_of(s, "b", "c")
  expect_lt(found$independence$p.value, 0.001)
  expect_gt(crosstab_of(s, "a", "b")$independence$p.value, 0.001)
  expect_equal(crosstab_of(s, "a", "b")$independence$df1, 2)
  expect_output(print(found), "independence: F = ")
  one <- pysynthdp:::departures(rep(0.25, 4), (diag(0.25, 4) - 1 / 16) / 100, 2L, 2L)
  expect_equal(unname(one[[1L]]), 0)
  expect_equal(unname(drop(one[[2L]])), 0.25^2 / 100) # p q p' q' / n
  d$k <- factor("all")
  alone <- crosstab_of(synthesise(d, m = 2, seed = 1), "k", "b")
  expect_output(print(alone), "no test of independence: a column has one level only")
})

test_that("descriptives are pooled as fits are", {
  skip_without_engine()
  s <- copies_of(m = 5)
  got <- mean_of(s, "age")
  want <- pool(with(s, lm(age ~ 1)))
  expect_equal(unname(coef(got)), unname(coef(want)))
  expect_equal(unname(sqrt(diag(vcov(got)))), unname(sqrt(diag(vcov(want)))))
  expect_identical(got$rule, want$rule)
  shares <- vapply(copies(s), function(d) mean(d$sex == levels(factor(d$sex))[[1L]], na.rm = TRUE), 0)
  level <- levels(factor(s[[1]]$sex))[[1L]]
  expect_equal(unname(coef(share_of(s, "sex", level))), mean(shares))
  medians <- vapply(copies(s), function(d) stats::median(d$age, na.rm = TRUE), 0)
  expect_equal(unname(coef(quantile_of(s, "age", 0.5))), mean(medians))
  groups <- mean_of(s, "age", by = "sex")
  expect_length(coef(groups), length(unique(stats::na.omit(as.character(s[[1]]$sex)))))
  table <- crosstab_of(s, "sex", "smokes")
  expect_equal(sum(coef(table)), 1)
  expect_error(quantile_of(s, "age", 2), class = "pysynthdp_fit_error")
  expect_error(mean_of(s, "agge"), class = "pysynthdp_error")
})
