secret <- "Ada Lovelace 1815"

holds <- function(x, text = secret) any(grepl(text, rawToChar(serialize(x, NULL, ascii = TRUE)), fixed = TRUE))

confidential <- function() {
  d <- data.frame(x = round(stats::rnorm(60), 1), g = factor(rep(c("a", "b"), 30)))
  attr(d, "owner") <- secret
  attr(d$x, "donor") <- secret
  attr(d$x, "label") <- "A label"
  d
}

test_that("a whole data frame in the call does not ride along", {
  skip_without_engine()
  d <- confidential()
  s <- do.call(synthesise, list(d, m = 1, seed = 1))
  expect_identical(deparse1(s$call), "synthesise.data.frame(x = `<data.frame>`, m = 1, seed = 1)")
  expect_false(holds(s))
  expect_lt(length(serialize(s$call, NULL)), 1000)
  expect_false(holds(do.call(syn, list(data = d, seed = 1))))
  expect_false(holds(do.call(synthesise, list(x ~ g, data = d, m = 1, seed = 1, visit_sequence = c("g", "x")))))
})

test_that("only attributes that describe columns reach the copies", {
  skip_without_engine()
  s <- synthesise(confidential(), m = 2, seed = 1)
  expect_identical(attr(s[[1]]$x, "label"), "A label")
  expect_null(attr(s[[1]]$x, "donor"))
  expect_null(attr(s[[1]], "owner"))
})

test_that("a class that is not known is dropped with a warning", {
  skip_without_engine()
  d <- confidential()
  class(d$x) <- c("secretive", class(d$x))
  expect_warning(s <- synthesise(d, m = 1, seed = 1), "secretive", class = "pysynthdp_warning")
  expect_false(inherits(s[[1]]$x, "secretive"))
})

test_that("a pooled result holds numbers only", {
  skip_without_engine()
  hidden <- function() {
    caller <- secret
    s <- synthesise(confidential(), m = 3, seed = 1)
    pool(with(s, lm(x ~ g)))
  }
  expect_false(holds(hidden()))
})

test_that("formulas are sent as text", {
  skip_without_engine()
  f <- local({
    caller <- secret
    x ~ g
  })
  d <- data.frame(g = factor(rep(c("a", "b"), 30)), x = stats::rnorm(60))
  expect_false(holds(synthesise(f, data = d, m = 1, seed = 1)))
})
