test_that("copies and fields can be had", {
  skip_without_engine()
  s <- synthesise(iris, m = 3, seed = 1)
  expect_identical(s[[3]], s$syn[[3]])
  expect_identical(s[["method"]], s$method)
  expect_error(s[[4]], "3 copies", class = "pysynthdp_error")
  expect_identical(nrow(copies(s, "long")), 450L)
  expect_output(print(s), "3 copies of 150 rows")
  expect_lte(length(capture.output(print(s))), 15L)
  expect_output(print(summary(s)), "Copy 1")
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  expect_silent(plot(s))
  grDevices::dev.off()
  expect_error(copies(1), "synthesise", class = "pysynthdp_error")
})

test_that("objects survive saveRDS() and a new session", {
  skip_without_engine()
  s <- synthesise(iris, m = 2, seed = 1)
  file <- tempfile(fileext = ".rds")
  saveRDS(s, file)
  expect_identical(readRDS(file), s)
  expect_identical(coef(pool(with(readRDS(file), lm(Sepal.Length ~ Species)))), coef(pool(with(s, lm(Sepal.Length ~ Species)))))
})

test_that("the statement is a list, a print, a paragraph and a data frame", {
  skip_without_engine()
  p <- privacy_statement(synthesise(iris, m = 2, seed = 1))
  expect_identical(p$status, "none")
  expect_output(print(p), "no formal guarantee")
  expect_match(format(p, "paragraph"), "No formal privacy guarantee")
  expect_identical(as.data.frame(p)$column, names(iris))
  expect_error(privacy_statement(iris), class = "pysynthdp_error")
})

test_that("a release folder is written and read", {
  skip_without_engine()
  s <- synthesise(survey_data(), m = 2, seed = 1)
  folder <- tempfile("release")
  write_release(s, folder)
  back <- read_release(folder)
  expect_equal(copies(back), copies(s))
  expect_identical(back$tags, s$tags)
  expect_identical(back$privacy, s$privacy)
  expect_error(write_release(s, folder), "exists", class = "pysynthdp_release_error")
  expect_error(read_release(tempfile()), class = "pysynthdp_release_error")
  unlink(folder, recursive = TRUE)
})

test_that("a folder is checked, and a changed one is found and not read", {
  skip_without_engine()
  folder <- tempfile("release")
  write_release(synthesise(survey_data(), m = 2, seed = 1), folder, format = "csv")
  found <- verify_release(folder)
  expect_identical(found$status, "none")
  expect_identical(found$ok, FALSE)
  expect_equal(found$exit_code, 10)
  expect_identical(found$signed, FALSE)
  expect_identical(names(found$checks), c("what", "result", "detail"))
  expect_false("differs" %in% found$checks$result)
  expect_output(print(found), "nobody's signature was checked")
  copy <- file.path(folder, "synthetic_1.csv")
  lines <- readLines(copy)
  writeLines(lines[-2L], copy)
  changed <- verify_release(folder)
  expect_identical(changed$status, "changed")
  expect_equal(changed$exit_code, 13)
  expect_match(changed$checks$detail[[1]], "synthetic_1.csv was changed")
  expect_error(read_release(folder), "take it anew", class = "pysynthdp_release_error")
  expect_error(verify_release(tempfile()), class = "pysynthdp_release_error")
  expect_error(verify_release(folder, key = tempfile()), "cannot be read", class = "pysynthdp_release_error")
  expect_error(verify_release(folder, key = 1), class = "pysynthdp_release_error")
  unlink(folder, recursive = TRUE)
})

test_that("comparisons are marked as internal", {
  skip_without_engine()
  d <- survey_data()
  s <- synthesise(d, m = 5, seed = 1)
  both <- compare_synthetic(s, d)
  expect_output(print(both), "INTERNAL")
  table <- as.data.frame(both)
  expect_equal(table$confidential[table$column == "age" & table$statistic == "mean"], mean(d$age))
  expect_equal(table$confidential[table$column == "sex" & table$statistic == "m"], mean(d$sex == "m"))
  p <- compare_synthetic(pool(with(s, lm(income ~ age + sex))), d)
  fit <- lm(income ~ age + sex, data = d)
  expect_equal(as.data.frame(p)$confidential, unname(coef(fit)))
  expect_identical(as.data.frame(p), as.data.frame(compare_synthetic(with(s, lm(income ~ age + sex)), d)))
  grDevices::pdf(tempfile(fileext = ".pdf"))
  expect_silent(plot(p))
  expect_silent(plot(both))
  grDevices::dev.off()
})

test_that("a synds object keeps synthpop's fields and their types", {
  skip_without_engine()
  for (m in c(1, 3)) {
    o <- as_synds(synthesise(survey_data(), m = m, seed = 1, missing = list(income = -8)))
    expect_s3_class(o, "synds", exact = TRUE)
    columns <- names(survey_data())
    expect_type(o$m, "double")
    if (m == 1) expect_s3_class(o$syn, "data.frame") else expect_length(o$syn, 3L)
    expect_type(o$method, "character")
    expect_named(o$method, columns)
    expect_type(o$visit.sequence, "integer")
    expect_identical(columns[o$visit.sequence], names(o$visit.sequence))
    expect_type(o$predictor.matrix, "double")
    expect_identical(dimnames(o$predictor.matrix), list(columns, columns))
    expect_type(o$proper, "logical")
    expect_type(o$n, "integer")
    expect_type(o$k, "integer")
    expect_named(o$cont.na, columns)
    expect_identical(o$cont.na$income, c(NA, -8))
    expect_identical(o$cont.na$age, NA)
    expect_true(is.call(o$call))
    expect_named(as.list(o$call), c("", "data", "m", "missing", "seed"), ignore.order = TRUE)
    expect_type(o$seed, "double")
    expect_named(o, c("call", "m", "syn", "method", "visit.sequence", "predictor.matrix", "smoothing", "event",
                      "denom", "proper", "n", "k", "rules", "rvalues", "cont.na", "semicont", "drop.not.used",
                      "drop.pred.only", "models", "seed", "var.lab", "val.lab", "obs.vars", "numtocat", "catgroups"))
  }
})

# What syn() of synthpop returns, as its manual describes the value.
made_by_synthpop <- function(d, m = 2L, proper = FALSE, method = NULL, visited = names(d)) {
  copy <- function() {
    d[visited] <- lapply(d[visited], sample, replace = TRUE)
    d
  }
  p <- ncol(d)
  structure(list(
    call = quote(syn(data = d)), m = m, syn = if (m == 1) copy() else lapply(seq_len(m), function(i) copy()),
    method = stats::setNames(if (is.null(method)) rep("cart", p) else method, names(d)),
    visit.sequence = stats::setNames(match(visited, names(d)), visited),
    predictor.matrix = matrix(0, p, p, dimnames = list(names(d), names(d))), proper = proper, n = nrow(d), k = nrow(d),
    cont.na = stats::setNames(rep(list(NA), p), names(d)), models = list(d), seed = 1
  ), class = "synds")
}

test_that("what synthpop made becomes a release with the right tags", {
  skip_without_engine()
  d <- survey_data()
  s <- from_synds(made_by_synthpop(d))
  expect_s3_class(s, "synthetic")
  expect_identical(s$tags$kind, "complete")
  expect_identical(s$tags$parameters, "fitted")
  expect_identical(pool(with(s, lm(income ~ age)))$rule, "partial_size_adjusted")
  expect_null(s$models)
  proper <- from_synds(made_by_synthpop(d, proper = TRUE, m = 1))
  expect_identical(proper$tags$parameters, "drawn")
  expect_identical(pool(with(proper, lm(income ~ age)))$rule, "raab_proper")
  partial <- from_synds(made_by_synthpop(d, visited = c("age", "sex", "income")))
  expect_setequal(unlist(partial$tags$kept), c("health", "region", "smokes", "weight"))
  expect_identical(partial$tags$kind, "partial")
  file <- tempfile(fileext = ".rds")
  saveRDS(made_by_synthpop(d), file)
  expect_s3_class(from_synds(file), "synthetic")
  expect_error(from_synds(tempfile()), class = "pysynthdp_release_error")
  expect_error(from_synds(iris), class = "pysynthdp_bridge_error")
  broken <- made_by_synthpop(d)
  broken$n <- NULL
  expect_error(from_synds(broken), "'n'", class = "pysynthdp_bridge_error")
})

test_that("a mids object carries synthetic rows only, and warns", {
  skip_without_engine()
  skip_without("mice")
  d <- survey_data()
  s <- synthesise(d, m = 2, seed = 1)
  expect_warning(imp <- as_mids(s), "rule for missing data", class = "pysynthdp_warning")
  expect_true(all(is.na(imp$data)))
  for (i in 1:2) expect_equal(mice::complete(imp, i), s[[i]], ignore_attr = "row.names")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (draw in list(mice::stripplot, mice::bwplot)) expect_s3_class(draw(imp), "trellis")
})

test_that("as_synds() gives plain columns, of copies and of the data", {
  skip_without_engine()
  skip_without("tibble")
  skip_without("haven")
  d <- tibble::as_tibble(odd_columns())
  for (m in c(1, 2)) {
    o <- as_synds(synthesise(d, m = m, seed = 1))
    copy <- if (m == 1) o$syn else o$syn[[2]]
    same <- as_synds(d)
    expect_identical(class(copy), "data.frame")
    expect_identical(lapply(copy, class), lapply(same, class))
    expect_identical(lapply(copy, levels), lapply(same, levels))
    expect_identical(unique(unlist(lapply(copy, class))), c("numeric", "factor"))
    expect_identical(levels(copy$agrees), c("no", "yes", "refused"))
    expect_identical(o$cont.na$agrees, NA)
    expect_identical(o$cont.na$score, c(NA, -8))
  }
  expect_equal(as_synds(d)$born, as.numeric(d$born))
  expect_identical(as.character(as_synds(d)$agrees), as.character(haven::as_factor(d$agrees)))
  plain <- survey_data()
  expect_identical(as_synds(plain), plain)
})

test_that("what as_synds() made of tibbles is ours again, or what sdc() made of it", {
  skip_without_engine()
  skip_without("tibble")
  skip_without("haven")
  for (m in c(1, 2)) {
    s <- synthesise(tibble::as_tibble(odd_columns()), m = m, seed = 1)
    o <- as_synds(s)
    back <- from_synds(o)
    expect_identical(copies(back), copies(s))
    expect_identical(back$cont.na, s$cont.na)
    expect_identical(back$tags, s$tags)
    expect_identical(as_synds(back), o)
    flagged <- o
    flagged$syn <- if (m == 1) cbind(flag = "made up", o$syn) else lapply(o$syn, function(d) cbind(flag = "made up", d))
    expect_error(from_synds(flagged), "flag", class = "pysynthdp_changed_error")
    taken <- accept_sdc(flagged)
    expect_identical(taken[[1]]$born, as_synds(s[[1]])$born)
    expect_s3_class(taken, "synthetic")
  }
})

# synthpop is on CRAN only, where a machine without network cannot get it; nothing of it is named with :: here, so
# that the check of the package does not ask for it.
theirs <- function(name, ...) getExportedValue("synthpop", name)(...)

quietly <- function(code) suppressMessages(suppressWarnings(utils::capture.output(force(code))))

# Each of synthpop's functions on an object and the data that it is compared with.
expect_taken_by_synthpop <- function(s, d, keys, target, number) {
  for (name in c("compare", "utility.gen", "replicated.uniques")) expect_error(quietly(theirs(name, s, d)), NA)
  for (name in c("utility.tab", "utility.tables")) expect_error(quietly(theirs(name, s, d, vars = keys)), NA)
  expect_error(quietly(theirs("disclosure", s, d, keys = keys, target = target)), NA)
  expect_error(quietly(theirs("multi.disclosure", s, d, keys = keys)), NA)
  expect_error(quietly(print(theirs("multi.compare", s, d, var = keys[[1L]], by = keys[[2L]]))), NA)
  expect_error(quietly(print(theirs("multi.compare", s, d, var = number, by = keys[[1L]]))), NA)
  expect_error(quietly(theirs("sdc", s, d, label = "synthetic")), NA)
  expect_written_by_synthpop(s)
}

# write.syn() has no place for a folder in its file name, so it is called inside one.
expect_written_by_synthpop <- function(s) {
  folder <- tempfile("written")
  dir.create(folder)
  before <- setwd(folder)
  on.exit({
    setwd(before)
    unlink(folder, recursive = TRUE)
  })
  expect_error(quietly(theirs("write.syn", s, filename = "s", filetype = "csv")), NA)
  expect_length(list.files(pattern = "^s.*csv$"), s$m)
}

test_that("synthpop's own functions take the object", {
  skip_without_engine()
  skip_if_not_installed("synthpop")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  d <- survey_data()
  for (m in c(1, 3)) {
    s <- synthesise(d, m = m, seed = 1)
    fit <- theirs("lm.synds", income ~ age + sex, data = as_synds(s))
    expect_equal(unname(fit$mcoefavg), pool(with(s, lm(income ~ age + sex)))$pooled$estimate)
    expect_error(quietly(summary(fit)), NA)
    expect_error(quietly(theirs("glm.synds", smokes ~ age, data = as_synds(s), family = "binomial")), NA)
    expect_taken_by_synthpop(as_synds(s), d, c("sex", "region"), "smokes", "income")
  }
})

test_that("synthpop's own functions take copies of tibbles with labels, dates and the like", {
  skip_without_engine()
  skip_if_not_installed("synthpop")
  skip_without("tibble")
  skip_without("haven")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  d <- tibble::as_tibble(odd_columns())
  for (m in c(1, 2)) {
    s <- as_synds(suppressWarnings(synthesise(d, m = m, seed = 1)))
    expect_taken_by_synthpop(s, as_synds(d), c("agrees", "region"), "sex", "born")
  }
})

test_that("copies are written in several formats, and marked as synthetic", {
  skip_without_engine()
  folder <- tempfile("formats")
  on.exit(unlink(folder, recursive = TRUE))
  s <- synthesise(survey_data(), m = 2, seed = 1)
  suppressWarnings(write_release(s, folder, formats = c("csv", "dta")))
  expect_true(all(c("synthetic_1.csv", "synthetic_2.dta", "codebook.html") %in% list.files(folder)))
  expect_identical(unique(utils::read.csv(file.path(folder, "synthetic_2.csv"))[["X_synthetic"]]), 2L)
  expect_identical(names(read_release(folder)[[1]]), names(s[[1]]))
  expect_error(write_release(s, tempfile(), formats = "sas"), "formats|format", class = "pysynthdp_release_error")
})
