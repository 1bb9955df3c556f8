# Fit one model to every synthetic copy and combine the fits. Needs the package arrow.
#
# Run it in this folder: Rscript analyse.R. Change model and fit to your own analysis; leave the rest.
#
# Rule noise_floored: T = max((1 + 1/m) b - ubar, ubar (f + (1 + f)/m)).
# Each copy redraws the privacy noise and the sampling around one noisy release, so b holds both
# and the copies' own sampling; ubar takes the last off, and never below the variance without
# noise.

files <- c("synthetic_1.parquet", "synthetic_2.parquet")
nest <- c(1, 2) # copies of one nest share what was done first; without nests each is its own
within <- -1.0
between <- 1.5
nested <- 0.0
floor_ <- 2.0

model <- `age` ~ 1

read <- function(file) {
  copy <- as.data.frame(arrow::read_parquet(file))
  named <- vapply(copy, is.factor, logical(1))
  copy[named] <- lapply(copy[named], as.character) # so that models see the levels that occur
  # set codes that are not values to NA here, if there are any
  copy
}

# estimates and variances of one copy, by term
fit <- function(copy) {
  done <- lm(model, data = copy)
  data.frame(q = coef(done), u = diag(vcov(done)))
}

# T = max(within ubar + between B + nested W, floor ubar), t on matched degrees of freedom
combine <- function(fits) {
  terms <- rownames(fits[[1]])
  same <- vapply(fits, function(one) identical(rownames(one), terms) && !anyNA(one), logical(1))
  if (!all(same)) stop("the copies differ in their terms: a level is absent in one; merge rare levels")
  of_nest <- function(values, f) t(apply(values, 1, function(row) tapply(row, nest, f)[unique(as.character(nest))]))
  rows <- function(x) matrix(x, nrow = length(terms))
  q <- rows(vapply(fits, `[[`, numeric(length(terms)), "q"))
  u <- rows(vapply(fits, `[[`, numeric(length(terms)), "u"))
  m <- length(unique(nest))
  r <- length(nest) / m
  means <- rows(if (m > 1) of_nest(q, mean) else rowMeans(q))
  w <- if (r > 1) rowMeans(rows(of_nest(q, var))) else numeric(length(terms))
  b <- if (m > 1) apply(means, 1, var) else numeric(length(terms))
  estimate <- rowMeans(means)
  ubar <- rowMeans(u)
  T <- pmax(within * ubar + between * b + nested * w, floor_ * ubar)
  df <- T^2 / ((between * b)^2 / max(m - 1, 1) + (nested * w)^2 / max(m * (r - 1), 1))
  se <- sqrt(ifelse(T > 0, T, NA)) # no interval where T is not positive: more copies are needed
  half <- qt(0.975, df) * se
  data.frame(
    estimate, std.error = se, df, p.value = 2 * pt(-abs(estimate) / se, df),
    conf.low = estimate - half, conf.high = estimate + half, row.names = terms
  )
}

pooled <- combine(lapply(files, function(file) fit(read(file))))
print(pooled, digits = 10)
