small <- function(m = 3, ...) synthesise(survey_data(200L), m = m, seed = 1, ...)

edited <- function(s, change) {
  s$syn <- lapply(s$syn, change)
  s
}

# Every door that hands copies on.
doors <- list(
  write_release = function(x) write_release(x, tempfile("never")),
  with = function(x) with(x, lm(income ~ age)),
  pool = function(x) pool(lapply(x$syn, function(d) lm(age ~ 1, data = d)), data = x),
  as_synds = as_synds,
  from_synds = from_synds,
  as_mids = function(x) suppressWarnings(as_mids(x)),
  privacy_statement = privacy_statement
)

changes <- list(
  "new column 'real'" = function(d) cbind(d, real = seq_len(nrow(d))),
  "lacks 'smokes'" = function(d) d[setdiff(names(d), "smokes")],
  "'pay' where 'income' was" = function(d) {
    names(d)[names(d) == "income"] <- "pay"
    d
  },
  "stand in another order" = function(d) d[rev(names(d))],
  "has 50 rows, and 200 were drawn" = function(d) d[1:50, ],
  "type of 'income' were changed" = function(d) transform(d, income = rev(income)),
  "'weight' were changed in copy 1" = function(d) {
    d$weight[7] <- NA
    d
  },
  "'region'" = function(d) {
    levels(d$region)[1] <- "elsewhere"
    d
  },
  "'sex'" = function(d) transform(d, sex = as.character(sex)),
  "or its rows, were changed" = function(d) d[rev(seq_len(nrow(d))), ]
)

test_that("changed copies are refused at every door, with what was changed", {
  skip_without_engine()
  skip_without("mice")
  s <- small()
  for (what in names(changes)) {
    x <- edited(s, changes[[what]])
    for (door in names(doors)) {
      error <- expect_error(doors[[door]](x), class = "pysynthdp_changed_error", info = door)
      expect_match(conditionMessage(error), what, fixed = TRUE)
    }
  }
  expect_error(doors$with(edited(s, changes[[1L]])), "transform\\(.copy")
  expect_output(print(edited(s, changes[[1L]])), "CHANGED since they were drawn")
})

test_that("one copy changed, exchanged or lost is refused too", {
  skip_without_engine()
  s <- small()
  one <- s
  one$syn[[3]]$age[[5]] <- 17
  expect_error(as_synds(one), "'age' were changed in copy 3", class = "pysynthdp_changed_error")
  turned <- s
  turned$syn <- rev(turned$syn)
  expect_error(as_synds(turned), "copies stand in another order", class = "pysynthdp_changed_error")
  fewer <- s
  fewer$syn <- fewer$syn[-1]
  expect_error(as_synds(fewer), "2 copies, and 3 were drawn", class = "pysynthdp_changed_error")
  none <- s
  none$digest <- NULL
  expect_error(as_synds(none), "earlier version", class = "pysynthdp_changed_error")
})

test_that("what leaves the copies as they are is no change", {
  skip_without_engine()
  s <- small()
  file <- tempfile(fileext = ".rds")
  for (version in 2:3) {
    saveRDS(s, file, version = version)
    expect_identical(as_synds(readRDS(file)), as_synds(s))
  }
  expect_s3_class(from_synds(as_synds(s)), "synthetic")
  expect_identical(from_synds(as_synds(s))$tags, s$tags)
  expect_identical(as_synds(from_synds(as_synds(s))), as_synds(s))
  skip_without("tibble")
  expect_error(as_synds(edited(s, tibble::as_tibble)), NA)
})

test_that("the engine checks for itself, with the same digests", {
  skip_without_engine()
  for (m in c(1, 2)) {
    s <- small(m, keep = "region")
    expect_identical(lapply(pysynthdp:::digests_of(copies(s)), identity), unclass(s)$digest)
    s$syn <- if (m == 1) transform(s$syn, age = age + 1) else lapply(s$syn, transform, age = age + 1)
    expect_error(ask("write_release", x = pysynthdp:::sendable(s), folder = tempfile("never")), "copy 1 .* age",
                 class = "pysynthdp_bridge_error")
  }
})

test_that("columns made of the copy inside with() are analysed, and a table from outside is not", {
  skip_without_engine()
  s <- small(5)
  inside <- pool(with(s, {
    d <- transform(.copy, squared = age^2)
    lm(income ~ squared, data = d)
  }))
  expect_equal(unname(coef(inside)), unname(coef(pool(with(s, lm(income ~ I(age^2)))))))
  real <- survey_data(200L)
  for (refused in list(quote(with(s, lm(income ~ age, data = real))), quote(with(s, {
    d <- real
    lm(income ~ age, data = d)
  })))) {
    expect_error(eval(refused), "is not the copy", class = "pysynthdp_fit_error")
  }
})

test_that("fits that are the same in all copies are refused: they are not of the copies", {
  skip_without_engine()
  s <- small(5)
  real <- survey_data(200L)
  expect_error(pool(with(s, lm(real$income ~ real$age))), "the same in all copies", class = "pysynthdp_fit_error")
  expect_error(pool(with(s, glm(real$smokes ~ real$age, family = binomial))), "the same in all copies")
})

test_that("fits of shortened copies do not pass for fits of the copies", {
  skip_without_engine()
  s <- small(5)
  short <- lapply(copies(s), function(d) lm(income ~ age, data = d[1:50, ]))
  noted <- pool(short, data = s)
  expect_match(paste(noted$notes, collapse = " "), "25 % of the copies' complete rows")
  short[[2]] <- lm(income ~ age, data = s[[2]])
  expect_error(pool(short, data = s), "complete rows", class = "pysynthdp_fit_error")
})

# As sdc() of synthpop does with rm.replicated.uniques = TRUE, label = and bottom.top.coding =.
after_sdc <- function(s) {
  s$syn <- Map(function(d, lost) {
    d <- d[-seq_len(lost), ]
    d$age <- pmin(d$age, 70)
    data.frame(flag = "synthetic", d)
  }, s$syn, seq_along(s$syn))
  s
}

test_that("what sdc() did is taken by accept_sdc(), and said everywhere", {
  skip_without_engine()
  s <- small()
  expect_error(as_synds(after_sdc(s)), "accept_sdc", class = "pysynthdp_changed_error")
  set.seed(2)
  a <- accept_sdc(after_sdc(s))
  expect_identical(unique(sapply(a, nrow)), 197L)
  expect_identical(nobs(a), 197L)
  expect_identical(a$tags$n_org, 200L)
  expect_match(privacy_statement(a)$reason, "rows that repeat unique confidential records were removed")
  expect_match(privacy_statement(a)$reason, "flag was added")
  expect_match(paste(pool(with(a, lm(income ~ age)))$flags, collapse = " "), "changed after drawing")
  expect_equal(sqrt(diag(vcov(pool(with(a, lm(income ~ age)))))), {
    fits <- with(a, lm(income ~ age))
    u <- rowMeans(sapply(fits, function(f) diag(vcov(f))))
    sqrt(197 / 200 * u + apply(sapply(fits, coef), 1, var) / 3)
  })
  folder <- tempfile("release")
  write_release(a, folder, format = "csv")
  expect_false("differs" %in% verify_release(folder)$checks$result)
  expect_equal(copies(read_release(folder)), copies(a), ignore_attr = TRUE)
  expect_match(readLines(file.path(folder, "codebook.csv")), "^flag,categorical", all = FALSE)
  unlink(folder, recursive = TRUE)
  set.seed(2)
  expect_identical(copies(accept_sdc(after_sdc(as_synds(s)))), copies(a))
})

test_that("recoded columns are named where nothing else was done, and other changes are refused", {
  skip_without_engine()
  s <- small()
  a <- accept_sdc(edited(s, function(d) transform(d, age = pmin(age, 70))))
  expect_match(a$privacy$reason, "values of age were recoded")
  expect_identical(nobs(a), 200L)
  expect_error(accept_sdc(s), "as they were drawn", class = "pysynthdp_plan_error")
  expect_error(accept_sdc(edited(s, changes[[1L]])), "no label", class = "pysynthdp_changed_error")
  expect_error(accept_sdc(edited(s, changes[[2L]])), "lack 'smokes'", class = "pysynthdp_changed_error")
  expect_error(accept_sdc(iris), "synds", class = "pysynthdp_bridge_error")
})

test_that("no guarantee is left after sdc()", {
  skip_without_engine()
  declared <- list(Education = numeric_column(0, 100, decimals = 0, fallback = 10),
                   Catholic = numeric_column(0, 100, decimals = 2, fallback = 50))
  p <- synthesise(swiss[c("Education", "Catholic")], m = 3, schema = declared, guarantee = zcdp(rho = 1, unit = "province"))
  expect_identical(p$privacy$status, "implemented")
  q <- edited(p, function(d) d[-1, ])
  expect_error(write_release(q, tempfile("never")), class = "pysynthdp_changed_error")
  a <- accept_sdc(q)
  expect_identical(a$privacy$status, "none")
  expect_match(a$privacy$reason, "so none is left")
  expect_identical(a$tags$noise, p$tags$noise) # the rule still counts the noise
})

test_that("synthpop's own object with rows of different number is taken too", {
  skip_without_engine()
  d <- survey_data(200L)
  columns <- names(d)
  theirs <- structure(list(
    call = quote(syn(data = d)), m = 2L, syn = list(d[-1, ], d[-(1:3), ]), method = stats::setNames(rep("cart", 7L), columns),
    visit.sequence = stats::setNames(1:7, columns), proper = FALSE, n = 200L, k = 200L,
    cont.na = stats::setNames(rep(list(NA), 7L), columns)), class = "synds")
  expect_error(from_synds(theirs), "accept_sdc\\(\\) of R takes them", class = "pysynthdp_bridge_error")
  a <- accept_sdc(theirs)
  expect_identical(unique(sapply(a, nrow)), 197L)
  expect_match(paste(pool(with(a, lm(income ~ age)))$flags, collapse = " "), "changed after drawing")
})
