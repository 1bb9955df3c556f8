# syn() under synthpop's argument names. What synthpop's own syn() does was seen with 1.9-2.
people <- function() {
  d <- survey_data()[c("age", "sex", "income", "region")]
  d$income[1:40] <- 0
  d
}

p_syn <- function(data, ...) syn(data, "parametric", ..., seed = 1)

refused <- function(code, words) expect_error(code, words, class = "pysynthdp_plan_error")

test_that("syn() speaks as synthpop does", {
  skip_without_engine()
  d <- people()
  s <- syn(d, m = 2, seed = 1, visit.sequence = c(2, 1, 3, 4), cont.na = list(income = c(NA, -8)),
           method = c("norm", "logreg", "normrank", "polyreg"))
  expect_identical(names(s$visit.sequence), c("sex", "age", "income", "region"))
  expect_identical(unname(s$method), c("norm", "logreg", "normrank", "polyreg"))
  expect_identical(s$cont.na$income, c(NA, -8))
  expect_identical(p_syn(d)$m, 1)
  expect_s3_class(p_syn(d)$syn, "data.frame")
  fewer <- p_syn(d, visit.sequence = c("sex", "age"), drop.not.used = TRUE)
  expect_setequal(names(fewer$syn), c("sex", "age"))
  expect_silent(trees <- syn(d, method = "cart", m = 2, seed = 1, print.flag = FALSE))
  expect_identical(unname(trees$method), rep("cart", 4L))
  fits <- pool(with(trees, lm(age ~ sex)))
  expect_identical(unname(is.na(coef(fits))), c(FALSE, FALSE))
  expect_identical(unname(is.na(confint(fits))), matrix(TRUE, 2L, 2L))
  matrix <- matrix(0, 4, 4)
  matrix[3, 1] <- 1
  expect_identical(unname(p_syn(d, predictor.matrix = matrix)$predictor.matrix), matrix)
  set.seed(5)
  a <- syn(d, "parametric")
  set.seed(5)
  expect_identical(a$syn, syn(d, "parametric")$syn)
})

test_that("it has synthpop's arguments in synthpop's order, and its defaults are silent", {
  skip_without_engine()
  theirs <- c("data", "method", "visit.sequence", "predictor.matrix", "m", "k", "proper", "minnumlevels", "maxfaclevels",
              "rules", "rvalues", "cont.na", "semicont", "smoothing", "event", "denom", "drop.not.used", "drop.pred.only",
              "default.method", "numtocat", "catgroups", "models", "print.flag", "seed", "...")
  expect_identical(names(formals(syn))[seq_along(theirs)], theirs)
  d <- people()
  expect_silent(s <- p_syn(
    d, visit.sequence = seq_along(d), predictor.matrix = NULL, m = 1, k = nrow(d), proper = FALSE, minnumlevels = 1,
    maxfaclevels = 60, rules = NULL, rvalues = NULL, cont.na = NULL, semicont = NULL, smoothing = NULL, event = NULL,
    denom = NULL, drop.not.used = FALSE, drop.pred.only = FALSE,
    default.method = c("cells", "logreg", "polyreg", "polr"), numtocat = NULL, catgroups = rep(5, 0), models = FALSE,
    print.flag = FALSE
  ))
  expect_identical(s$syn, p_syn(d, visit.sequence = names(d))$syn)
})

test_that("models that are not trees are said once a session", {
  skip_without_engine()
  said <- state()$said
  on.exit(assign("said", said, envir = state()))
  assign("said", NULL, envir = state())
  expect_warning(syn(people(), seed = 1), "cart.*parametric", class = "pysynthdp_warning")
  expect_silent(syn(people(), seed = 1))
})

test_that("what is asked for is done", {
  skip_without_engine()
  d <- people()
  chosen <- p_syn(d, default.method = c("norm", "logreg", "polyreg", "polr"))$method
  expect_identical(unname(chosen[c("age", "sex", "income")]), c("norm", "sample", "norm")) # sex is drawn first
  expect_identical(syn(d, c(income = "lognorm"), default.method = c("norm", "logreg", "sample", "polr"), seed = 1,
                       cont.na = list(income = -8))$method[c("income", "region")], c(income = "lognorm", region = "sample"))
  d$size <- rep(c(1, 2, 2, 4), 100)
  sizes <- p_syn(d, minnumlevels = 3)
  expect_identical(sizes$method[["size"]], "polyreg")
  expect_true(is.numeric(sizes$syn$size) && all(sizes$syn$size %in% c(1, 2, 4)))
  refused(p_syn(d, maxfaclevels = 2), "region")
  expect_silent(p_syn(d, maxfaclevels = 100))
  expect_silent(p_syn(d, smoothing = list(age = "spline")))
  refused(p_syn(d, smoothing = list(ages = "spline")), "did you mean age")
  expect_identical(names(p_syn(d, drop = "region")$syn), c("age", "sex", "income", "size"))
})

test_that("what is not here is refused, with what to use", {
  skip_without_engine()
  d <- people()
  refused(p_syn(d, rules = list(income = "age < 20")), "rules.*not available.*missing")
  refused(p_syn(d, rule = list(income = "age < 20")), "rules") # abbreviated, as R allows
  refused(p_syn(d, rvalues = list(income = 0)), "rvalues")
  refused(p_syn(d, event = list(age = "sex")), "survival")
  expect_silent(p_syn(d, event = stats::setNames(rep(0, 4), names(d)), denom = 0, rules = list(age = ""), rvalues = NA))
  refused(p_syn(d, denom = list(age = "income")), "poisson")
  refused(p_syn(d, numtocat = "sex"), "holds no numbers")
  refused(p_syn(d, numtocat = "age", catgroups = 1), "catgroups")
  refused(syn(d, c(age = "norm"), numtocat = "age", seed = 1), "age has a method")
  refused(p_syn(d, smoothing = list(age = "desnity")), "smoothing knows no")
  refused(p_syn(d, models = TRUE), "synthesis_plan")
  refused(p_syn(d, strata = "ages"), "did you mean age")
  refused(p_syn(d, minstratumsize = 5), "strata")
  refused(p_syn(d, cart.minbucket = 5), "trees")
  refused(p_syn(d, polyreg.maxit = 5), "leave it out")
  refused(p_syn(d, spikes = list(age = 20), semicont = list(age = 20)), "semicont.*both are given")
  refused(p_syn(d, keep = "sex"), "method")
  refused(p_syn(d, rar = "merge"), "did you mean rare")
  refused(p_syn(d, default.method = "norm"), "four")
  refused(p_syn(d, default.method = c("ctree", "logreg", "polyreg", "polr")), "trees")
  refused(syn(d, "parametric", seed = "smple"), "seed")
  schema <- list(age = numeric_column(18, 90, decimals = 0, fallback = 50))
  refused(p_syn(d["age"], minnumlevels = 5, schema = schema, guarantee = zcdp(1)), "minnumlevels looks at the rows")
})

test_that("the advice works when it is followed", {
  skip_without_engine()
  d <- people()
  expect_s3_class(p_syn(d, visit.sequence = c("region", "age", "sex", "income"), cont.na = list(income = -8),
                        formulas = list(income ~ region * age)), "synthetic")
  parts <- lapply(split(d, d$region), function(part) p_syn(droplevels(part)))
  expect_identical(names(parts), levels(d$region))
  d$band <- cut(d$age, c(0, 30, 60, 100))
  expect_true(is.factor(p_syn(d)$syn$band))
  expect_s3_class(syn(d, list(age = "poisson"), seed = 1), "synthetic")
  fits <- with(synthesise(d, m = 2, drop = "band", seed = 1), lm(income ~ I(age / 10)))
  expect_s3_class(pool(fits), "synthetic_pooled")
})

test_that("each method of synthpop's that is not here says what to use", {
  skip_without_engine()
  d <- people()
  use <- c(ctree = "parametric", rf = "parametric", ranger = "parametric", bag = "parametric", survctree = "logreg",
           pmm = "normrank", ipf = "polyreg", satcat = "polyreg", nested = "coarser", collinear = "drop", "~I(age * 2)" = "with\\(s")
  for (name in names(use)) {
    refused(syn(d, stats::setNames(name, "income"), seed = 1), use[[name]])
    refused(synthesise(d, m = 1, method = stats::setNames(name, "income")), use[[name]])
  }
  refused(synthesise(d, m = 1, method = "ctree"), "cart")
  expect_identical(synthesise(d, m = 1, method = "parametric", seed = 1)$syn, synthesise(d, m = 1, seed = 1)$syn)
  expect_identical(synthesise(d, m = 1, method = c(age = "norm", sex = "parametric"), visit_sequence = names(d), seed = 1)$method[["sex"]], "logreg")
  expect_warning(s <- syn(d, c(region = "polr"), seed = 1), "polr.*order", class = "pysynthdp_warning")
  expect_identical(s$method[["region"]], "polr")
  expect_identical(class(s$syn$region), "factor")
  refused(syn(d, c(ages = "norm"), seed = 1), "did you mean age")
})

test_that("a visit sequence is checked before anything is said", {
  skip_without_engine()
  d <- people()
  said <- function(code) expect_silent(tryCatch(code, pysynthdp_plan_error = conditionMessage))
  expect_match(said(p_syn(d, visit.sequence = c(1, 1, 2))), "age")
  expect_match(said(p_syn(d, visit.sequence = c("age", "age"))), "more than once")
  expect_match(said(p_syn(d, visit.sequence = c(1, 1.5))), "whole numbers")
  expect_match(said(p_syn(d, visit.sequence = c(0, 1))), "whole numbers")
  expect_match(said(p_syn(d, visit.sequence = c("age", "foo"))), "foo")
  expect_match(said(p_syn(d, visit.sequence = "regoin")), "did you mean region")
  expect_match(said(p_syn(d, cont.na = list(incme = -8))), "did you mean income")
})

test_that("columns that are not visited are real, and said to be predictors", {
  skip_without_engine()
  d <- people()
  expect_warning(real <- p_syn(d, visit.sequence = c("sex", "age")), "income, region.*drawn from them",
                 class = "pysynthdp_warning")
  expect_identical(real$syn$region, d$region)
  expect_setequal(unlist(real$tags$kept), c("income", "region"))
  expect_identical(real$predictor.matrix["sex", ], c(age = 0, sex = 0, income = 1, region = 1))
  expect_warning(blank <- syn(d, method = c("", "logreg", "norm", "polyreg"), seed = 1), "age")
  expect_identical(blank$syn$age, d$age)
  refused(syn(d, ""), "no column is left to draw")
  refused(p_syn(d, visit.sequence = character()), "no column is left to draw")
  refused(suppressWarnings(p_syn(d, visit.sequence = 1:3, drop.pred.only = TRUE)), "drop.not.used")
  expect_silent(p_syn(d, drop.pred.only = TRUE))
})

test_that("a full predictor matrix is taken, and later predictors are said once", {
  skip_without_engine()
  d <- people()
  full <- 1 - diag(4)
  expect_identical(capture_warnings(s <- p_syn(d, predictor.matrix = full)), paste(
    "6 entries of predictor.matrix not used, as in synthpop: the column is not drawn before its target;",
    "visit.sequence changes the order"))
  expect_identical(unname(s$predictor.matrix), unname(p_syn(d)$predictor.matrix)) # those of the order by kind
  expect_identical(s$syn, p_syn(d)$syn)
  below <- p_syn(d, predictor.matrix = full * lower.tri(full))
  expect_identical(names(below$visit.sequence), names(d)) # the order that they ask for
  expect_identical(unname(below$predictor.matrix), full * lower.tri(full))
  expect_silent(p_syn(d, predictor.matrix = full * lower.tri(full) + diag(4)))
  refused(p_syn(d, predictor.matrix = 2 * full), "0 and 1")
  refused(p_syn(d, predictor.matrix = matrix("a", 4, 4)), "0 and 1")
  refused(p_syn(d, predictor.matrix = diag(3)), "predictor.matrix needs names")
  full[1, 2] <- NA
  refused(p_syn(d, predictor.matrix = full), "0 and 1")
})

test_that("m = 0 gives what is to be changed, and takes it back", {
  skip_without_engine()
  d <- people()
  start <- p_syn(d, m = 0)
  expect_s3_class(start, "synth_setup")
  expect_null(start$syn)
  expect_output(print(start), "predictor.matrix")
  whole <- p_syn(d)
  for (field in c("visit.sequence", "predictor.matrix")) expect_equal(start[[field]], whole[[field]])
  expect_named(start$method, names(whole$method)) # which of two models a number gets, the fit decides
  whole <- syn(d, start$method, predictor.matrix = start$predictor.matrix, semicont = list(income = 0), seed = 1)
  again <- syn(d, start$method, start$visit.sequence, start$predictor.matrix, cont.na = start$cont.na,
               semicont = start$semicont, event = start$event, seed = 1)
  expect_identical(again$syn, whole$syn)
  expect_identical(start$semicont, list(income = 0))
  start$predictor.matrix["income", "age"] <- 0
  changed <- syn(d, start$method, predictor.matrix = start$predictor.matrix, seed = 1)
  expect_identical(changed$predictor.matrix["income", "age"], 0)
  refused(expect_silent(p_syn(d, m = "a")), "whole number")
  part <- p_syn(d, m = 0, visit.sequence = c("region", "sex"), drop.not.used = TRUE)
  expect_identical(part$visit.sequence, c(region = 4L, sex = 2L))
  expect_identical(names(p_syn(d, visit.sequence = part$visit.sequence, drop.not.used = TRUE)$syn), c("sex", "region"))
  plan <- synthesis_plan(d)
  expect_identical(plan$method, whole$method)
  expect_identical(plan$predictor.matrix, whole$predictor.matrix)
})

test_that("advice in the words of synthesise() is taken by syn() too", {
  skip_without_engine()
  d <- survey_data(200L)[c("age", "sex", "income")]
  d$income[1:60] <- 0
  d$age[1:40] <- -8
  ours <- syn(d, "parametric", spikes = list(income = 0), missing = list(age = -8), visit_sequence = c("sex", "age", "income"),
              seed = 1)
  theirs <- syn(d, "parametric", semicont = list(income = 0), cont.na = list(age = -8),
                visit.sequence = c("sex", "age", "income"), seed = 1)
  expect_identical(copies(ours), copies(theirs))
  expect_identical(names(ours$visit.sequence), c("sex", "age", "income"))
})

test_that("warnings of syn() have a kind and a remedy", {
  skip_without_engine()
  d <- survey_data(100L)[c("age", "sex", "income")]
  told <- function(code) tryCatch(code, pysynthdp_warning = identity)
  expect_match(told(p_syn(d, visit.sequence = c("age", "sex")))$remedy, "drop.not.used = TRUE", fixed = TRUE)
})

test_that("strata, numtocat, catgroups, smoothing, nested and catall do their work", {
  skip_without_engine()
  d <- people()
  d$town <- paste0(substr(d$region, 1L, 3L), seq_len(nrow(d)) %% 3L)
  quietly <- function(code) suppressWarnings(code, classes = "pysynthdp_warning")
  s <- quietly(p_syn(d, strata = "sex"))
  expect_identical(s$visit.sequence[[1L]], c(sex = match("sex", names(d)))[[1L]])
  nested <- quietly(syn(d, c(town = "nested.region"), seed = 1))
  pairs <- function(x) unique(paste(x$town, x$region))
  expect_true(all(pairs(nested$syn) %in% pairs(d)))
  together <- quietly(syn(d, c(sex = "catall", region = "catall"), seed = 1))
  expect_identical(unname(together$method[c("sex", "region")]), c("catall", "catall"))
  grouped <- quietly(p_syn(d, numtocat = "age", catgroups = 4))
  expect_identical(unname(grouped$method["age"]), "cells")
  expect_identical(grouped$syn, quietly(synthesise(d, m = 1, seed = 1, visit_sequence = names(grouped$visit.sequence),
                                                   method = list(age = list(name = "cells", groups = 4L))))[[1L]])
  expect_identical(quietly(p_syn(d, smoothing = list(age = "density")))$syn, quietly(p_syn(d))$syn)
})
