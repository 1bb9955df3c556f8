# Tests need the engine. Where PYSYNTHDP_TESTS_MUST_RUN is set, its absence is a failure, not a skip.
skip_without_engine <- function() {
  if (engine_available()) return(invisible())
  if (nzchar(Sys.getenv("PYSYNTHDP_TESTS_MUST_RUN"))) synth_engine() # fails with the reason
  skip("the engine is not installed here")
}

skip_without <- function(package) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  must <- strsplit(Sys.getenv("PYSYNTHDP_TESTS_MUST_RUN"), ",")[[1L]]
  if (package %in% must) stop(package, " is not installed, and must be here")
  skip(paste(package, "is not installed"))
}

carriers <- function() {
  known <- c(worker = "processx", oneshot = "base", reticulate = "reticulate")
  asked <- Sys.getenv("PYSYNTHDP_TEST_CARRIERS")
  if (nzchar(asked)) return(strsplit(asked, ",")[[1L]])
  names(known)[vapply(known, requireNamespace, NA, quietly = TRUE)]
}

only_by_worker <- function() {
  if (!is.null(state()$embedded)) skip("R runs inside the engine")
  skip_without("processx")
}

# Runs a test once for each carrier.
test_over_carriers <- function(what, code) {
  code <- substitute(code)
  envir <- parent.frame()
  for (carrier in carriers()) {
    test_that(paste(what, "by", carrier), {
      old <- options(pysynthdp.transport = carrier)
      on.exit(options(old))
      skip_without_engine()
      eval(code, new.env(parent = envir))
    })
  }
}

ask <- function(...) pysynthdp:::ask(...)
state <- function() pysynthdp:::.state

# Copies that a test made by hand, in an object that takes them for those that were drawn.
as_if_drawn <- function(s) {
  s$digest <- pysynthdp:::digests_of(copies(s))
  s
}

# One column of every kind that needs no other package.
kinds <- function() {
  d <- data.frame(
    integer = c(1L, NA, 3L), double = c(1.5, NA, NaN), infinite = c(Inf, -Inf, 0), logical = c(TRUE, NA, FALSE),
    none = NA, text = c("a", NA, ""), unicode = c("\u00fc", "\u4e2d", "\U0001F600"),
    factor = factor(c("u", NA, "v"), levels = c("v", "u", "unused")),
    ordered = factor(c("lo", "hi", NA), levels = c("lo", "mid", "hi"), ordered = TRUE),
    date = as.Date(c("2020-02-29", NA, "1900-01-01")),
    time = as.POSIXct(c("2020-10-25 01:30:00", NA, "2020-07-01 00:00:00"), tz = "Europe/London"),
    span = as.difftime(c(1, NA, 2.5), units = "days"), complex = c(1 + 2i, NA, 0i)
  )
  d$date_integer <- structure(c(0L, NA, 20000L), class = "Date")
  d$na_level <- addNA(factor(c("a", NA, "b")))
  d$raw <- as.raw(0:2)
  latin <- c("caf\xe9", NA, "x")
  Encoding(latin) <- "latin1"
  d$latin <- latin
  attr(d$double, "label") <- "income"
  d$listed <- list(1:2, "a", NULL)
  d
}

# Survey-like data for fits.
survey_data <- function(n = 400L) {
  set.seed(20)
  age <- round(stats::runif(n, 18, 90))
  sex <- factor(sample(c("f", "m"), n, TRUE))
  income <- round(exp(7 + 0.01 * age + 0.2 * (sex == "m") + stats::rnorm(n, 0, 0.4)))
  health <- cut(stats::rnorm(n) - age / 50, c(-Inf, -1.5, -0.5, Inf), c("bad", "fair", "good"), ordered_result = TRUE)
  region <- factor(sample(c("north", "south", "west"), n, TRUE))
  smokes <- factor(ifelse(stats::runif(n) < stats::plogis(1 - age / 40), "yes", "no"))
  data.frame(age, sex, income, health, region, smokes, weight = round(stats::runif(n, 1, 3), 2))
}

# Survey-like data with columns that are no plain vectors.
odd_columns <- function(n = 400L) {
  d <- survey_data(n)[c("age", "sex", "region")]
  d$agrees <- haven::labelled(sample(c(0, 1, 9), n, TRUE, c(6, 5, 1)), c(no = 0, yes = 1, refused = 9), "Agrees")
  score <- ifelse(stats::runif(n) < 0.1, -8, round(stats::rnorm(n, 50, 9)))
  d$score <- haven::labelled_spss(score, c(refused = -8), na_values = -8)
  d$born <- as.Date("1950-01-01") + sample.int(18000L, n, TRUE)
  d$seen <- as.POSIXct("2024-01-01", tz = "UTC") + 60 * sample.int(90000L, n, TRUE)
  d$took <- as.difftime(round(stats::rexp(n, 1 / 20)) + 1, units = "mins")
  d
}
