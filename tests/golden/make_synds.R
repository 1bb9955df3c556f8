# Writes objects of class "synds", with the fields and types that the help page of synthpop's syn() and syn.strata()
# lists under Value, to tests/golden/r.
#
#   Rscript --vanilla tests/golden/make_synds.R tests/golden/r
#
# Every value is made here: no data set is read, and synthpop itself is not needed.

out <- commandArgs(trailingOnly = TRUE)[[1L]]
stopifnot(dir.exists(out))
RNGversion("4.0.0")
set.seed(1847)

n <- 60L
survey <- data.frame(
  age = sample(18:90, n, TRUE),
  sex = factor(sample(c("f", "m"), n, TRUE)),
  income = round(stats::rlnorm(n, 7, 0.5)),
  health = factor(sample(c("bad", "fair", "good"), n, TRUE), levels = c("bad", "fair", "good"), ordered = TRUE)
)
survey$income[c(3L, 8L, 21L, 40L)] <- -8
survey$income[c(5L, 50L)] <- NA

copy_of <- function(visited, k) {
  copy <- survey[rep_len(seq_len(n), k), ]
  rownames(copy) <- NULL
  copy[visited] <- lapply(survey[visited], sample, size = k, replace = TRUE)
  copy
}

synds <- function(m, visited = names(survey), method = rep("cart", 4L), proper = FALSE, k = n) {
  vars <- names(survey)
  none <- stats::setNames(rep("", 4L), vars)
  listed <- function(x) stats::setNames(rep(list(x), 4L), vars)
  predictors <- matrix(0, 4L, 4L, dimnames = list(vars, vars))
  predictors[lower.tri(predictors)] <- 1
  copies <- lapply(seq_len(m), function(i) copy_of(visited, k))
  codes <- listed(NA)
  codes$income <- c(NA, -8)
  structure(list(
    call = quote(syn(data = survey)), m = m, syn = if (m == 1) copies[[1L]] else copies,
    method = stats::setNames(method, vars), visit.sequence = stats::setNames(match(visited, vars), visited),
    predictor.matrix = predictors, smoothing = none, event = stats::setNames(rep(0, 4L), vars),
    denom = stats::setNames(rep(0, 4L), vars), proper = proper, n = n, k = k, rules = listed(""),
    rvalues = listed(NA_real_), cont.na = codes, semicont = listed(NA_real_), drop.not.used = FALSE,
    drop.pred.only = FALSE, models = NULL, seed = 1847, var.lab = NULL, val.lab = NULL, obs.vars = vars,
    numtocat = NULL, catgroups = numeric()
  ), class = "synds")
}

# One matrix row, list element or table a stratum, as from syn.strata().
strata <- function(m) {
  x <- synds(m)
  vars <- names(survey)
  rows <- c("f", "m")
  both <- function(v) matrix(rep(v, each = 2L), 2L, dimnames = list(rows, names(v)))
  x$method <- both(x$method)
  x$visit.sequence <- both(x$visit.sequence)
  x$obs.vars <- matrix(rep(vars, each = 2L), 2L, dimnames = list(rows, NULL))
  x$predictor.matrix <- list(f = x$predictor.matrix, m = x$predictor.matrix)
  x$n <- matrix(as.integer(table(survey$sex)), 2L, 1L, dimnames = list(rows, NULL))
  x$k <- lapply(x$syn, function(copy) table(copy$sex))
  x$strata.syn <- lapply(x$syn, `[[`, "sex")
  x$strata.lab <- rows
  x
}

# Fitted models hold confidential rows, and closures and environments besides: they must be read over.
with_models <- function() {
  x <- synds(2)
  x$models <- lapply(1:2, function(i) list(income = stats::lm(income ~ age, data = survey), f = function() survey))
  x
}

put <- function(x, name) saveRDS(x, file.path(out, paste0("synds_", name, ".rds")))
put(synds(1), "m1")
put(synds(3), "m3")
put(synds(1, proper = TRUE), "proper")
put(synds(3, visited = c("income", "age"), method = c("norm", "", "normrank", "")), "partial")
put(synds(5, k = 200L), "k200")
put(strata(3), "strata")
put(with_models(), "models")
