# Fits must be of one model, made from the copies in their order, and their coefficients must mean the same.

copies_of <- function(m = 5, ...) synthesise(survey_data(), m = m, seed = 1, ...)

missing_terms <- function(p) p$pooled$term[!is.finite(p$pooled$estimate)]

# The second copy draws no level of a column.
lacking <- function(s, column, level) {
  kept <- s$syn[[2L]][s$syn[[2L]][[column]] != level, ]
  s$syn[[2L]] <- kept[rep_len(seq_len(nrow(kept)), nobs(s)), ]
  row.names(s$syn[[2L]]) <- NULL
  as_if_drawn(s)
}

test_that("a copy without the reference level takes out what rests on it", {
  skip_without_engine()
  s <- lacking(copies_of(), "region", "north")
  p <- pool(with(s, lm(income ~ age + region)))
  expect_identical(missing_terms(p), c("(Intercept)", "regionsouth", "regionwest"))
  expect_equal(coef(p)[["age"]], mean(sapply(with(s, lm(income ~ age + region))$analyses, function(f) coef(f)[["age"]])))
  expect_match(p$notes[[1L]], "region.*copy 2")
  g <- pool(with(s, glm(smokes ~ age * region + weight, family = binomial)))
  expect_identical(setdiff(g$pooled$term, missing_terms(g)), "weight")
  other <- pool(with(lacking(copies_of(), "region", "west"), lm(income ~ age + region)))
  expect_identical(missing_terms(other), "regionwest")
  sums <- pool(with(s, lm(income ~ age + region, contrasts = list(region = contr.sum))))
  expect_identical(setdiff(sums$pooled$term, missing_terms(sums)), "age")
  skip_without("nnet")
  n <- pool(with(s, nnet::multinom(health ~ age + region, trace = FALSE)))
  expect_identical(setdiff(n$pooled$term, missing_terms(n)), c("fair:age", "good:age"))
  skip_without("survival")
  h <- pool(with(s, survival::coxph(survival::Surv(age, smokes == "yes") ~ region + weight)))
  expect_identical(setdiff(h$pooled$term, missing_terms(h)), "weight")
  expect_length(missing_terms(pool(with(copies_of(), survival::coxph(survival::Surv(age) ~ region + weight)))), 0L)
})

test_that("terms that are collinear in one copy are not pooled", {
  skip_without_engine()
  s <- copies_of()
  s$syn[[2L]]$weight <- 3 * s$syn[[2L]]$age
  s <- as_if_drawn(s)
  p <- pool(with(s, lm(income ~ age + weight + sex)))
  expect_identical(missing_terms(p), c("age", "weight"))
  all <- pool(with(copies_of(), lm(income ~ age + I(2 * age) + sex)))
  expect_identical(missing_terms(all), "I(2 * age)")
})

test_that("a basis learned in each copy is noted, and a fixed one is not", {
  skip_without_engine()
  s <- copies_of()
  expect_match(pool(with(s, lm(income ~ poly(age, 2))))$notes, "poly\\(age, 2\\): learned")
  expect_match(pool(with(s, lm(income ~ scale(age) + sex)))$notes, "scale")
  skip_without("splines")
  expect_match(pool(with(s, glm(smokes ~ splines::ns(age, 3), family = binomial)))$notes, "ns")
  fixed <- pool(with(s, lm(income ~ splines::ns(age, knots = c(40, 60), Boundary.knots = c(18, 90)))))
  expect_length(fixed$notes, 0L)
})

test_that("data that is not the copy is refused in with()", {
  skip_without_engine()
  s <- copies_of()
  real <- survey_data()
  expect_error(with(s, lm(income ~ age, data = real)), "data = real", class = "pysynthdp_fit_error")
  expect_error(with(s, lm(income ~ age, real)), "not the copy")
  expect_error(with(s, summary(lm(income ~ age, data = s[[1]]))), "not the copy")
  expect_error(pool(with(s, lm(real$income ~ real$age))), "something else", class = "pysynthdp_fit_error")
  expect_identical(coef(pool(with(s, lm(income ~ age, data = .copy)))), coef(pool(with(s, lm(income ~ age)))))
  expect_true(all(is.finite(coef(pool(with(s, lm(income ~ age, data = subset(.copy, age > 30))))))))
})

test_that("a list of fits is held against the copies", {
  skip_without_engine()
  s <- copies_of()
  fits <- lapply(copies(s), function(d) lm(income ~ age + sex, data = d))
  expect_length(pool(fits, s)$notes, 0L)
  expect_error(pool(rev(fits), s), "copy 1 was made from copy 5")
  real <- survey_data()
  expect_error(pool(lapply(1:5, function(i) lm(income ~ age + sex, real)), s), "no copy has")
  expect_error(pool(rep(list(lm(income ~ age, real)), 5), n_syn = 400, n_org = 400), "something else")
  odd <- function(fit) pool(c(fits[1:4], list(fit)), s)
  expect_error(odd(lm(income ~ age, s[[5]])), "copy 5.*income ~ age,")
  expect_error(odd(lm(weight ~ age + sex, s[[5]])), "explains weight")
  expect_error(odd(glm(income ~ age + sex, data = s[[5]])), "glm")
  expect_error(odd(lm(income ~ age + sex, s[[5]][1:150, ])), "copy 5 used 150 of 400 complete rows")
  older <- lapply(copies(s), function(d) lm(income ~ age + sex, data = d[d$age > 50, ]))
  expect_true(all(is.finite(coef(pool(older, s)))))
  shuffled <- lapply(copies(s), function(d) lm(income ~ age + sex, data = d[order(d$age), ]))
  expect_equal(coef(pool(shuffled, s)), coef(pool(fits, s)))
})

test_that("fits of columns that are real are equal, and pass", {
  skip_without_engine()
  s <- copies_of(keep = c("age", "sex"))
  p <- pool(with(s, lm(age ~ sex)))
  expect_equal(coef(p), coef(lm(age ~ sex, s[[1]])))
})

test_that("what is no list of fits gets one sentence", {
  skip_without_engine()
  s <- copies_of(m = 2)
  fit <- lm(income ~ age, s[[1]])
  for (wrong in list(survey_data(), fit, s, NULL, "fits", 3, pool(with(s, lm(income ~ age))))) {
    expect_error(pool(wrong), "fits of all copies", class = "pysynthdp_fit_error")
  }
  expect_error(pool(copies(s), s), "copy 1", class = "pysynthdp_fit_error")
  expect_error(pool(list(summary(fit), summary(fit)), s), "copy 1", class = "pysynthdp_fit_error")
})

test_that("arguments of broom, mice and synthpop are done or refused", {
  skip_without_engine()
  p <- pool(with(copies_of(), glm(smokes ~ age + sex, family = binomial)))
  shown <- coef(summary(p, exponentiate = TRUE))
  expect_equal(shown[, 1L], exp(coef(p)))
  expect_equal(unname(shown[, 6:7]), unname(exp(confint(p))))
  expect_equal(shown[, 2L], sqrt(diag(vcov(p))))
  expect_identical(ncol(coef(summary(p, conf.int = FALSE))), 5L)
  expect_equal(coef(summary(p, population.inference = TRUE)), coef(summary(p)))
  expect_error(summary(p, population.inference = FALSE), "population.inference", class = "pysynthdp_plan_error")
  expect_error(summary(p, type = "all"), "type", class = "pysynthdp_plan_error")
  expect_error(confint(p, digits = 2), "digits", class = "pysynthdp_plan_error")
  expect_warning(summary(pool(with(copies_of(), glm(income ~ age))), exponentiate = TRUE), "link")
  skip_without("broom")
  tidied <- broom::tidy(p, exponentiate = TRUE, conf.int = TRUE, conf.level = 0.9)
  expect_equal(tidied$estimate, unname(exp(coef(p))))
  expect_equal(tidied$conf.high, unname(exp(confint(p, level = 0.9)[, 2L])))
  expect_equal(tidied$std.error, unname(sqrt(diag(vcov(p)))))
  expect_error(broom::tidy(p, effects = "fixed"), "effects", class = "pysynthdp_plan_error")
})
