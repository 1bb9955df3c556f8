coded_data <- function(n = 600L) {
  set.seed(3)
  age <- round(stats::runif(n, 18, 90))
  income <- round(500 + 20 * age + stats::rnorm(n, 0, 150))
  income[stats::runif(n) < 0.15] <- -8
  vote <- factor(sample(c("a", "b", "refused"), n, TRUE, c(0.5, 0.4, 0.1)))
  day <- as.Date("2020-01-01") + sample(0:500, n, TRUE)
  day[stats::runif(n) < 0.1] <- as.Date("1970-01-01")
  data.frame(age, vote, day, income)
}

coded_copies <- function() {
  synthesise(coded_data(), m = 3, seed = 1, missing = list(income = c(refused = -8), vote = "refused", day = 0))
}

test_that("declared codes are no values in any analysis", {
  skip_without_engine()
  s <- coded_copies()
  by_hand <- function(d) {
    d[d$income != -8 & d$vote != "refused", ]
  }
  p <- pool(with(s, lm(income ~ age + vote)))
  expect_named(coef(p), c("(Intercept)", "age", "voteb"))
  hand <- lapply(copies(s), function(d) coef(lm(income ~ age + vote, droplevels(by_hand(d)))))
  expect_equal(coef(p), rowMeans(simplify2array(hand)), tolerance = 1e-12)
  cells <- sum(vapply(copies(s), function(d) sum(d$income == -8), 0))
  expect_match(paste(p$notes, collapse = " "), paste("income", cells))
  expect_equal(coef(pool(synth_lm(income ~ age + vote, s))), coef(p))
  days <- pool(with(s, lm(income ~ day)))
  expect_gt(coef(days)[["(Intercept)"]], -1e6)
  expect_match(paste(days$notes, collapse = " "), "day [0-9]")
  all <- pool(with(s, lm(income ~ age + vote), codes = "keep"))
  expect_named(coef(all), c("(Intercept)", "age", "voteb", "voterefused"))
  expect_match(paste(all$notes, collapse = " "), "as if they were values")
  hand <- pool(lapply(copies(s), function(d) lm(income ~ age, d)), s)
  expect_match(paste(hand$notes, collapse = " "), paste("income", cells))
})

test_that("the confidential side is compared without codes too", {
  skip_without_engine()
  d <- coded_data()
  p <- pool(with(coded_copies(), lm(income ~ age + vote)))
  found <- as.data.frame(compare_synthetic(p, d))
  real <- coef(lm(income ~ age + vote, droplevels(d[d$income != -8 & d$vote != "refused", ])))
  expect_equal(found$confidential, unname(real), tolerance = 1e-10)
})

test_that("a separated level is left out, and the rest stands", {
  skip_without_engine()
  s <- synthesise(survey_data(), m = 4, seed = 1)
  island <- seq_len(15L)
  s$syn <- lapply(seq_along(s$syn), function(i) {
    d <- s$syn[[i]]
    d$region <- as.character(d$region)
    d$region[island] <- "island"
    d$region <- factor(d$region, c("north", "south", "west", "island"))
    d$smokes[island] <- rep(c("yes", "no"), length.out = 15L)
    if (i == 2L) d$smokes[island] <- "no"
    d
  })
  s <- as_if_drawn(s)
  fits <- with(s, suppressWarnings(glm(smokes ~ age + region, family = binomial)))
  p <- pool(fits)
  expect_true(is.na(coef(p)[["regionisland"]]))
  expect_false(anyNA(coef(p)[c("age", "regionsouth", "regionwest")]))
  expect_match(paste(p$notes, collapse = " "), "regionisland cannot be estimated in copy 2")
  sparse <- pool(with(s, glm(I(smokes == "yes" & seq_along(smokes) != 2) ~ age, family = binomial)))
  expect_false(anyNA(coef(sparse)))
})

test_that("codes of durations are counted as the schema counts them", {
  x <- as.difftime(c(1, 2, NA), units = "hours")
  expect_identical(pysynthdp:::is_code(x, list(codes = 7200, unit = "second")), c(FALSE, TRUE, FALSE))
  expect_identical(pysynthdp:::is_code(as.Date("1970-01-03"), list(codes = 2, unit = "number")), TRUE)
})
