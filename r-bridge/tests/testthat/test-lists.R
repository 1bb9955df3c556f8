copies_of <- function(m = 7) synthesise(survey_data(200L), m = m, seed = 1)

test_that("copies are a list to everything that goes over lists", {
  skip_without_engine()
  s <- copies_of()
  expect_length(s, 7L)
  expect_identical(as.list(s), copies(s))
  expect_identical(lapply(s, nrow), rep(list(200L), 7L))
  expect_identical(sapply(s, nrow), rep(200L, 7L))
  expect_identical(vapply(s, ncol, 0L), rep(7L, 7L))
  expect_identical(Map(function(d, i) nrow(d) + i, s, 1:7)[[7]], 207L)
  expect_identical(seq_along(s), 1:7)
  expect_null(names(s))
  expect_identical(s[2:3], copies(s)[2:3])
  expect_identical(s[["method"]], s$method)
  expect_identical(names(s["method"]), "method")
  expect_identical(head(s, 2), lapply(copies(s), head, 2))
  expect_identical(tail(s, 2), lapply(copies(s), tail, 2))
  expect_output(str(s), "7 copies; the first:")
  stacked <- as.data.frame(s)
  expect_identical(stacked, copies(s, "long"))
  expect_identical(names(stacked)[[1]], ".copy")
  expect_identical(table(stacked$.copy, dnn = NULL), table(rep(1:7, each = 200), dnn = NULL))
  expect_true("tags" %in% utils::.DollarNames(s, "^ta"))
})

test_that("fits are a list to everything that goes over lists, all m of them", {
  skip_without_engine()
  for (m in c(3, 7)) {
    s <- copies_of(m)
    f <- with(s, lm(income ~ age))
    expect_length(f, m)
    expect_identical(as.list(f), f$analyses)
    expect_identical(sapply(f, nobs), rep(200L, m))
    expect_identical(lapply(f, coef), lapply(seq_len(m), function(i) coef(f[[i]])))
    expect_identical(Map(function(fit, i) nobs(fit) + i, f, seq_len(m))[[m]], 200L + as.integer(m))
    expect_identical(seq_along(f), seq_len(m))
    expect_null(names(f))
    expect_identical(f[2:3], f$analyses[2:3])
    expect_length(head(f, 2), 2L)
    expect_identical(dim(coef(f)), c(2L, as.integer(m)))
    expect_identical(unname(coef(f)[, m]), unname(coef(f[[m]])))
    expect_length(vcov(f), m)
    walked <- 0L
    for (fit in as.list(f)) walked <- walked + inherits(fit, "lm")
    expect_identical(walked, as.integer(m))
    expect_output(str(f), "the first:")
    expect_error(f[[m + 1]], paste("fits of", m, "copies"), class = "pysynthdp_error")
    expect_identical(names(utils::.DollarNames(f, "^anal")), NULL)
  }
})

test_that("what a list of fits or a pooled table cannot do says what to write", {
  skip_without_engine()
  s <- copies_of(3)
  f <- with(s, lm(income ~ age))
  p <- pool(f)
  expect_error(update(f, . ~ 1), "with\\(s", class = "pysynthdp_plan_error")
  expect_error(update(p, . ~ 1), "with\\(s", class = "pysynthdp_plan_error")
  expect_error(predict(f), "rowMeans", class = "pysynthdp_plan_error")
  expect_error(predict(p), "rowMeans", class = "pysynthdp_plan_error")
  expect_identical(nrow(sapply(f, predict, newdata = data.frame(age = c(30, 60)))), 2L) # as the message says
  for (ask_for in list(plot, as.data.frame, confint, anova, logLik, stats::AIC, residuals, fitted)) {
    expect_error(ask_for(f), class = "pysynthdp_plan_error")
  }
  for (ask_for in list(anova, logLik, stats::BIC, residuals, fitted)) {
    expect_error(ask_for(p), class = "pysynthdp_plan_error")
  }
  expect_error(pool(f$analyses), "data = s", class = "pysynthdp_combining_rule_error")
  expect_error(pool(s), "with\\(s", class = "pysynthdp_fit_error")
})

test_that("a pooled table can be drawn and is a data frame", {
  skip_without_engine()
  p <- pool(with(copies_of(3), lm(income ~ age + sex)))
  table <- as.data.frame(p, conf.int = TRUE, conf.level = 0.9)
  expect_identical(class(table), "data.frame")
  expect_named(table, c("term", "estimate", "std.error", "statistic", "df", "p.value", "conf.low", "conf.high"))
  expect_equal(table$conf.high, unname(confint(p, level = 0.9)[, 2]))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(p))
  expect_silent(plot(pool(with(copies_of(3), lm(income ~ 1)))))
})
