# mice has another rule in a function of the same name. In no order of library() may it meet our fits.

test_that("mice's pool() stops at our fits and names ours", {
  skip_without_engine()
  skip_without("mice")
  skip_without("broom")
  s <- synthesise(survey_data(200L), m = 5, seed = 1)
  fits <- with(s, lm(income ~ age))
  for (theirs in list(mice::pool, mice::pool.syn, function(f) mice::pool(mice::as.mira(f)),
                      function(f) mice::pool(f, dfcom = 100))) {
    expect_error(suppressWarnings(theirs(fits)), "pysynthdp::pool", class = "pysynthdp_combining_rule_error")
  }
  expect_error(suppressWarnings(mice::pool(with(s, glm(smokes ~ age, family = binomial)))),
               class = "pysynthdp_combining_rule_error")
})

test_that("on purpose the fits can be handed to mice", {
  skip_without_engine()
  skip_without("mice")
  skip_without("broom")
  fits <- with(synthesise(survey_data(200L), m = 5, seed = 1), lm(income ~ age))
  rubin <- mice::pool(mice::as.mira(fits$analyses))$pooled
  expect_equal(rubin$estimate, unname(coef(pool(fits))))
  reiter <- mice::pool.syn(mice::as.mira(fits$analyses))$pooled
  expect_equal(sqrt(reiter$t), pool(fits)$pooled$std.error)
})

test_that("pool() knows what as_mids() made", {
  skip_without_engine()
  skip_without("mice")
  imp <- suppressWarnings(as_mids(synthesise(survey_data(200L), m = 3, seed = 1)))
  expect_error(pool(with(imp, lm(income ~ age))), "as_mids", class = "pysynthdp_combining_rule_error")
})

# Attached in a session of their own, since the order cannot be undone here.
in_session <- function(libraries) {
  code <- tempfile(fileext = ".R")
  writeLines(c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    sprintf("options(pysynthdp.python = %s)", deparse1(unclass(synth_engine())$executable)),
    sprintf("suppressMessages(library(%s))", libraries),
    "set.seed(1); d <- data.frame(x = rnorm(80), g = factor(rep(c('a', 'b'), 40))); d$y <- d$x + rnorm(80)",
    "s <- synthesise(d, m = 3, seed = 1)",
    "fits <- with(s, lm(y ~ x))",
    "said <- tryCatch(suppressWarnings(pool(fits)), pysynthdp_combining_rule_error = function(e) 'refused')",
    "cat(if (inherits(said, 'synthetic_pooled')) said$rule else said, ",
    "    sum(sapply(fits, nobs)), class(tryCatch(tidy(pysynthdp::pool(fits)), error = function(e) 1)))"
  ), code)
  paste(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(code)), stdout = TRUE, stderr = TRUE),
        collapse = " ")
}

test_that("in every order of library() the rule is ours, or there is an error", {
  skip_without_engine()
  for (package in c("mice", "broom", "processx")) skip_without(package)
  ours <- "partial_size_adjusted 240"
  expect_match(in_session(c("mice", "broom", "pysynthdp")), ours)
  expect_match(in_session(c("broom", "pysynthdp", "mice")), "refused 240")
  expect_match(in_session(c("pysynthdp", "mice", "broom")), "refused 240")
  expect_match(in_session(c("pysynthdp", "broom")), paste(ours, "tbl_df"))
})
