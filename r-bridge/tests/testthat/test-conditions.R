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
  expect_match(conditionMessage(caught(synthesise(d, 5, "norm"))), "method = \"norm\"", fixed = TRUE)
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
  expect_match(gsub("\\s+", " ", said), "data$den <- as.numeric(as.character(data$den))", fixed = TRUE)
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

test_that("what is misread is told with a column, a kind and what to type", {
  d <- data.frame(age = 1:20)
  twice <- stats::setNames(data.frame(1:5, 1:5), c("age", ""))
  told <- list(
    "no data" = quote(synthesise()), file = quote(synthesise("survey.csv")), "no data" = quote(synthesise(d$age)),
    "no data" = quote(compare_synthetic(1)), "no name" = quote(synthesise(twice)), method = quote(synthesise(d, method = "bag")),
    method = quote(synthesise(d, method = c(age = "rf"))), formula = quote(synthesise(log(age) ~ ., data = d)),
    setting = quote(synthesise(d, seed = "today")), setting = quote(synthesise(d, m = NA)), fit = quote(pool(lm(age ~ 1, d))),
    "no copies" = quote(pool(list(lm(age ~ 1, d)))), "no copies" = quote(privacy_statement(d)), columns = quote(syn(d, "parametric", drop = "agee")),
    setting = quote(syn(d, rvalues = list(age = 1))), setting = quote(syn(d, cart.minbucket = 5)),
    transport = quote(synth_engine(transport = "socket")), path = quote(read_release(3))
  )
  for (at in seq_along(told)) {
    e <- caught(eval(told[[at]]))
    expect_identical(e$kind, names(told)[[at]], info = deparse1(told[[at]]))
    expect_type(e$remedy, "character")
    expect_match(conditionMessage(e), e$remedy, fixed = TRUE)
  }
  expect_identical(caught(synthesise(d, method = c(age = "rf")))$column, "age")
})

test_that("the engine's advice is typed as it stands, and names what the user named", {
  skip_without_engine()
  d <- data.frame(a = c(rnorm(59), Inf), "my b" = rnorm(60), f = factor(rep(c("1.5", "2.5", "4.5"), 20)), check.names = FALSE)
  e <- caught(synthesise(d, m = 1, seed = 1))
  expect_match(e$remedy, "data$a[is.infinite(data$a)] <- NA", fixed = TRUE)
  data <- d
  eval(parse(text = sub("make them missing: ", "", e$remedy, fixed = TRUE)))
  expect_true(is.na(data$a[[60L]]))
  data$a[[60L]] <- 0
  expect_match(caught(synthesise(data, m = 1, seed = 1))$remedy, "data$f <- as.numeric", fixed = TRUE)
  expect_match(caught(synthesise(data, predictor_matrix = list(f = "aa")))$remedy, "did you mean", fixed = TRUE)
  expect_identical(caught(synthesise(data, bounds = list(a = 1)))$column, "a")
  expect_match(caught(synthesise(data, rare = "merg"))$remedy, "did you mean 'merge'?", fixed = TRUE)
  expect_no_match(conditionMessage(caught(synthesise(data, schema = "nowhere.csv"))), "Error|Exception")
  expect_match(caught(synthesise(data, m = 0))$remedy, "synthesis_plan(data)", fixed = TRUE)
  g <- data.frame(smokes = factor(rep(c("no", "yes", "no"), 40)), y = rnorm(120))
  s <- synthesise(g, m = 1, seed = 1, method = list(smokes = list(name = "logridge", penalty = 1)))
  expect_identical(s$method[["smokes"]], "logridge")
  expect_output(print(privacy_statement(s)), "$learned", fixed = TRUE)
  expect_type(privacy_statement(s)$learned, "list")
  expect_no_match(format(privacy_statement(s)), "to_dict", fixed = TRUE)
})

test_that("copies are not taken for one table, nor replaced in silence", {
  skip_without_engine()
  s <- synthesise(data.frame(height = rnorm(60), age = rnorm(60)), m = 3, seed = 1)
  expect_error(lm(height ~ age, data = s), "pool(with(s", fixed = TRUE, class = "pysynthdp_fit_error")
  expect_error(glm(height ~ age, data = s), class = "pysynthdp_fit_error")
  expect_identical(nrow(as.data.frame(s)), 180L)
  expect_identical(nrow(data.frame(s)), 180L)
  expect_error(s[[1]] <- 1, class = "pysynthdp_changed_error")
  expect_error(s[[1]]$height <- 1, class = "pysynthdp_changed_error")
  expect_error(s$height <- 1, "'height' is a column", class = "pysynthdp_changed_error")
  expect_error(s[["height"]], "with\\(s", class = "pysynthdp_bridge_error")
  expect_error(s[7], "there are 3 copies", class = "pysynthdp_bridge_error")
  e <- s
  e$note <- "mine"
  expect_identical(e$note, "mine")
  expect_s3_class(e, c("synthetic", "synds"))
  expect_error(plot(s, vars = "heigth"), "did you mean height", class = "pysynthdp_plan_error")
  expect_error(copies(s, "wide"), class = "pysynthdp_plan_error")
})

test_that("slips in an analysis are answered", {
  skip_without_engine()
  s <- synthesise(data.frame(height = rnorm(60), age = rnorm(60)), m = 3, seed = 1)
  e <- caught(with(s, lm(heigth ~ age)))
  expect_identical(e[c("column", "remedy")], list(column = "heigth", remedy = "did you mean height?"))
  expect_match(caught(with(s))$remedy, "with(s, lm", fixed = TRUE)
  expect_match(caught(pool(with(s, mean(age))))$remedy, "give a fitted model", fixed = TRUE)
  fits <- with(s, lm(height ~ age))
  p <- pool(fits)
  expect_match(caught(confint(p, "agee"))$remedy, "did you mean age?", fixed = TRUE)
  expect_match(caught(summary(p, conf.lev = 0.9))$remedy, "did you mean conf.level?", fixed = TRUE)
  expect_match(caught(summary(p, conf.level = 90))$remedy, "conf.level = 0.95", fixed = TRUE)
  expect_s3_class(caught(summary(p, exponentiate = TRUE)), "pysynthdp_warning")
  expect_match(caught(pool(fits, n_org = 70))$remedy, "leave n_org out", fixed = TRUE)
  expect_identical(coef(pool(fits, n_org = 60)), coef(p))
  expect_match(caught(synth_lm(height ~ age, s, wieghts = age))$remedy, "did you mean weights?", fixed = TRUE)
})

test_that("an order, a type and a name of a protection are told so that they can be typed", {
  skip_without_engine()
  d <- data.frame(a = rnorm(60), b = rnorm(60), n = rep(1:6, 10))
  e <- caught(synthesise(d, formulas = a ~ b, visit_sequence = c("a", "b", "n"), m = 1, seed = 1))
  expect_identical(e$remedy, 'put b before a in visit_sequence: visit_sequence = c("b", "a", "n")')
  expect_s3_class(synthesise(d, formulas = a ~ b, visit_sequence = c("b", "a", "n"), m = 1, seed = 1), "synthetic")
  expect_s3_class(synthesise(d, formulas = a ~ b, m = 1, seed = 1), "synthetic") # b is then drawn first
  expect_match(conditionMessage(caught(synthesise(d, predictor_matrix = diag(3), m = 1))), "cannot use itself", fixed = TRUE)
  expect_no_match(conditionMessage(caught(synthesise(d, levels = list(n = c("low", "high")), m = 1))), "int")
  e <- caught(synthesise(d, schema = list(a = numeric_column(-9, 9)), guarantee = protection("zcpd", rho = 1)))
  expect_identical(e$remedy, "did you mean 'zcdp'?")
  joint <- list(list(columns = c("a", "b"), method = "multivariate_normal"))
  expect_match(caught(synthesise(d, joint = joint, m = 1))$remedy, "ridge = ...", fixed = TRUE)
})
