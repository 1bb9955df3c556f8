"""Choose a combining rule by the release's own tags, and say why."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Self

import numpy as np

from pysynthdp.analysis.combining import lacking
from pysynthdp.analysis.rules.base import RULES, Facts, Rule, find_rule
from pysynthdp.analysis.rules.conditions import GIVE_NOISE_VAR, N_ORG
from pysynthdp.analysis.stack import Stack
from pysynthdp.base.errors import CombiningRuleError, PysynthdpWarning
from pysynthdp.base.registry import is_outside, package_of
from pysynthdp.base.remarks import outside
from pysynthdp.base.words import Setting, Words, joined
from pysynthdp.tags import ReleaseTags

__all__ = ["Why", "choose", "facts_of", "model_columns", "objections", "take", "whose", "why"]


class Why(str):
    """Two sentences on the choice of a rule; calling it returns it.

    Parameters
    ----------
    made : str
        How the copies were made.
    theory : str
        Why the rule fits that.
    short : str
        The first without the sizes, for a table that shows those by themselves.
    """

    __slots__ = ("short", "theory")

    short: str
    theory: str

    def __new__(cls, made: str, theory: str, short: str) -> Self:
        """Join the sentences, and keep the parts."""
        text = super().__new__(cls, f"{made}. {theory}")
        text.theory, text.short = theory, short
        return text

    def __reduce__(self) -> tuple[type[Why], tuple[str, str, str]]:
        """Copy and pickle with its parts."""
        return Why, (self.removesuffix(f". {self.theory}"), self.theory, self.short)

    def __call__(self) -> str:
        """Return the sentences."""
        return str(self)


def model_columns(formula: str | None, columns: Iterable[str]) -> frozenset[str]:
    """Columns that a formula may use; all of them when there is no formula.

    A name counts wherever it stands, but for functions and attributes, so the answer errs on the side of
    more columns: that can only make the choice of a rule more careful.
    """
    names = frozenset(columns)
    if formula is None:
        return names
    quoted = re.findall(r"Q\(\s*(?:'([^']*)'|\"([^\"]*)\")\s*\)|`([^`]*)`", formula)
    found = {part for parts in quoted for part in parts if part}
    rest = re.sub(r"Q\(\s*(?:'[^']*'|\"[^\"]*\")\s*\)|`[^`]*`|'[^']*'|\"[^\"]*\"", " ", formula)
    found |= set(re.findall(r"(?<![\w.])[^\W\d]\w*(?!\w|\s*\()", rest))
    if re.search(r"~\s*\.(?!\w)|\+\s*\.(?!\w)", rest):
        return names
    return names & found


def facts_of(tags: ReleaseTags, used: frozenset[str], *, n_org: float | None, noise_var_known: bool) -> Facts:
    """Give what the tags say of the copies, for a model that uses the given columns."""
    real = used & tags.kept if tags.kind == "complete" else used - tags.synthesised
    return Facts(
        m=tags.m,
        all_synthetic=tags.kind != "imputed" and not real,
        synthetic=tags.kind != "imputed",
        parameters=tags.parameters,
        sizes_known=n_org is not None,
        same_size=n_org is not None and n_org == tags.n_syn,
        sampling=tags.sampling,
        noise=tags.noise,
        noise_var_known=noise_var_known,
        nesting=tags.nesting,
        labelled=tags.nests is not None,
        bias=tags.bias,
        draws=tags.draws,
        effective=tags.details.get("n_eff") is not None,
    )


def objections(rule: Rule, facts: Facts | None, values: Stack) -> list[str]:
    """Say why a rule is not valid for these copies; empty when it is."""
    found = [] if facts is None else [c.otherwise for c in rule.conditions if not c.holds(facts)]
    if rule.nested and values.nests is None:
        return found or ["it needs copies labelled by nest"]
    missing = lacking(rule, values.sums(nested=rule.nested))
    return found or ([Words("it needs {missing}", missing=missing)] if missing else [])


def choose(facts: Facts, values: Stack) -> Rule:
    """Return the first rule of this package, in the registry's order of preference, that is valid.

    Rules of other packages are never chosen, whatever ``order`` they have: who installs a package has not
    asked for other intervals. They are taken by name.

    Raises
    ------
    CombiningRuleError
        When none is; the message says what stands in the way of the likeliest one.
    """
    if facts.nesting == "imputed" and not facts.labelled:
        warnings.warn(
            "missing values were imputed before the synthesis, but the copies are not labelled by it: "
            "set the tag nests, and the rule for nested copies can be used",
            PysynthdpWarning,
            stacklevel=outside(),
        )
        facts = _without_nesting(facts)
    own = (RULES[name]() for name in RULES if not is_outside(RULES[name]))
    ordered = sorted(own, key=lambda rule: rule.order or 0)
    fair = [rule for rule in ordered if facts.bias == "none" or facts.bias in rule.covers_bias]
    candidates = [rule for rule in fair if rule.order is not None]
    for rule in candidates:
        if not objections(rule, facts, values):
            return rule
    raise CombiningRuleError(_no_rule(facts, values, candidates), kind="rule")


def _without_nesting(facts: Facts) -> Facts:
    """Treat unlabelled nests as plain copies, which is the best that is left."""
    return Facts(**{**{name: getattr(facts, name) for name in facts.__slots__}, "nesting": "none"})


def _no_rule(facts: Facts, values: Stack, candidates: list[Rule]) -> str:
    """Explain why no rule is valid, and what to do."""
    if facts.noise == "shared":
        return Words(
            "all copies come from one fit with privacy noise, which they cannot show between them; {give}, "
            "the variance that the noise gives this estimate, and 'shared_noise_added' is used",
            give=GIVE_NOISE_VAR,
        )
    if facts.noise == "per_copy_from_one":
        return _no_noisy_rule(facts)
    if facts.m == 1 and not facts.all_synthetic:
        return (
            "with one copy and a real variable in the model no rule is valid, since the copy does not show "
            "what the synthesis adds; draw m = 5 copies or more, and 'partial_size_adjusted' is used"
        )
    if not facts.sizes_known:
        what = "n_org is not published, and every valid rule needs it; give {n_org} if you know it"
        return Words(what, n_org=N_ORG)
    staged = _no_staged_rule(facts, values)
    if staged:
        return staged
    against = [(rule.name, objections(rule, facts, values)[0]) for rule in candidates]
    reasons = joined([Words("{rule}: {why}", rule=rule, why=why) for rule, why in against], "; ")
    return Words("no combining rule is valid for these copies ({reasons})", reasons=reasons)


def _no_noisy_rule(facts: Facts) -> Words | str:
    """Explain it for copies around one noisy release."""
    if facts.draws == "even":
        return Words(
            "privacy noise was drawn again for each copy around one release, and the rows were drawn evenly, "
            "so no rule knows how much of the spread between copies is their own; draw with {draws}, and "
            "'noise_floored' is used",
            draws=Setting("draws", "independent"),
        )
    return (
        "privacy noise was drawn again for each copy around one release, so its size shows only between "
        "copies and one copy gives no interval; draw m = 20 copies, and 'noise_floored' is used"
    )


def _no_staged_rule(facts: Facts, values: Stack) -> str:
    """Explain it for copies in nests; empty where the reasons of the rules say more."""
    if facts.nesting == "pseudo_population":
        return _no_population_rule(facts)
    if facts.nesting == "imputed" and values.nests is not None and np.unique(values.nests).size == facts.m:
        return (
            "with one copy of each imputed table no rule is sure, since nothing shows what the synthesis "
            "adds; draw m = 5 copies of each (two at least), and 'missing_then_partial_reiter2004' is used, "
            "or name 'missing_then_partial_conservative', whose intervals are too wide"
        )
    return ""


def _no_population_rule(facts: Facts) -> str:
    """Explain it for copies of pseudo-populations."""
    if facts.m == 1:
        return (
            "one copy of one pseudo-population does not show what another sample would have said; draw 20, "
            "one of each population, and 'pseudo_population_single' is used"
        )
    return (
        "'pseudo_population_single' and 'pseudo_population_nested' pool copies of pseudo-populations whose "
        "independent rows are drawn at fitted parameters; others have no rule"
    )


def take(name: str, facts: Facts | None, values: Stack) -> Rule:
    """Return the rule asked for by name or alias, or refuse and name one that is valid.

    Raises
    ------
    CombiningRuleError
        When the rule is unknown or not valid for these copies.
    """
    rule = find_rule(name)
    against = objections(rule, facts, values)
    if not against:
        return rule
    valid = [] if facts is None else [key for key in RULES if not objections(RULES[key](), facts, values)]
    hint = f"valid here: {', '.join(valid)}" if valid else "no rule is valid for these copies"
    what = Words("rule '{rule}' is not valid here: {why}", rule=rule.name, why=against[0])
    raise CombiningRuleError(what, kind="rule", remedy=hint)


def why(facts: Facts | None, rule: Rule, *, n_syn: float | None, n_org: float | None, m: int) -> Why:
    """Write two sentences: how the copies were made, and why the rule fits that; and whose the rule is."""
    theory = f"{rule.right_when} The rule is {whose(rule)}." if is_outside(rule) else rule.right_when
    sizes = f"{_size(n_syn)} rows each for {_size(n_org)} confidential ones"
    if facts is None:
        return Why(f"{m} copies without tags, {sizes}", theory, "copies without tags")
    kind = "all values in the model are synthetic"
    if not facts.all_synthetic:
        kind = "some values in the model are real"
    if not facts.synthetic:
        kind = "only missing values are imputed"
    drawn = "drawn anew for each copy" if facts.parameters == "drawn" else "fitted once"
    noise = "no privacy noise" if facts.noise == "none" else f"privacy noise: {facts.noise.replace('_', ' ')}"
    copies = "One copy" if m == 1 else f"{m} copies"
    rows = ", rows drawn evenly" if facts.draws == "even" else ""
    short = f"{kind}, parameters {drawn}{rows}, {noise}"
    return Why(f"{copies}, {sizes}: {short}", theory, short)


def whose(rule: Rule) -> str:
    """Name the package that brought a rule, where that is not this one; else empty."""
    if not is_outside(rule):
        return ""
    return f"code of the package {package_of(rule)!r}, unreviewed by pysynthdp"


def _size(value: float | None) -> str:
    """Write a number of rows."""
    return "not published" if value is None else f"{value:,.0f}"
