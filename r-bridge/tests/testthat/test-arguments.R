# An argument that nobody knows is an error in every function: a swallowed one is an answer to another question.

made <- function() {
  s <- synthesise(survey_data(200L), m = 3, seed = 1)
  fits <- with(s, lm(income ~ age))
  folder <- tempfile("release")
  write_release(s, folder)
  pooled <- pool(fits)
  list(synthetic = s, synthetic_fits = fits, synthetic_pooled = pooled, summary.synthetic = summary(s),
       summary.synthetic_pooled = summary(pooled), privacy_statement = privacy_statement(s),
       synthetic_comparison = compare_synthetic(s, survey_data(200L), vars = "sex"),
       release_verification = verify_release(folder), synth_engine = synth_engine(),
       synth_text = look(survey_data(50L)), synth_setup = syn(survey_data(50L), "parametric", m = 0), synthetic_guard = unclass(fits)$guard, list = as.list(fits),
       synthetic_evaluation = evaluate_synthetic(s, survey_data(200L), models = FALSE),
       disclosure_risk = disclosure_risk(s, survey_data(200L), keys = list(neighbour = c("sex", "age")), attacks = 5),
       synthetic_design = synth_design(s, ids = ~1),
       synthetic_report = report_synthetic(s, survey_data(200L)),
       synthetic_crosstab = crosstab_of(s, "sex", "region"),
       data.frame = survey_data(50L), formula = ~ age + sex, character = tempfile(fileext = ".csv"))
}

# These hand what they do not know to functions of R, for which it may be meant.
handed_on <- c("summary.synthetic_fits", "str.synthetic", "str.synthetic_fits", "pool.default", "synthesise.default",
               "synthesise.mids", "synthesise.list", "compare_synthetic.default")

test_that("every method refuses an argument that it does not know", {
  skip_without_engine()
  skip_without("generics")
  skip_without("survey")
  objects <- made()
  table <- .getNamespaceInfo(asNamespace("pysynthdp"), "S3methods")
  walked <- 0L
  for (row in seq_len(nrow(table))) {
    generic <- sub("^.*::", "", table[row, 1L])
    class <- table[row, 2L]
    name <- paste(generic, class, sep = ".")
    method <- get(name, asNamespace("pysynthdp"))
    if (!"..." %in% names(formals(method)) || name %in% handed_on) next # without dots R itself refuses
    expect_true(class %in% names(objects), info = name)
    arguments <- list(objects[[class]], bogus = 1)
    if (generic == "compare_synthetic") arguments$data <- survey_data(200L)
    if (name == "synthesise.formula") arguments$data <- survey_data(50L)
    if (generic == "with") arguments$expr <- quote(lm(income ~ age))
    expect_error(utils::capture.output(do.call(method, arguments)), class = "pysynthdp_error", info = name)
    walked <- walked + 1L
  }
  expect_gt(walked, 30L)
})

test_that("every function refuses an argument that it does not know", {
  skip_without_engine()
  s <- synthesise(survey_data(200L), m = 3, seed = 1)
  d <- survey_data(50L)
  first <- list(copies = list(s), pool = list(with(s, lm(income ~ age))), synthesise = list(d), synthesize = list(d),
                syn = list(d), look = list(d), synthesis_plan = list(d), synth_lm = list(income ~ age, s),
                synth_glm = list(income ~ age, data = s), compare_synthetic = list(s, d))
  for (name in setdiff(getNamespaceExports("pysynthdp"), grep("^\\.", getNamespaceExports("pysynthdp"), value = TRUE))) {
    arguments <- c(first[[name]], list(bogus = 1))
    expect_error(do.call(getExportedValue("pysynthdp", name), arguments), info = name)
  }
})

test_that("what broom and mice and synthpop take is done", {
  skip_without_engine()
  skip_without("generics")
  s <- synthesise(survey_data(200L), m = 5, seed = 1)
  g <- pool(with(s, glm(smokes ~ age + sex, family = binomial)))
  plain <- generics::tidy(g, conf.int = TRUE)
  odds <- generics::tidy(g, conf.int = TRUE, conf.level = 0.95, exponentiate = TRUE)
  expect_equal(odds$estimate, exp(plain$estimate))
  expect_equal(odds$conf.low, exp(plain$conf.low))
  expect_identical(odds$std.error, plain$std.error)
  whole <- summary(g, conf.int = TRUE, exponentiate = TRUE, population.inference = TRUE)$coefficients
  expect_equal(unname(whole[, 1]), odds$estimate)
  expect_equal(unname(whole[, 6]), odds$conf.low)
  expect_error(summary(g, population.inference = FALSE), "compare_synthetic", class = "pysynthdp_plan_error")
  expect_error(generics::tidy(g, conf.int = "yes"), "TRUE or FALSE", class = "pysynthdp_plan_error")
})
