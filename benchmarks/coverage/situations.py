"""What `inference.py` runs: fixed, and committed, before the first run.

``expect`` says what the rule is for these copies:

right        its coverage must differ from 0.95 by less than 0.015 plus three Monte-Carlo standard errors
reported     right, but n < 200 or a non-linear model: the number is shown without a bar
conservative known to cover too often
undefined    right, but sometimes without an interval, which counts as a miss
wrong        what an analyst might do instead; `pool` refuses it, or would not choose it
broken       the synthesis model lacks what the analysis looks for, which no rule repairs
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

NAIVE = "one copy as real"


@dataclass(frozen=True, slots=True)
class Situation:
    """One way to make copies, one analysis of them, one rule."""

    made: str
    n: int
    m: int
    k: int
    analysis: str
    rule: str
    expect: str
    r: int = 1

    @property
    def has_bar(self) -> bool:
        """Whether a number outside the bar is a missed goal."""
        return self.expect == "right"


def _means() -> list[Situation]:
    """Give the normal mean, 20,000 runs: users' situations, every rule for one number."""
    found = []
    n = 400
    for made, m, k in product(("fitted", "drawn"), (1, 5, 20), (n // 2, n, 2 * n)):
        own = "raab_simple" if made == "fitted" else "raab_proper"
        found += [(made, n, m, k, own, "right"), (made, n, m, k, NAIVE, "wrong")]
        if m > 1:
            found += [
                (made, n, m, k, "partial_size_adjusted", "right"),
                (made, n, m, k, "partial_reiter2003", "right" if k == n else "wrong"),
                (made, n, m, k, "missing_rubin1987", "wrong"),
            ]
        if made == "fitted" and m > 1:
            found.append((made, n, m, k, "full_rrr2003", "wrong"))
        if made == "drawn":
            found.append((made, n, m, k, "raab_simple", "wrong"))
    for m, rule in product(
        (5, 20, 50), ("full_rrr2003", "full_reiter2002_adjusted", "full_posterior_truncated")
    ):
        expect = "undefined" if rule == "full_rrr2003" else "conservative"
        found.append(("drawn", n, m, n, rule, expect))
    for size in (50, 200, 1000, 5000):
        found += [
            (made, size, 5, size, "partial_size_adjusted", "reported" if size < 200 else "right")
            for made in ("fitted", "drawn")
        ]
    found += [
        ("half the rows, model from them, analysed alone", n, 5, n // 2, "partial_size_adjusted", "right"),
        ("half the rows, model from them, all analysed", n, 5, n, "partial_size_adjusted", "right"),
        ("half the rows, model from all, analysed alone", n, 5, n // 2, "partial_size_adjusted", "right"),
        ("half the rows, model from all, all analysed", n, 5, n, "partial_size_adjusted", "wrong"),
        ("fresh subsample of half", n, 5, n // 2, "partial_size_adjusted", "right"),
        ("fresh subsample of half", n, 5, n // 2, "raab_simple", "wrong"),
        ("fresh sample of a synthetic census", n, 5, n, "census_fresh_samples", "right"),
        ("fresh sample of a synthetic census", n, 20, n, "census_fresh_samples", "right"),
        ("fresh sample of a synthetic census", n, 5, n, "partial_size_adjusted", "wrong"),
        ("one noisy fit for all copies", n, 5, n, "shared_noise_added", "right"),
        ("one noisy fit for all copies", n, 20, 2 * n, "shared_noise_added", "right"),
        ("one noisy fit for all copies", n, 5, n, "partial_size_adjusted", "wrong"),
        ("one noisy fit for all copies", n, 5, n, "raab_simple", "wrong"),
        ("a fresh noisy fit for each copy", n, 5, n, "partial_size_adjusted", "right"),
        ("a fresh noisy fit for each copy", n, 20, n, "partial_size_adjusted", "right"),
        ("noise drawn again around one release", n, 20, n, "full_rrr2003", "undefined"),
        ("noise drawn again around one release", n, 50, n, "full_rrr2003", "undefined"),
        ("noise drawn again around one release", n, 20, n, "partial_size_adjusted", "wrong"),
        ("missing values imputed only", n, 5, n, "missing_rubin1987", "right"),
        ("missing values imputed only", 50, 5, 50, "missing_barnard_rubin1999", "reported"),
        ("missing values imputed only", 50, 5, 50, "missing_rubin1987", "reported"),
        ("pseudo-populations", n, 20, n, "pseudo_population_single", "undefined"),
        ("pseudo-populations", n, 50, n, "pseudo_population_single", "undefined"),
        ("pseudo-populations", n, 20, n, "partial_size_adjusted", "wrong"),
    ]
    nested = [
        ("imputed, then synthesised", 5, "missing_then_partial_reiter2004", "right", 5),
        ("imputed, then synthesised", 5, "missing_then_partial_reiter2004", "undefined", 2),
        ("imputed, then synthesised", 5, "missing_then_partial_conservative", "conservative", 5),
        ("imputed, then synthesised", 5, "partial_size_adjusted", "wrong", 5),
        ("synthesised in two stages", 5, "two_stage_partial", "right", 5),
        ("populations imputed in two stages", 20, "two_stage_full", "undefined", 5),
        ("pseudo-populations", 20, "pseudo_population_nested", "undefined", 5),
    ]
    return [Situation(a, b, c, d, "mean", e, f) for a, b, c, d, e, f in found] + [
        Situation(made, n, m, n, "mean", rule, expect, r) for made, m, rule, expect, r in nested
    ]


def _joint() -> list[Situation]:
    """Give tests that three coefficients are zero, which they are: 1 - size against 0.95."""
    n = 400
    wald = [
        ("fitted", 5, "wald_partial_reiter2005", "right", 1),
        ("drawn", 5, "wald_partial_reiter2005", "right", 1),
        ("drawn", 10, "wald_partial_reiter2005", "right", 1),
        ("fitted", 1, "wald_known_variance", "right", 1),
        ("drawn", 5, "wald_full_reiter2005", "undefined", 1),
        ("drawn", 50, "wald_full_reiter2005", "undefined", 1),
        ("drawn", 5, "wald_missing_lrr1991", "wrong", 1),
        ("missing values imputed only", 5, "wald_missing_lrr1991", "right", 1),
        ("fresh sample of a synthetic census", 20, "wald_between_only", "right", 1),
        ("imputed, then synthesised", 5, "wald_nested", "right", 5),
        ("imputed, then synthesised", 10, "wald_nested", "right", 3),
    ]
    found = [Situation(made, n, m, n, "three means", test, e, r) for made, m, test, e, r in wald]
    ratios = [
        ("fitted", 5, "lr_partial_reiter2005", "reported", 1),
        ("drawn", 5, "lr_partial_reiter2005", "reported", 1),
        ("drawn", 50, "lr_full_reiter2005", "undefined", 1),
        ("missing values imputed only", 5, "lr_missing_mengrubin1992", "reported", 1),
        ("imputed, then synthesised", 5, "lr_nested", "reported", 3),
    ]
    return found + [Situation(made, n, m, n, "logistic", test, e, r) for made, m, test, e, r in ratios]


def _tables() -> list[Situation]:
    """Tables through the package's own synthesizer, rule chosen by `pool`; 300 runs or more."""
    found = []
    for made, n in product(("fitted", "drawn"), (50, 200, 500, 5000)):
        for analysis in ("linear", "logistic", "poisson", "multinomial"):
            expect = "right" if analysis == "linear" and n >= 200 else "reported"
            found += [Situation(made, n, m, n, analysis, "auto", expect) for m in (1, 5)]
            if n == 500:
                sizes = ((1, n // 2), (1, 2 * n), (5, n // 2), (5, 2 * n))
                found += [Situation(made, n, m, k, analysis, "auto", expect) for m, k in sizes]
    for made in ("fitted", "drawn"):
        found += [
            Situation(f"{made}, predictors kept real", 500, 5, 500, "linear", "auto", "right"),
            Situation(f"{made}, predictors kept real", 500, 5, 500, "logistic", "auto", "reported"),
            Situation(f"{made}, interaction not modelled", 500, 5, 500, "interaction", "auto", "broken"),
            Situation(f"{made}, unequal spread not modelled", 500, 5, 500, "robust linear", "auto", "broken"),
        ]
    return found


MEANS = tuple(_means())
JOINT = tuple(_joint())
TABLES = tuple(_tables())
