"""Whether rows drawn from a fit are like the real ones, while these are there: sums, scores, findings."""
