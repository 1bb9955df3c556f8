"""Curves that a plan names: which there are, and where they stand between declared bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Facts, Words
from pysynthdp.design.curves import Curve, curve_at
from pysynthdp.plan.factors import LEVEL, Factor
from pysynthdp.plan.step import Step
from pysynthdp.plan.synthesis_plan import SynthesisPlan
from pysynthdp.schema import NumericColumn

__all__ = ["named_curves", "public_curves"]


def named_curves(steps: Sequence[Step]) -> tuple[Factor, ...]:
    """List the curves that the terms of some steps name, each once, as they are met."""
    factors = (factor for step in steps for term in step.terms for factor in term)
    curves = (factor for factor in factors if isinstance(factor, Factor) and factor.form != LEVEL)
    return tuple(dict.fromkeys(curves))


def public_curves(plan: SynthesisPlan) -> tuple[Curve, ...]:
    """Place a plan's curves evenly between declared bounds, each row of a curve at most one long.

    Raises
    ------
    PrivacyError
        For a curve whose rows have no such bound, or that the declared bounds do not place.

    Notes
    -----
    Privacy: declared facts only.
    """
    return tuple(_public(factor, plan) for factor in named_curves(plan.steps))


def _public(factor: Factor, plan: SynthesisPlan) -> Curve:
    """Place one curve."""
    column = plan.schema[factor.column]
    bounds = (column.lower, column.upper) if isinstance(column, NumericColumn) else (None, None)
    low, high = (math.nan if bound is None else float(bound) for bound in bounds)
    if not low < high:
        what = Words("{name} has no declared bounds", name=factor.column)
        mend = Words("give {facts}", facts=Facts(lower=..., upper=...))
        raise PrivacyError(what, column=factor.column, kind="bounds", remedy=mend)
    if factor.form == "cr":
        what = Words("under a guarantee {factor} has no bound of its rows", factor=str(factor))
        mend = Words("use {other} in its place", other=f"bs({factor.column}, {max(3, int(factor.at[0]))})")
        raise PrivacyError(what, column=factor.column, kind="formula", remedy=mend)
    if factor.form == "log" and low <= 0:
        what = Words("{factor} needs a declared lower bound above zero", factor=str(factor))
        raise PrivacyError(what, column=factor.column, kind="bounds", remedy="declare one, or leave it out")

    def uniform(shares: FloatArray) -> FloatArray:
        return np.asarray(low + (high - low) * shares)

    at = tuple(int(number) for number in factor.at)
    return curve_at((factor.column, "value"), factor.form, at, uniform)
