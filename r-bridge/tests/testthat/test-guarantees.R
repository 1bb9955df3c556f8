# Under a guarantee every cell is read alone: an odd one changes neither the others nor the class of the copies.

book <- function(unit = "day", lower = 0, upper = 20000, fallback = 5000) {
  path <- tempfile(fileext = ".toml")
  writeLines(c("[columns.born]", paste("lower =", lower), paste("upper =", upper), paste0("unit = \"", unit, "\""),
               "may_be_missing = false", paste("fallback =", fallback)), path)
  path
}

year_of <- function(x, schema, guarantee = zcdp(rho = 5), ...) {
  copy <- synthesise(data.frame(born = x), m = 1, schema = schema, guarantee = guarantee, ...)[[1]]$born
  list(year = as.integer(format(mean(copy), "%Y")), class = class(copy))
}

days <- function() {
  set.seed(1)
  7305 + c(0, sample(0:3000, 399, TRUE))
}
date <- function(x) structure(x, class = "Date")

test_over_carriers("an odd date leaves the others in their years", {
  x <- days()
  for (odd in c(7305, NA, Inf, -Inf, NaN, 7305.5, 1e7, -1e300)) {
    x[1] <- odd
    found <- year_of(date(x), book())
    expect_true(found$year %in% 1992:1995)
    expect_identical(found$class, "Date")
  }
})

test_that("so do an odd time, duration, number and text", {
  skip_without_engine()
  skip_without("bit64")
  seconds <- days() * 86400
  in_seconds <- book("second", upper = 20000 * 86400, fallback = 5000 * 86400)
  for (odd in c(NA, Inf, NaN, 1e12, 8e8 + 1e-7)) {
    seconds[1] <- odd
    for (zone in c("UTC", "Asia/Kolkata", "")) {
      time <- structure(seconds, class = c("POSIXct", "POSIXt"), tzone = zone)
      expect_true(year_of(time, book())$year %in% 1992:1995)
      expect_true(year_of(time, in_seconds)$year %in% 1992:1995)
    }
    for (units in c("secs", "mins", "hours", "days", "weeks")) {
      span <- structure(seconds / c(secs = 1, mins = 60, hours = 3600, days = 86400, weeks = 604800)[[units]],
                        class = "difftime", units = units)
      expect_true(year_of(span, book())$year %in% 1992:1995)
    }
  }
  x <- days()
  whole <- as.integer(x)
  whole[1] <- NA
  long <- bit64::as.integer64(x)
  long[1] <- NA
  texts <- c("soon", as.character(x[-1]))
  written <- c("1990-13-41", format(date(x[-1])))
  for (column in list(x, whole, long, texts, written, factor(texts), I(x))) {
    expect_identical(year_of(column, book())$class, "Date")
    expect_true(year_of(column, book())$year %in% 1992:1995)
  }
})

test_that("so do they where the draw protects", {
  skip_without_engine()
  x <- days()
  model <- list(born = list(name = "gaussian", sigma = 900))
  for (odd in c(7305, Inf, 7305.5)) {
    x[1] <- odd
    found <- year_of(date(x), book(), guarantee = by_sampling(), method = model)
    expect_true(found$year %in% 1992:1995)
  }
})

test_that("a column of times that is declared as plain numbers is R's own number", {
  skip_without_engine()
  schema <- list(born = numeric_column(0, 20000, decimals = 0, fallback = 5000))
  for (odd in c(7305, Inf, 7305.5)) {
    x <- days()
    x[1] <- odd
    copy <- synthesise(data.frame(born = date(x)), m = 1, schema = schema, guarantee = zcdp(rho = 5))[[1]]$born
    expect_identical(class(copy), "numeric")
    expect_equal(mean(copy), mean(days()), tolerance = 0.1)
  }
})

test_that("an NA level is missing in every cell, whatever the codes of others are", {
  skip_without_engine()
  set.seed(2)
  code <- sample(1:3, 900, TRUE)
  schema <- list(g = categorical_column(c("a", "b"), may_be_missing = TRUE, other = "a"))
  for (first in c(1L, NA, 0L, 9L, -5L)) {
    code[1] <- first
    g <- structure(code, levels = c("a", "b", NA), class = "factor")
    copy <- synthesise(data.frame(g = g), m = 1, schema = schema, guarantee = zcdp(rho = 10))[[1]]
    expect_equal(mean(is.na(copy$g)), 1 / 3, tolerance = 0.15)
    expect_identical(levels(copy$g), c("a", "b"))
  }
})

test_that("units are declared in R as in Python", {
  expect_identical(numeric_column(0, 10)$unit, "number")
  expect_identical(numeric_column(as.Date("1970-01-11"), as.Date("1970-02-01"), unit = "day")[c("lower", "upper")],
                   list(lower = 10, upper = 31))
  expect_identical(numeric_column(as.POSIXct(7200, origin = "1970-01-01"), unit = "hour")$lower, 2)
  expect_identical(numeric_column(fallback = as.Date("1970-01-02"), unit = "second")$fallback, 86400)
  expect_error(numeric_column(unit = "year"), "must be one of", class = "pysynthdp_plan_error")
  expect_error(numeric_column(as.Date("1970-01-11")), "unit", class = "pysynthdp_schema_error")
  expect_identical(categorical_column(as.Date("1970-01-11"))$levels, list("1970-01-11"))
})

test_that("without a guarantee times that are no times of pandas are refused where a unit is declared", {
  skip_without_engine()
  schema <- list(born = numeric_column(unit = "second"))
  expect_s3_class(synthesise(data.frame(born = date(days())), m = 1, schema = schema, seed = 1)[[1]]$born, c("Date", "POSIXct"))
  for (odd in c(Inf, 7305.5, 1e7)) {
    expect_error(synthesise(data.frame(born = date(c(days(), odd))), m = 1, schema = schema, seed = 1), "born",
                 class = "pysynthdp_schema_error")
  }
})

test_that("NA is refused where it would stand for what was not given", {
  for (na in list(NA, NA_character_, NA_integer_, NaN)) {
    expect_error(zcdp(na), "rho is NA", class = "pysynthdp_plan_error")
    expect_error(zcdp(1, rows_per_unit = na), "rows_per_unit is NA", class = "pysynthdp_plan_error")
    expect_error(zcdp(1, unit_key = na), "unit_key is NA", class = "pysynthdp_plan_error")
    expect_error(zcdp(1, unit = na), "unit is NA", class = "pysynthdp_plan_error")
    expect_error(zcdp(1, hints = na), "hints is NA", class = "pysynthdp_plan_error")
    expect_error(approx_dp(1, na), "delta is NA", class = "pysynthdp_plan_error")
    expect_error(approx_dp(1, 1e-6, fresh_noise = na), "fresh_noise is NA", class = "pysynthdp_plan_error")
    expect_error(by_sampling(exact = na), "exact is NA", class = "pysynthdp_plan_error")
    expect_error(by_sampling(deltas = na), "deltas is NA", class = "pysynthdp_plan_error")
    expect_error(protection("zcdp", rho = 1, outside = na), "outside is NA", class = "pysynthdp_plan_error")
    expect_error(synthesise(iris, guarantee = na), "guarantee is NA", class = "pysynthdp_plan_error")
    expect_error(synthesise(iris, proper = na), "proper is NA", class = "pysynthdp_plan_error")
    expect_error(synthesise(iris, plan = na), "plan is NA", class = "pysynthdp_plan_error")
    expect_error(synthesise(iris, m = na), "m is NA", class = "pysynthdp_plan_error")
    expect_error(synthesise(iris, k = na), "k is NA", class = "pysynthdp_plan_error")
    expect_error(synthesis_plan(iris, n = na), "n is NA", class = "pysynthdp_plan_error")
  }
  expect_false("unit_key" %in% names(zcdp(1)))
  expect_identical(zcdp(1, unit_key = "hid")$unit_key, "hid")
})
