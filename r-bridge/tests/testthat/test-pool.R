copies_of <- function(m = 5, ...) synthesise(survey_data(), m = m, seed = 1, ...)

# T = f u + b / m with f = n_syn / n_org, by hand
by_hand <- function(fits) {
  q <- sapply(fits, coef)
  u <- sapply(fits, function(f) diag(vcov(f)))
  sqrt(rowMeans(u) + apply(q, 1, var) / length(fits))
}

test_over_carriers("pooled numbers are those of the formula", {
  s <- copies_of()
  fits <- with(s, lm(income ~ age + sex))
  p <- pool(fits)
  expect_s3_class(p, "synthetic_pooled")
  expect_equal(coef(p), rowMeans(sapply(fits$analyses, coef)), tolerance = 1e-14)
  expect_equal(sqrt(diag(vcov(p))), by_hand(fits$analyses), tolerance = 1e-13)
  expect_identical(p$rule, "partial_size_adjusted")
})

test_that("tidy and glance are broom's", {
  skip_without_engine()
  skip_without("generics")
  p <- pool(with(copies_of(), lm(income ~ age + sex)))
  tidied <- generics::tidy(p, conf.int = TRUE)
  expect_named(tidied, c("term", "estimate", "std.error", "statistic", "df", "p.value", "conf.low", "conf.high"))
  expect_equal(tidied$statistic, tidied$estimate / tidied$std.error)
  expect_equal(tidied$p.value, 2 * stats::pt(-abs(tidied$statistic), tidied$df), tolerance = 1e-10)
  expect_equal(tidied$conf.low, tidied$estimate - stats::qt(0.975, tidied$df) * tidied$std.error, tolerance = 1e-12)
  expect_identical(generics::glance(p)$m, 5L)
  expect_equal(confint(p, "age", level = 0.9)[1, 2], unname(coef(p)["age"] + stats::qt(0.95, p$pooled$df[2]) * sqrt(vcov(p)["age", "age"])))
  expect_error(confint(p, level = 2), class = "pysynthdp_plan_error")
  expect_output(print(p), "partial_size_adjusted")
  expect_output(print(summary(p)), "Rule:")
})

test_that("any fit with coef and vcov is understood", {
  skip_without_engine()
  s <- copies_of()
  expect_same <- function(fits) {
    p <- pool(fits)
    expect_true(all(is.finite(coef(p))) && all(p$pooled$std.error > 0))
    p
  }
  g <- expect_same(with(s, glm(smokes ~ age + sex, family = binomial)))
  expect_equal(sqrt(diag(vcov(g))), by_hand(with(s, glm(smokes ~ age + sex, family = binomial))$analyses))
  expect_same(with(s, nls(income ~ a + b * age, start = list(a = 1000, b = 10))))
  skip_without("MASS")
  o <- expect_same(with(s, MASS::polr(health ~ age, Hess = TRUE)))
  expect_identical(names(coef(o)), c("age", "bad|fair", "fair|good"))
  skip_without("nnet")
  n <- expect_same(with(s, nnet::multinom(region ~ age, trace = FALSE)))
  expect_identical(names(coef(n)), c("south:(Intercept)", "south:age", "west:(Intercept)", "west:age"))
  fit <- nnet::multinom(region ~ age, data = s[[1]], trace = FALSE)
  expect_equal(pysynthdp:::fit_estimates(fit)$values, as.vector(t(coef(fit))))
  skip_without("survey")
  v <- expect_same(with(s, survey::svyglm(income ~ age, survey::svydesign(~1, weights = ~weight, data = .copy))))
  expect_identical(names(coef(v)), c("(Intercept)", "age"))
})

test_that("synth_lm() and synth_glm() are short for with()", {
  skip_without_engine()
  s <- copies_of()
  expect_identical(coef(pool(synth_lm(income ~ age, s))), coef(pool(with(s, lm(income ~ age)))))
  expect_identical(coef(pool(synth_lm(income ~ age, s, weights = weight))),
                   coef(pool(with(s, lm(income ~ age, weights = weight)))))
  expect_identical(coef(pool(synth_glm(smokes ~ age, binomial, s))),
                   coef(pool(with(s, glm(smokes ~ age, family = binomial)))))
  written <- income ~ age
  expect_identical(coef(pool(synth_lm(written, s))), coef(pool(synth_lm(income ~ age, s))))
  expect_identical(coef(pool(with(s, lm(written)))), coef(pool(synth_lm(income ~ age, s))))
  expect_length(coef(pool(with(s, lm(income ~ .)))), 9L)
  cut <- 50
  expect_identical(names(coef(pool(with(s, lm(income ~ I(age > cut)))))), c("(Intercept)", "I(age > cut)TRUE"))
})

test_that("a list of fits or of estimates is pooled too", {
  skip_without_engine()
  s <- copies_of()
  fits <- lapply(copies(s), function(d) lm(income ~ age, data = d))
  expect_identical(coef(pool(fits, s)), coef(pool(with(s, lm(income ~ age)))))
  means <- lapply(copies(s), function(d) list(mean(d$age), var(d$age) / nrow(d)))
  p <- pool(means, s)
  expect_identical(p$pooled$term, "estimate 1")
  expect_equal(p$pooled$estimate, mean(sapply(means, `[[`, 1)))
  two <- pool(list(list(0.41, 0.0018), list(0.55, 0.0017)), n_syn = 500, n_org = 500)
  expect_equal(two$pooled$estimate, 0.48)
})

test_that("rules that are not valid are refused with one that is", {
  skip_without_engine()
  s <- copies_of()
  expect_error(pool(with(s, lm(income ~ age)), rule = "missing_rubin1987"), "valid here", class = "pysynthdp_combining_rule_error")
  real <- synthesise(survey_data(), m = 1, seed = 1, keep = "region", visit_sequence = c("age", "sex", "income", "health", "smokes", "weight"))
  expect_error(pool(with(real, lm(income ~ region))), class = "pysynthdp_combining_rule_error")
  expect_identical(pool(with(real, lm(income ~ age)))$m, 1L)
  expect_error(pool(with(s, lm(income ~ age)), colour = 1), "colour", class = "pysynthdp_plan_error")
  expect_error(pool(with(s, lm(income ~ nothing))), "copy 1", class = "pysynthdp_fit_error")
  expect_error(pool(with(s, table(sex))), "coef", class = "pysynthdp_fit_error")
})

test_that("one copy is pooled by the rule for one copy", {
  skip_without_engine()
  s <- copies_of(m = 1)
  fit <- lm(income ~ age, data = s[[1]])
  p <- pool(with(s, lm(income ~ age)))
  expect_identical(p$rule, "raab_simple")
  expect_equal(sqrt(diag(vcov(p))), sqrt(2) * sqrt(diag(vcov(fit))), tolerance = 1e-12)
})

test_that("objects of mice go to mice", {
  skip_without("mice")
  imp <- mice::mice(mice::nhanes, m = 2, maxit = 1, printFlag = FALSE, seed = 1)
  expect_s3_class(pool(with(imp, lm(bmi ~ age))), "mipo")
})

test_that("polr() needs not be asked for its covariance", {
  skip_without_engine()
  skip_without("MASS")
  s <- synthesise(survey_data(), m = 3, seed = 1)
  asked <- pool(with(s, MASS::polr(health ~ age, Hess = TRUE)))
  expect_equal(pool(with(s, MASS::polr(health ~ age)))$pooled, asked$pooled)
})

test_that("the table says what the copies do not hold, and nothing where the plan holds it", {
  skip_without_engine()
  s <- copies_of()
  flags <- function(fits) paste(pool(fits)$flags, collapse = " ")
  last <- utils::tail(names(s$syn[[1L]])[vapply(s$syn[[1L]], is.numeric, NA)], 1L)
  first <- setdiff(names(s$syn[[1L]])[vapply(s$syn[[1L]], is.numeric, NA)], last)[[1L]]
  expect_identical(flags(synth_lm(stats::reformulate(first, last), s)), "")
  expect_identical(flags(synth_lm(stats::reformulate(sprintf("I(%s / 10)", first), last), s)), "")
  straight <- copies_of(terms = "main") # nothing is tested there
  of <- function(right, copies) flags(synth_lm(stats::reformulate(sprintf(right, first), last), copies))
  for (right in c("I(%s^2)", "poly(%s, 2)")) expect_match(of(right, straight), "interactions or powers")
  expect_match(of("splines::ns(%s, 3)", straight), "straight lines")
  for (right in c("I(%s^2)", "poly(%s, 2)", "splines::ns(%s, 3)")) expect_match(of(right, s), "tested.*not kept")
  expect_match(flags(synth_lm(stats::reformulate(last, first), s)), "visit_sequence")
  p <- pool(with(s, lm(income ~ age * sex)))
  expect_match(p$flags[[1L]], "age:sex", fixed = TRUE)
  expect_output(print(p), "valid under the synthesis model")
  expect_output(print(summary(p)), "flag: age:sex", fixed = TRUE)
  expect_match(flags(with(s, lm(income ~ age, subset = sex == "f"))), "within sex ==")
})

test_that("a p-value below a thousandth is printed as no more than that, and kept in full", {
  skip_without_engine()
  p <- pool(with(copies_of(), lm(income ~ age + sex)))
  tiny <- which(p$pooled$p.value < 0.001)
  expect_gt(length(tiny), 0L)
  for (shown in list(p, summary(p))) {
    said <- utils::capture.output(print(shown))
    expect_match(said[startsWith(said, p$pooled$term[tiny[1L]])], "<0.001", fixed = TRUE)
    expect_false(any(grepl("e-[0-9]{2,}", said)))
  }
})
