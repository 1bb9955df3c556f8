"""The conditions that several rules share, each with the sentence that says it does not hold."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import Condition
from pysynthdp.base.words import Argument, Said, Words

__all__ = [
    "ALL_SYNTHETIC",
    "CENSUS",
    "DRAWN",
    "EFFECTIVE",
    "FITTED",
    "FLAT",
    "GIVE_NOISE_VAR",
    "IMPUTATION_ONLY",
    "INDEPENDENT",
    "NESTED_IMPUTED",
    "NESTED_PSEUDO",
    "NESTED_TWO_STAGE",
    "NOISE_REDRAWN",
    "NOISE_VARIANCE",
    "NOT_CENSUS",
    "NO_NOISE",
    "NO_NOISE_BUT_FRESH",
    "NO_SUBSAMPLE",
    "N_ORG",
    "ONE_NOISY_RELEASE",
    "PSEUDO",
    "SAME_SIZE",
    "SHARED_NOISE",
    "SIZES",
    "SOME_SYNTHETIC",
    "TWO_COPIES",
]

N_ORG = Argument("n_org")
GIVE_NOISE_VAR = Said("give noise_var=", "give noise_var= in Python", "give noise_var= to pool() in Python")
NO_NOISE = Condition(
    lambda facts: facts.noise == "none", "it ignores the privacy noise in the copies and covers far below 95%"
)
NO_NOISE_BUT_FRESH = Condition(
    lambda facts: facts.noise in ("none", "per_copy_fresh"),
    "it ignores the privacy noise that the copies share and covers far below 95%; "
    "it would need a fresh noisy release for each copy",
)
ONE_NOISY_RELEASE = Condition(
    lambda facts: facts.noise in ("none", "per_copy_from_one"),
    "it ignores the privacy noise, unless that is drawn again for each copy around one release",
)
NOISE_REDRAWN = Condition(
    lambda facts: facts.noise == "per_copy_from_one",
    "it is for copies around one release with privacy noise, drawn again for each copy",
)
EFFECTIVE = Condition(
    lambda facts: facts.effective,
    "the release states no effective number of rows: that holds for tables of numbers alone, and only where "
    "the noise is small beside the signal",
)
SHARED_NOISE = Condition(
    lambda facts: facts.noise == "shared", "it is for copies that share the privacy noise of one fit"
)
NOISE_VARIANCE = Condition(
    lambda facts: facts.noise_var_known,
    Words("the variance that the noise gives this estimate is not known; {give}", give=GIVE_NOISE_VAR),
)
TWO_COPIES = Condition(
    lambda facts: facts.m >= 2,
    "it needs the variance between two or more copies; "
    "with one copy only 'raab_simple' and 'raab_proper' work",
)
SIZES = Condition(
    lambda facts: facts.sizes_known,
    Words("it needs n_syn and n_org, and n_org is not published; give {n_org}", n_org=N_ORG),
)
SAME_SIZE = Condition(
    lambda facts: facts.same_size,
    "it holds for n_syn = n_org only; the size-adjusted form of the rule takes any size",
)
ALL_SYNTHETIC = Condition(
    lambda facts: facts.all_synthetic, "the model uses values that are real, and it counts all as synthetic"
)
SOME_SYNTHETIC = Condition(
    lambda facts: facts.synthetic, "nothing is synthetic in these copies; use 'missing_rubin1987'"
)
IMPUTATION_ONLY = Condition(
    lambda facts: not facts.synthetic,
    "it is for imputed missing values only and is far too wide for synthetic copies",
)
FITTED = Condition(
    lambda facts: facts.parameters == "fitted",
    "parameters were drawn anew for each copy; 'raab_proper' counts that",
)
DRAWN = Condition(
    lambda facts: facts.parameters == "drawn",
    "the copies were drawn at the fitted parameters, not at drawn ones",
)
FLAT = Condition(
    lambda facts: facts.nesting == "none", "the copies come from two stages, of which it counts only one"
)
NO_SUBSAMPLE = Condition(
    lambda facts: facts.sampling == "none", "the rows were sampled first, and it does not count that sampling"
)
NOT_CENSUS = Condition(
    lambda facts: facts.sampling != "census",
    "each copy is a fresh sample of a synthetic census; 'census_fresh_samples' is for that",
)
CENSUS = Condition(
    lambda facts: facts.sampling == "census", "it is for fresh samples from a synthetic census only"
)
INDEPENDENT = Condition(
    lambda facts: facts.draws == "independent",
    "the rows of a copy were drawn evenly, so b lacks the variance of independent rows that it takes off",
)
NESTED_IMPUTED = Condition(
    lambda facts: facts.nesting == "imputed" and facts.labelled,
    "it needs copies labelled by the imputation (nest) that they come from",
)
NESTED_TWO_STAGE = Condition(
    lambda facts: facts.nesting == "two_stage" and facts.labelled,
    "it needs copies made in two stages, labelled by the first",
)
NESTED_PSEUDO = Condition(
    lambda facts: facts.nesting == "pseudo_population" and facts.labelled,
    "it needs several copies of each pseudo-population's sample, labelled by pseudo-population",
)
PSEUDO = Condition(
    lambda facts: facts.nesting == "pseudo_population" and not facts.labelled,
    "it needs one copy of a simple random sample from each of several pseudo-populations",
)
