# Errors and warnings carry fields, are in R's words, and answer a slip with what may have been meant.

caught <- function(code) tryCatch(code, pysynthdp_error = identity, pysynthdp_warning = identity)

test_that("an error of the engine has a column, a kind and a remedy in R's words", {
  skip_without_engine()
  d <- data.frame(id = sprintf("p%04d", 1:200), y = rnorm(200))
  e <- caught(synthesise(d, m = 1, seed = 1))
  expect_s3_class(e, c("pysynthdp_schema_error", "pysynthdp_error"))
  expect_identical(e$column, "id")
  expect_identical(e$kind, "identifier")
  expect_match(e$remedy, "drop = \"id\"", fixed = TRUE)
  expect_match(conditionMessage(e), e$remedy, fixed = TRUE)
  expect_no_match(conditionMessage(e), "\\[|\\{|True|None")
})

test_that("a warning has them too", {
  skip_without_engine()
  d <- data.frame(town = factor(c("a", "b", rep("c", 198))), y = rnorm(200))
  w <- caught(synthesise(d, m = 1, seed = 1))
  expect_s3_class(w, "pysynthdp_warning")
  expect_type(w$kind, "character")
  expect_type(w$remedy, "character")
})

test_that("a misspelt argument is answered by the nearest, and none is taken by its beginning", {
  d <- data.frame(age = 1:20)
  slips <- list(
    bounds = quote(synthesise(d, bound = list(age = c(0, 9)))), guarantee = quote(synthesise(d, guar = zcdp(1))),
    method = quote(synthesis_plan(d, methd = "norm")), levels = quote(look(d, level = 1)), rho = quote(zcdp(roh = 1)),
    deltas = quote(zcdp(rho = 1, delta = 1e-6)), exact = quote(by_sampling(exat = TRUE)),
    decimals = quote(numeric_column(0, 1, decimal = 1)), other = quote(categorical_column("a", othr = "a")),
    rule = quote(pool(list(1), rul = "x")), replace_one = quote(zcdp(rho = 1, relation = "replace"))
  )
  for (meant in names(slips)) {
    e <- caught(eval(slips[[meant]]))
    expect_s3_class(e, "pysynthdp_plan_error")
    expect_identical(e$remedy, paste0("did you mean ", meant, "?"))
    expect_identical(e$kind, "setting")
  }
  expect_match(conditionMessage(caught(synthesise(d, 5, "norm"))), "without a name", fixed = TRUE)
  expect_null(caught(synthesise(d, zzzzzz = 1))$remedy)
})

test_that("what is no fit of the copies is told with what to write", {
  skip_without_engine()
  s <- synthesise(data.frame(x = rnorm(60), y = rnorm(60)), m = 3, seed = 1)
  expect_error(pool(s), "not the copies themselves; give pool\\(with\\(s, lm", class = "pysynthdp_fit_error")
  fits <- with(s, lm(y ~ x))
  expect_error(pool(fits, rule = "raab_simpel"), "did you mean 'raab_simple'", class = "pysynthdp_combining_rule_error")
  expect_error(write_release(s, tempfile(), format = "parket"), "did you mean parquet", class = "pysynthdp_plan_error")
})

test_that("look() writes R code and R's types", {
  skip_without_engine()
  d <- data.frame(den = factor(rep(c("1.5", "2", "3", "4"), 30)), a = rnorm(120), b = 1:120, when = Sys.Date() - 1:120)
  d$txt <- rep(c("x", "y"), 60)
  said <- look(d)$text
  expect_match(said, "[[\"den\"]] <- as.numeric(as.character(", fixed = TRUE)
  for (type in c("den +categorical +factor", "a +numeric +numeric", "b +\\w+ +integer", "when +date +Date", "txt +binary +character")) {
    expect_match(said, type)
  }
})

test_that("fixed effects of nlme are pooled", {
  skip_without_engine()
  skip_without("nlme")
  d <- data.frame(g = factor(rep(letters[1:6], 30)), x = rnorm(180))
  d$y <- d$x + as.integer(d$g) + rnorm(180)
  s <- synthesise(d, m = 3, seed = 1)
  p <- pool(with(s, nlme::lme(y ~ x, random = ~ 1 | g, data = .copy)))
  one <- nlme::lme(y ~ x, random = ~ 1 | g, data = s[[1]])
  expect_identical(names(coef(p)), names(nlme::fixef(one)))
})
