# A board's report and a public note, from R.

test_that("both documents are written, and the board's says INTERNAL", {
  skip_without_engine()
  s <- synthesise(iris, m = 2, seed = 1)
  home <- tempfile("report")
  dir.create(home)
  made <- report_synthetic(s, iris, board = home, note = home, keys = list(who = c("Sepal.Length", "Species")),
                           models = "Sepal.Length ~ Species", formats = "html")
  expect_s3_class(made, "synthetic_report")
  expect_setequal(basename(made$files), c("INTERNAL_board.html", "quality_note.html"))
  expect_output(print(made), "INTERNAL")
  expect_true(all(made$gates$verdict == "passed"))
})

test_that("the data themselves fail, and slips are answered", {
  skip_without_engine()
  made <- report_synthetic(list(iris), iris)
  expect_match(made$text, "FAIL")
  expect_error(report_synthetic(list(iris), iris, purpose = "fun"), class = "pysynthdp_plan_error")
  expect_error(report_synthetic(iris), "confidential data", class = "pysynthdp_bridge_error")
})
