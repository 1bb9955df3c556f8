test_over_carriers("copies are like the data", {
  s <- synthesise(iris, m = 2, seed = 1)
  expect_s3_class(s, c("synthetic", "synds"), exact = TRUE)
  expect_identical(names(s[[1]]), names(iris))
  expect_identical(levels(s[[2]]$Species), levels(iris$Species))
  expect_identical(dim(s[[1]]), dim(iris))
  expect_identical(nobs(s), 150L)
  expect_identical(s$privacy$status, "none")
})

test_over_carriers("set.seed() governs the draw, and seed does", {
  set.seed(7)
  a <- synthesise(iris, m = 1)
  b <- synthesise(iris, m = 1)
  set.seed(7)
  c <- synthesise(iris, m = 1)
  expect_identical(a$syn, c$syn)
  expect_false(identical(a$syn, b$syn))
  expect_identical(synthesise(iris, m = 1, seed = 3)$syn, synthesise(iris, m = 1, seed = 3)$syn)
})

test_that("types, labels and codes of a tibble stay", {
  skip_without_engine()
  skip_without("haven")
  skip_without("tibble")
  set.seed(2)
  n <- 300
  d <- tibble::tibble(
    sex = haven::labelled(sample(c(1, 2), n, TRUE), c(female = 1, male = 2), label = "Sex"),
    income = haven::labelled_spss(ifelse(stats::runif(n) < 0.2, -8, round(stats::rlnorm(n, 7))),
                                  c(refused = -8), na_values = -8, label = "Income"),
    born = as.Date("1960-01-01") + sample(1e4, n, TRUE),
    employed = sample(c(TRUE, FALSE, NA), n, TRUE),
    count = stats::rpois(n, 3)
  )
  s <- synthesise(d, m = 1, seed = 1)
  copy <- s[[1]]
  expect_s3_class(copy, "tbl_df")
  expect_s3_class(copy$sex, "haven_labelled")
  expect_setequal(unique(as.numeric(copy$sex)), c(1, 2))
  expect_identical(attributes(copy$income), attributes(d$income))
  expect_gt(sum(unclass(copy$income) == -8), 20)
  expect_true(all(unclass(copy$income) == -8 | unclass(copy$income) > 0))
  expect_s3_class(copy$born, "Date")
  expect_type(copy$employed, "logical")
  expect_type(copy$count, "integer")
})

test_that("formulas name predictors, or the columns to draw", {
  skip_without_engine()
  s <- synthesise(Sepal.Length ~ Species, data = iris, m = 1, seed = 1)
  expect_identical(names(s$visit.sequence), c("Species", names(iris)[-5]))
  expect_identical(names(which(s$predictor.matrix["Sepal.Length", ] == 1)), "Species")
  s <- synthesise(~ Species + Sepal.Length, data = iris, m = 1, seed = 1)
  expect_identical(names(s$visit.sequence), c("Species", "Sepal.Length"))
  expect_setequal(names(s[[1]]), c("Species", "Sepal.Length"))
  s <- synthesise(iris, m = 1, seed = 1, formulas = list(Petal.Width ~ Petal.Length * Sepal.Width + I(Petal.Length^2)))
  expect_setequal(names(which(s$predictor.matrix["Petal.Width", ] == 1)), c("Petal.Length", "Sepal.Width"))
  expect_error(synthesise(~ nothing, data = iris), "nothing", class = "pysynthdp_plan_error")
  expect_error(synthesise(Species ~ Sepal.Length), "needs the data", class = "pysynthdp_plan_error")
  expect_identical(synthesise(data = iris, m = 1, seed = 1)$syn, synthesise(iris, m = 1, seed = 1)$syn)
})

test_that("settings arrive", {
  skip_without_engine()
  d <- survey_data()
  d$income[1:40] <- -8
  s <- synthesise(d, m = 2, seed = 1, method = c(age = "norm", income = "lognorm"), k = 120, proper = TRUE,
                  missing = list(income = c(refused = -8)), bounds = list(age = c(18, 99)), drop = "weight",
                  keep = NULL)
  expect_identical(unname(s$method[c("age", "income")]), c("norm", "lognorm"))
  expect_identical(nrow(s[[2]]), 120L)
  expect_true(s$proper)
  expect_identical(s$cont.na$income, c(NA, -8))
  expect_true(all(s[[1]]$age >= 18 & s[[1]]$age <= 99))
  expect_null(s[[1]]$weight)
  expect_identical(s$n, 400L)
  expect_identical(s$k, 120L)
  kept <- synthesise(d, m = 1, seed = 1, keep = "region", visit_sequence = setdiff(names(d), "region"))
  expect_identical(kept[[1]]$region, d$region)
  expect_output(print(kept), "released REAL: region")
  expect_identical(kept$method[["region"]], "")
  expect_error(synthesise(d, m = 1, colour = 1), "colour", class = "pysynthdp_plan_error")
  expect_error(synthesise(d, m = 1, visit_sequence = "age"), "visit_sequence", class = "pysynthdp_plan_error")
  expect_error(synthesise(d, m = 1, method = c(age = "rpart")), "cart", class = "pysynthdp_error")
  expect_error(synthesise(d, m = 1.5), "whole number", class = "pysynthdp_plan_error")
  expect_error(synthesise(d, seed = "a"), "seed", class = "pysynthdp_plan_error")
})

test_that("rows are drawn evenly where asked, and that is told", {
  skip_without_engine()
  d <- survey_data()
  even <- synthesise(d, m = 2, seed = 1, draws = "even")
  expect_identical(even$tags$draws, "even")
  expect_output(print(even), "drawn evenly")
  expect_identical(synthesise(d, m = 2, seed = 1, draws = "independent")$tags$draws, "independent")
  expect_error(synthesise(d, m = 1, draws = "odd"), "draws must be one of", class = "pysynthdp_plan_error")
  expect_error(synthesise(d, m = 1, draws = NA), "draws is NA", class = "pysynthdp_plan_error")
})

test_that("a guarantee is asked for with declared columns", {
  skip_without_engine()
  d <- data.frame(smokes = factor(sample(c("yes", "no"), 500, TRUE)), sex = factor(sample(c("f", "m"), 500, TRUE)))
  schema <- list(smokes = categorical_column(c("no", "yes"), other = "no"), sex = categorical_column(c("f", "m"), other = "f"))
  model <- list(name = "dirichlet", prior = 20)
  s <- synthesise(d, m = 1, schema = schema, method = list(smokes = model, sex = model),
                  guarantee = by_sampling(unit = "person"))
  statement <- privacy_statement(s)
  expect_identical(statement$status, "idealised")
  expect_identical(statement$unit$name, "person")
  expect_gt(statement$points[[1]]$epsilon, 0)
  seeded <- synthesise(d, m = 1, schema = schema, method = list(smokes = model, sex = model),
                       guarantee = by_sampling(), seed = 1)
  expect_identical(seeded$privacy$status, "void")
  expect_error(synthesise(d, guarantee = by_sampling()), "schema", class = "pysynthdp_privacy_error")
})

test_that("noise in the answers is asked for, and pooled by a rule that counts it", {
  skip_without_engine()
  d <- survey_data(2000)[c("age", "sex")]
  schema <- list(age = numeric_column(18, 90, decimals = 0, fallback = 50), sex = categorical_column(c("f", "m"), other = "f"))
  s <- synthesise(d, schema = schema, guarantee = zcdp(0.5, hints = list(age = c(50, 20))))
  expect_output(print(s), "drawn values may lie beyond the declared bounds: age")
  expect_gt(s$m, 5)
  expect_true(s$privacy$status %in% c("idealised", "implemented"))
  expect_equal(s$privacy$guarantee$rho, 0.5, tolerance = 1e-3)
  expect_lte(s$privacy$guarantee$rho, 0.5)
  expect_gt(s$privacy$points[[1]]$epsilon, 0)
  p <- pool(with(s, lm(age ~ sex)))
  expect_match(p$rule, "noise")
  expect_error(synthesise(d, schema = schema, guarantee = zcdp(-1)), class = "pysynthdp_privacy_error")
  expect_error(synthesise(d, schema = schema, guarantee = list(name = "nothing")), "zcdp", class = "pysynthdp_plan_error")
})

test_that("a unit's key bounds its rows, is read and never drawn", {
  skip_without_engine()
  d <- survey_data(2000)[c("age", "sex")]
  d$hid <- sprintf("H%03d", (seq_len(2000) * 7) %% 300)
  schema <- list(age = numeric_column(18, 90, decimals = 0, fallback = 50), sex = categorical_column(c("f", "m"), other = "f"))
  asked <- zcdp(20, rows_per_unit = 4, unit = "household", unit_key = "hid")
  s <- synthesise(d, schema = schema, guarantee = asked)
  expect_named(s$syn[[1]], c("age", "sex"))
  expect_equal(s$privacy$unit$key, "hid")
  expect_match(s$privacy$contributions[[1]], "enforced by hid")
  expect_gt(s$tags$clipped, 0.3)
  bare <- synthesise(d[c("age", "sex")], schema = schema, guarantee = zcdp(1, unit = "person"))
  expect_equal(bare$privacy$contributions[[1]], "one row a person: assumed, not checked")
  sampled <- synthesise(d["sex"], schema = schema["sex"], method = list(sex = list(name = "dirichlet", prior = 20)),
                        guarantee = by_sampling(unit = "person"), m = 1)
  expect_match(paste(unlist(sampled$privacy$not_covered), collapse = " "), "is unknown (counting would cost)", fixed = TRUE)
  expect_error(synthesise(d, schema = c(schema, list(hid = categorical_column("H001", other = "H001"))), guarantee = asked),
               "hid is the key", class = "pysynthdp_privacy_error")
})

test_that("plans and looks are texts", {
  skip_without_engine()
  expect_output(print(look(iris)), "Sepal.Length")
  expect_output(print(synthesis_plan(iris, method = c(Petal.Width = "norm"))), "norm")
  expect_output(print(synthesis_plan(schema = list(age = numeric_column(18, 99, decimals = 0)), n = 100)), "age")
})

test_that("a fit that loses a curve warns, and a check lists it", {
  skip_without_engine()
  set.seed(2)
  d <- data.frame(age = round(stats::rnorm(1500, 50, 12), 1))
  d$income <- round(1.2 * (d$age - 50)^2 + stats::rnorm(1500, 0, 300), 1)
  asked <- list(d, method = c(income = "norm"), terms = "main", visit_sequence = c("age", "income"))
  expect_warning(do.call(synthesise, c(asked, m = 1, seed = 1)), "curve in age is lost", class = "pysynthdp_warning")
  check <- suppressWarnings(do.call(check_synthesis, asked))
  expect_output(print(check), "INTERNAL")
  expect_equal(check$table$what[[1]], "curve")
  expect_equal(nrow(check_synthesis(iris["Sepal.Length"])$table), 0)
})

test_that("what is not a data frame, or has odd columns, is refused", {
  expect_error(synthesise(1:3), "data frame", class = "pysynthdp_bridge_error")
  expect_error(synthesise(list(a = 1)), "data frame", class = "pysynthdp_bridge_error")
  d <- data.frame(a = 1:2, b = 1:2)
  names(d) <- c("a", "a")
  expect_error(synthesise(d), "same name", class = "pysynthdp_schema_error")
  skip_without_engine()
  expect_error(synthesise(data.frame()), class = "pysynthdp_error")
  expect_error(synthesise(iris[0, ]), class = "pysynthdp_error")
  d <- data.frame(x = 1:3)
  d$m <- matrix(1:6, 3)
  expect_error(synthesise(d), "'m'", class = "pysynthdp_bridge_error")
  expect_error(synthesise(data.frame(id = paste0("p", 1:50), x = stats::rnorm(50))), "id", class = "pysynthdp_schema_error")
})

test_that("missing cells of a copy are NA, not NaN", {
  skip_without_engine()
  set.seed(3)
  d <- data.frame(g = factor(rep(c("a", "b"), 60)), x = c(NA, NA, NaN, NA, NaN, NA, round(stats::rnorm(114), 1)))
  x <- synthesise(d, m = 1, seed = 2)[[1]]$x
  expect_true(anyNA(x))
  expect_false(any(is.nan(x)))
})

test_that("tagged missing values with labels are kinds of the copies; others are lost with a warning", {
  skip_without_engine()
  skip_without("haven")
  d <- data.frame(other = rep(c(1.5, 2, 3), 40))
  d$pay <- haven::labelled(c(rep(haven::tagged_na("a", "b"), 10), 21:120), c(refused = haven::tagged_na("a")))
  expect_warning(s <- synthesise(d, m = 1, seed = 1), "pay: its missing values are of kinds", class = "pysynthdp_warning")
  expect_setequal(haven::na_tag(s[[1]]$pay), c("a", NA))
  both <- list(pay = c(refused = ".a", unknown = ".b"))
  expect_no_warning(s <- synthesise(d, m = 1, seed = 1, missing = both))
  expect_setequal(haven::na_tag(s[[1]]$pay), c("a", "b", NA))
  expect_identical(attr(s[[1]]$pay, "labels"), attr(d$pay, "labels"))
  expect_no_warning(kept <- synthesise(d, m = 1, keep = "pay", seed = 1))
  expect_identical(haven::na_tag(kept[[1]]$pay), haven::na_tag(d$pay))
})

test_that("a seed leaves R's own generator alone", {
  skip_without_engine()
  set.seed(5)
  next_number <- stats::runif(1)
  set.seed(5)
  synthesise(iris, m = 1, seed = 1)
  expect_identical(stats::runif(1), next_number)
})

imputations <- function() {
  lapply(1:3, function(i) {
    set.seed(i)
    d <- iris
    d$Sepal.Width[1:50] <- round(rnorm(50, 3, 0.4), 1)
    d
  })
}

test_over_carriers("a list of imputed tables gives copies in nests, pooled by them", {
  tables <- imputations()
  made <- synthesise(tables, m = 2, seed = 1)
  expect_identical(unlist(made$tags$nests), rep(c("1", "2", "3"), each = 2L))
  pooled <- pysynthdp::pool(with(made, lm(Sepal.Width ~ Petal.Length)))
  expect_identical(pooled$rule, "missing_then_partial_reiter2004")
  expect_identical(synthesise(stats::setNames(tables, letters[1:3]), m = 2, seed = 1)$syn, made$syn)
  q <- vapply(made$syn, function(d) coef(lm(Sepal.Width ~ Petal.Length, d))[[2L]], 0)
  u <- vapply(made$syn, function(d) vcov(lm(Sepal.Width ~ Petal.Length, d))[2L, 2L], 0)
  nest <- rep(1:3, each = 2L)
  between <- var(tapply(q, nest, mean))
  expect_equal(vcov(pooled)[2L, 2L], (1 + 1 / 3) * between - mean(tapply(q, nest, var)) / 2 + mean(u))
})

test_that("mids objects are taken with all their imputations", {
  skip_without_engine()
  skip_without("mice")
  imp <- suppressWarnings(mice::mice(mice::nhanes2[rep(1:25, 8), ], m = 2, maxit = 1, printFlag = FALSE, seed = 1))
  made <- synthesise(imp, m = 2, method = list(bmi = "norm", chl = "norm"), seed = 1)
  expect_identical(unlist(made$tags$nests), c("1", "1", "2", "2"))
})

test_that("what is no list of imputations is refused", {
  skip_without_engine()
  tables <- imputations()
  expect_error(synthesise(tables[1L]), "holds one table", class = "pysynthdp_schema_error")
  expect_error(synthesise(list(1, 2)), "must be a data frame", class = "pysynthdp_bridge_error")
  expect_error(synthesise(list(tables[[1L]], tables[[2L]][-1L, ])), "number of rows", class = "pysynthdp_schema_error")
  expect_error(synthesise(tables, guarantee = zcdp(0.5), schema = list(Species = categorical_column(letters))),
               "spend the budget again", class = "pysynthdp_privacy_error")
})

# What a call says beside its value.
with_warnings <- function(code) {
  said <- character()
  value <- withCallingHandlers(code, warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  list(value = value, said = paste(said, collapse = "\n"))
}

test_that("what one record has is in no copy, and the column is named", {
  skip_without_engine()
  set.seed(3)
  d <- data.frame(sex = sample(c("f", "m"), 300, TRUE), lottery = NA_real_, drawn = as.Date(NA))
  d$lottery[7] <- 41237.5625
  d$drawn[9] <- as.Date("1931-05-17")
  found <- with_warnings(synthesise(d, m = 2, seed = 1))
  for (copy in found$value$syn) {
    expect_true(all(is.na(copy$lottery)))
    expect_true(all(is.na(copy$drawn)))
    expect_s3_class(copy$drawn, "Date")
  }
  expect_match(found$said, "lottery: fewer than five records have a value")
  expect_match(found$said, "drawn: fewer than five records have a value")
  expect_match(found$said, 'keep = "lottery"', fixed = TRUE)
  expect_no_match(found$said, "41237|1931")
  expect_error(synthesise(d[1:4, ], m = 1), "fewer than five rows", class = "pysynthdp_fit_error")
})

test_that("levels of a factor that nobody has are left out unless they are declared", {
  skip_without_engine()
  set.seed(4)
  all <- c("Ash", "Birch", paste("Family", 1:500))
  for (ordered in c(FALSE, TRUE)) {
    d <- data.frame(y = stats::rnorm(200), family = factor(sample(all[1:2], 200, TRUE), all, ordered = ordered))
    found <- with_warnings(synthesise(d, m = 1, seed = 1))
    expect_identical(levels(found$value[[1]]$family), all[1:2])
    expect_identical(is.ordered(found$value[[1]]$family), ordered)
    expect_match(found$said, "family: 500 of its categories occur in no record")
    expect_match(found$said, "levels = list(family = ", fixed = TRUE)
    declared <- synthesise(d, m = 1, seed = 1, levels = list(family = all))
    expect_identical(levels(declared[[1]]$family), all)
  }
})

test_that("a dropped column may be of any class", {
  skip_without_engine()
  d <- survey_data()[c("age", "sex")]
  d$when <- as.POSIXlt("2024-01-01", tz = "UTC") + seq_len(nrow(d))
  d$when <- as.POSIXlt(d$when)
  d$both <- cbind(d$age, d$age)
  d$fit <- rep(list(mean), nrow(d))
  other <- d
  other$age <- rev(d$age)
  odd <- c("when", "both", "fit")
  expect_error(synthesise(d, m = 1, drop = odd[-1]), "POSIXlt", class = "pysynthdp_bridge_error")
  expect_identical(names(synthesise(d, m = 1, drop = odd)$syn), c("age", "sex"))
  expect_identical(names(synthesise(list(d, other), m = 1, drop = odd)[[1]]), c("age", "sex"))
  expect_output(print(look(d, drop = odd)), "age")
  expect_identical(synthesis_plan(d, drop = odd)$visit.sequence, c("sex", "age"))
})
