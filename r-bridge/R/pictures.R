# Pictures of evaluations in base graphics, from the frames that an evaluation holds. They read in grey, and each says
# INTERNAL. autoplot.R draws the same with ggplot2.

.internal <- "INTERNAL: copies against the confidential table"

# Panels on one page, with one title over them.
in_panels <- function(many, draw, title = .internal, mar = c(6, 4, 2, 1)) {
  old <- graphics::par(mfrow = grDevices::n2mfrow(many), mar = mar, oma = c(0, 0, 2, 0))
  on.exit(graphics::par(old))
  for (at in seq_len(many)) draw(at)
  graphics::mtext(title, outer = TRUE)
}

nothing_to_draw <- function(kind) {
  refuse("plan", paste0("there is nothing to draw for \"", kind, "\""), "see what was not computed, and why: print it",
         kind = "setting")
}

is_most <- function(most) {
  if (is.numeric(most) && length(most) == 1L && isTRUE(most >= 1)) return(as.integer(most))
  refuse("plan", "most must be a number of panels", "write most = 9", kind = "setting")
}

# Where the cells of a column stand: a histogram on its scale, spikes and missing kinds beside it; or one by one.
placed_cells <- function(part) {
  values <- part[part$kind == "value", ]
  scaled <- nrow(values) > 1L && !anyNA(values$low)
  apart <- if (scaled) part[part$kind != "value", ] else part
  width <- if (scaled) values$high[[1L]] - values$low[[1L]] else 0.8
  first <- if (scaled) max(values$high) + 2 * width else 0
  step <- if (scaled) 2 * width else 1
  x <- c(if (scaled) (values$low + values$high) / 2, first + step * (seq_len(nrow(apart)) - 1))
  cells <- rbind(if (scaled) values, apart)
  list(x = x, width = width, cells = cells, ticks = cell_ticks(if (scaled) values, apart, first, step))
}

cell_ticks <- function(values, apart, first, step) {
  own <- data.frame(at = first + step * (seq_len(nrow(apart)) - 1), label = short_label(apart$cell))
  if (is.null(values)) return(own)
  if (grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}", values$cell[[1L]])) { # dates
    some <- values[seq(1L, nrow(values), by = 6L), ]
    return(rbind(data.frame(at = some$low, label = sub(" .*", "", some$cell)), own))
  }
  at <- pretty(range(values$low, values$high), 4L)
  at <- at[at >= min(values$low) & at <= max(values$high)]
  rbind(data.frame(at = at, label = format(at, trim = TRUE)), own)
}

# 16 letters hold "up to 1994-05-25"
short_label <- function(text) ifelse(nchar(text) < 17L, text, paste0(substr(text, 1L, 14L), ".."))

draw_column <- function(part) {
  at <- placed_cells(part)
  half <- at$width / 2
  tall <- max(at$cells$confidential, at$cells$copies, 0.01)
  graphics::plot.new()
  graphics::plot.window(range(at$x - half, at$x + half), c(0, tall))
  graphics::rect(at$x - half, 0, at$x + half, at$cells$confidential, col = "grey72", border = NA)
  graphics::rect(at$x - half, 0, at$x + half, at$cells$copies, border = "grey10")
  graphics::axis(2, las = 1, cex.axis = 0.7)
  graphics::axis(1, at = at$ticks$at, labels = at$ticks$label, las = 2, cex.axis = 0.6)
  graphics::title(part$column[[1L]], cex.main = 0.9)
}

draw_columns <- function(x, most) {
  shown <- utils::head(x$tables[["one-way"]][["column 1"]], most)
  if (!length(shown)) nothing_to_draw("columns")
  frame <- x$tables$distributions
  in_panels(length(shown), function(at) draw_column(frame[frame$column == shown[[at]], ]),
            paste0(.internal, " (grey; copies are outlines)"))
}

# One table of residuals: the darker the more, a sign says whether the copies have more.
draw_residuals <- function(part) {
  rows <- unique(part$row)
  columns <- unique(part$column)
  z <- matrix(part$z, length(columns), length(rows)) # cells come row by row
  most <- max(6, abs(z), na.rm = TRUE)
  graphics::image(seq_along(columns), seq_along(rows), abs(z)[, rev(seq_along(rows)), drop = FALSE], zlim = c(0, most),
                  col = grDevices::grey(seq(1, 0.1, length.out = 32L)), axes = FALSE, xlab = "", ylab = "")
  graphics::axis(1, seq_along(columns), short_label(columns), las = 2, cex.axis = 0.6)
  graphics::axis(2, rev(seq_along(rows)), short_label(rows), las = 1, cex.axis = 0.6)
  told <- which(is.finite(z) & abs(z) >= 2, arr.ind = TRUE)
  if (nrow(told)) {
    value <- z[told]
    graphics::text(told[, 1L], length(rows) + 1L - told[, 2L], sprintf("%+.0f", value), cex = 0.6,
                   col = ifelse(abs(value) > most / 2, "white", "black"))
  }
  graphics::title(paste0(part$table[[1L]], ", in standard errors"), cex.main = 0.9)
}

draw_tables <- function(x, most) {
  frame <- x$pictures$residuals
  shown <- utils::head(unique(frame$table), most)
  if (!length(shown)) nothing_to_draw("tables")
  in_panels(length(shown), function(at) draw_residuals(frame[frame$table == shown[[at]], ]), mar = c(6, 6, 2, 1))
}

slopes_of <- function(frame) frame[!frame$term %in% c("Intercept", "(Intercept)", "const"), ]

draw_forest <- function(part) {
  slopes <- slopes_of(part)
  if (nrow(slopes)) part <- slopes
  terms <- unique(part$term)
  at <- length(terms) + 1L - match(part$term, terms)
  real <- part$side == "confidential"
  y <- at + ifelse(real, 0.14, -0.14)
  limits <- range(0, part$low, part$high, finite = TRUE)
  plot(NA, xlim = limits, ylim = c(0.5, length(terms) + 1), yaxt = "n", xlab = "", ylab = "")
  graphics::abline(v = 0, col = "grey70")
  graphics::segments(part$low, y, part$high, y, lty = ifelse(real, 1L, 2L), col = ifelse(real, "grey10", "grey50"))
  graphics::points(part$value, y, pch = ifelse(real, 19L, 15L), col = ifelse(real, "grey10", "grey50"))
  graphics::axis(2, rev(seq_along(terms)), terms, las = 1, cex.axis = 0.7)
  graphics::legend("top", c("confidential", "pooled"), lty = 1:2, pch = c(19L, 15L), col = c("grey10", "grey50"),
                   horiz = TRUE, bty = "n", cex = 0.7)
  graphics::title(part$model[[1L]], cex.main = 0.9)
}

draw_regressions <- function(x, most) {
  frame <- x$pictures$intervals
  shown <- utils::head(unique(frame$model), most)
  if (!length(shown)) nothing_to_draw("regressions")
  in_panels(length(shown), function(at) draw_forest(frame[frame$model == shown[[at]], ]), mar = c(3, 8, 2, 1))
}

draw_propensity <- function(x, most) {
  scores <- x$pictures$scores
  if (!sum(scores$confidential) > 0) nothing_to_draw("propensity")
  in_panels(1L, function(at) {
    tall <- max(scores$confidential, scores$copies)
    plot(NA, xlim = c(0, 1), ylim = c(0, tall), xlab = "chance to be a row of a copy", ylab = "share", las = 1)
    graphics::rect(scores$low, 0, scores$high, scores$confidential, col = "grey72", border = NA)
    graphics::rect(scores$low, 0, scores$high, scores$copies, border = "grey10")
  }, paste0(.internal, " (grey; copies are outlines)"), mar = c(4, 4, 1, 1))
}

draw_risk_by_keys <- function(x) {
  worst <- x$tables$worst[rev(seq_len(nrow(x$tables$worst))), ]
  limits <- range(0, worst$value, worst$baseline, na.rm = TRUE)
  graphics::dotchart(worst$value, risk_label(worst), pch = 19, xlim = limits, xlab = "per cent (line: baseline)",
                     main = "INTERNAL: disclosure risk", cex = 0.8)
  graphics::points(worst$baseline, seq_len(nrow(worst)), pch = "|", col = "grey30")
}

risk_label <- function(worst) {
  of <- ifelse(is.na(worst$target) | !nzchar(worst$target), "", paste(" of", worst$target))
  paste0(worst$measure, of, ", ", worst$keys)
}

# True against false positives: of the attack by shadow fits, and what a guarantee allows.
trade_off_frames <- function(x) {
  bound <- x$tables$trade_off
  measured <- x$tables$membership_curve
  if (is.null(bound) && is.null(measured)) {
    refuse("plan", "there is neither a guarantee nor a membership attack to draw",
           "ask for one with refit = list(...), shadow_fits = 64", kind = "setting")
  }
  list(bound = bound, measured = measured, title = if (is.null(measured)) "INTERNAL: what the guarantee allows"
                                                   else "INTERNAL: membership inference")
}

draw_trade_off <- function(x) {
  found <- trade_off_frames(x)
  plot(NA, xlim = 0:1, ylim = 0:1, xlab = "false positives", ylab = "true positives", main = found$title, asp = 1, las = 1)
  graphics::abline(0, 1, lty = 3, col = "grey50")
  if (!is.null(found$bound)) {
    graphics::lines(found$bound$false_positives, found$bound$most_true_positives, lty = 2, col = "grey25")
  }
  if (!is.null(found$measured)) {
    graphics::lines(found$measured$false_positives, found$measured$true_positives, type = "s")
  }
  shown <- c(TRUE, !is.null(found$bound), !is.null(found$measured))
  graphics::legend("bottomright", c("blind guess", "no attack lies above (guarantee)", "attack by shadow fits")[shown],
                   lty = c(3L, 2L, 1L)[shown], bty = "n", cex = 0.8)
}
