"""Estimates under a survey's design, with linearised variances: totals, means, ratios, regressions."""
