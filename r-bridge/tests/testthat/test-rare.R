towns <- function() {
  set.seed(3)
  data <- data.frame(town = sample(c("A", "B"), 200, TRUE), age = round(rnorm(200, 50, 9)))
  data$town[1:6] <- c("u", "v", "w", "x", "y", "z")
  data
}

test_that("rare levels are kept with a warning, merged or refused", {
  skip_without_engine()
  expect_warning(kept <- synthesise(towns(), m = 1, seed = 1), "6 levels have fewer than 5 records")
  expect_s3_class(kept, "synthetic")
  merged <- synthesise(towns(), m = 2, seed = 1, rare = "merge")
  expect_identical(nrow(merged$syn[[1L]]), 200L)
  expect_setequal(unique(unlist(lapply(merged$syn, function(copy) as.character(copy$town)))), c("A", "B", "other"))
  expect_error(synthesise(towns(), m = 1, seed = 1, rare = "refuse"), "town \\(6\\)")
  expect_error(synthesise(towns(), m = 1, seed = 1, rare = "drop"), "rare must be one of")
})
