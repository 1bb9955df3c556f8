# Terms of a glm without a finite maximum of the likelihood, as the engine finds them in Python's fits: rows whose mean
# is not near its bound leave some directions free; one that moves no row the wrong way is a proof (Albert and Anderson
# 1984). A sparse term with one event and one non-event is never among them.
separated_terms <- function(fit) {
  likely <- bounded_outcome(fit)
  if (is.null(likely) || !any(likely$near)) return(character())
  beta <- stats::coef(fit)
  beta <- beta[!is.na(beta)]
  rows <- stats::model.matrix(fit)[, names(beta), drop = FALSE] * likely$sign
  size <- sqrt(colSums(rows^2))
  size[size == 0] <- 1
  rows <- sweep(rows, 2L, size, "/")
  free <- free_directions(rows[!likely$near, , drop = FALSE])
  if (!ncol(free)) return(character())
  moved <- drop(rows %*% (free %*% crossprod(free, beta * size)))
  largest <- max(abs(moved))
  if (largest <= 1e-9 || any(moved < -1e-6 * largest)) return(character())
  still <- free_directions(rows[moved <= 1e-6 * largest, , drop = FALSE])
  names(beta)[rowSums(abs(still) > 1e-6) > 0]
}

# Which rows are predicted nearly perfectly, and to which side they pull.
bounded_outcome <- function(fit) {
  if (!inherits(fit, "glm") || is.null(fit$y)) return(NULL)
  family <- fit$family$family
  mean <- stats::fitted(fit)
  if (family %in% c("binomial", "quasibinomial")) {
    near <- fit$y %in% c(0, 1) & abs(fit$y - mean) < 1e-3
    return(list(near = near, sign = ifelse(fit$y > 0.5, 1, -1)))
  }
  counts <- family %in% c("poisson", "quasipoisson") || startsWith(family, "Negative Binomial")
  if (!counts || fit$family$link != "log") return(NULL)
  list(near = fit$y == 0 & mean < 1e-3, sign = ifelse(fit$y > 0, 1, -1))
}

# Directions in which no row moves, as columns.
free_directions <- function(rows) {
  found <- svd(rbind(rows, 0), nu = 0L, nv = ncol(rows))
  sizes <- c(found$d, rep(0, ncol(rows) - length(found$d)))
  found$v[, sizes <= 1e-9 * max(sizes, 1e-9), drop = FALSE]
}
