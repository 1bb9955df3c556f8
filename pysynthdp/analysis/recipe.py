"""The rule that a release's own tags choose, as a few constants that any statistics program can apply."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pysynthdp.analysis.choose import choose, facts_of
from pysynthdp.analysis.rules.base import Rule, Sums
from pysynthdp.analysis.stack import Stack, stack
from pysynthdp.base.errors import CombiningRuleError, PysynthdpWarning
from pysynthdp.tags import ReleaseTags

__all__ = ["Recipe", "recipe_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """T = max(within ubar + between B + nested W, floor ubar), with t on matched degrees of freedom.

    B is the variance between the means of nests and W the mean variance within them; without nests every
    copy is a nest of its own and W is zero. With m nests of r copies the degrees of freedom are
    T^2/((between B)^2/(m - 1) + (nested W)^2/(m (r - 1))), infinite where that is a division by zero.

    Parameters
    ----------
    rule, formula, reason : str
        Name of the rule, its formula, and why it is right; ``reason`` alone when no rule can be given.
    within, between, nested, floor : float
        The constants; ``floor`` is 0 where there is none.
    nests : tuple of int, length m
        Number of the nest of each copy, from 1.
    """

    rule: str
    formula: str
    reason: str
    within: float = 0.0
    between: float = 0.0
    nested: float = 0.0
    floor: float = 0.0
    nests: tuple[int, ...] = ()

    def variance(self, sums: Sums) -> float:
        """T by the constants."""
        parts = self.within * sums.ubar + self.between * (0 if sums.b is None else sums.b)
        T = parts + self.nested * (0 if sums.W is None else sums.W)
        return float(np.maximum(T, self.floor * sums.ubar))

    def df(self, sums: Sums) -> float:
        """Degrees of freedom by the constants."""
        between = self.between * float(0 if sums.b is None else sums.b)
        nested = self.nested * float(0 if sums.W is None else sums.W)
        spread = between**2 / max(sums.m - 1, 1) + nested**2 / max(sums.m * (sums.r - 1), 1)
        return self.variance(sums) ** 2 / spread if spread > 0 else float("inf")


def recipe_of(tags: ReleaseTags, columns: Sequence[str]) -> Recipe:
    """Write down the rule that ``pool`` would choose for a model that may use every column.

    Parameters
    ----------
    tags : ReleaseTags
        What the release says of itself.
    columns : sequence of str
        Columns of a copy.

    Returns
    -------
    Recipe
        Without a rule, and with the reason, when ``pool`` would refuse, would need to be told more, or the
        rule is not of this form.
    """
    if tags.rows_replaced != "all":
        return _none("only part of the rows was replaced; the model must be fitted on the replaced rows.")
    if tags.unit is not None:
        return _none(
            f"rows of one {tags.unit} belong together, so errors must be those of clusters, and sizes count "
            "units: analyse the copies with pysynthdp, or one row a unit."
        )
    values = _stack(tags)
    facts = facts_of(tags, frozenset(columns), n_org=tags.n_org, noise_var_known=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PysynthdpWarning)  # said again when the copies are pooled
            rule = choose(facts, values)
    except CombiningRuleError as error:
        return _none(f"{error}.")
    recipe = _probe(rule, values)
    if not _agrees(recipe, rule, values):
        return _none(f"the rule {rule.name} has no short form. {rule.right_when}")
    return recipe


def _none(reason: str) -> Recipe:
    """Give no rule, but say why."""
    return Recipe(rule="", formula="", reason=reason)


def _stack(tags: ReleaseTags) -> Stack:
    """Stand-ins for estimates, with the sizes and nests of the release."""
    plain = stack(
        np.arange(tags.m, dtype=np.float64) ** 2,
        np.ones(tags.m),
        n_syn=tags.n_syn,
        n_org=tags.n_org,
        nests=tags.nests,
    )
    known = {name: getattr(plain, name) for name in plain.__slots__}
    return Stack(**{**known, "n_eff": tags.details.get("n_eff")})


def _sums(rule: Rule, values: Stack, ubar: float, b: float, W: float) -> Sums:
    """Put numbers in the place of what the copies would show."""
    shape = values.sums(nested=rule.nested)
    return Sums(
        m=shape.m,
        ubar=np.asarray(ubar),
        b=None if shape.b is None else np.asarray(b),
        n_syn=values.n_syn,
        n_org=values.n_org,
        r=shape.r,
        W=None if shape.W is None else np.asarray(W),
        n_eff=values.n_eff,
    )


def _probe(rule: Rule, values: Stack) -> Recipe:
    """Read the constants off the rule's own arithmetic, far above any floor."""

    def variance(ubar: float, b: float, W: float) -> float:
        with np.errstate(all="ignore"):
            return float(rule.variance(_sums(rule, values, ubar, b, W)))

    high = 2.0**20
    between = variance(0, high, 0) / high
    within = variance(1, high, 0) - between * high
    nested = variance(0, high, 1) - between * high
    low = variance(1, 0, 0)
    nests = range(values.m) if values.nests is None or not rule.nested else values.nests
    return Recipe(
        rule=rule.name,
        formula=rule.formula,
        reason=rule.right_when,
        within=within,
        between=between if values.m > 1 else 0.0,
        nested=nested,
        floor=low if low > within + 1e-9 else 0.0,
        nests=tuple(int(nest) + 1 for nest in nests),
    )


def _agrees(recipe: Recipe, rule: Rule, values: Stack) -> bool:
    """Whether the constants give what the rule gives, at places where the terms weigh differently."""
    for ubar, b, W in ((1.0, 0.7, 0.4), (0.3, 2.0, 0.1), (2.0, 0.1, 0.05)):
        sums = _sums(rule, values, ubar, b, W)
        with np.errstate(all="ignore"):
            T, df = float(rule.variance(sums)), float(rule.df(sums))
        if not np.isclose(recipe.variance(sums), T, rtol=1e-9):
            return False
        if T > 0 and not np.isclose(recipe.df(sums), df, rtol=1e-6):
            return False
    return True
