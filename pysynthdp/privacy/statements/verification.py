"""Recomputing the numbers of a privacy statement from its own constants: arithmetic, and no more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.display import Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.mechanism import MECHANISMS, mechanism_from_dict, paid_draws, price_of
from pysynthdp.privacy.statements.claim import Claim
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["Check", "Verification", "column_cost", "shares_of", "verified"]

_AGREE = 1e-9
_VERDICTS = {
    "none": "no guarantee is stated, so there is no number to recompute",
    "void": "void: a seeded run for testing; its arithmetic is right, but no guarantee holds",
}
_RIGHT = "the arithmetic of this statement is right"
_WRONG = "the numbers do not follow from the statement's own constants"
_BEYOND = (
    "The statement was compared with itself alone: this says nothing about who made it, or about any file. "
    "pysynthdp.verify(folder) compares the files of a release, and checks a signature with a key."
)


@dataclass(frozen=True, slots=True)
class Check:
    """One number of a statement, or what stands beside it, stated and recomputed.

    Parameters
    ----------
    what : str
        Which number.
    stated, recomputed : float or str
        The statement's, and that from its public constants.
    agrees : bool
        Whether both agree to 1e-9; words to the letter.
    """

    what: str
    stated: float | str
    recomputed: float | str
    agrees: bool


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Printable):
    """Every number of a statement beside its recomputation.

    Parameters
    ----------
    checks : tuple of Check
        Empty for a statement without a guarantee, which quotes no number.
    status : str
        Of the statement: ``"none"``, ``"idealised"``, ``"implemented"`` or ``"void"``.

    Notes
    -----
    Privacy: post-processing of public constants. A statement whose constants are invented, and whose numbers
    follow from them, has right arithmetic: who made it is another question.
    """

    checks: tuple[Check, ...]
    status: str

    @property
    def agrees(self) -> bool:
        """Whether every number follows from the constants; also true where there is none."""
        return all(check.agrees for check in self.checks)

    @property
    def ok(self) -> bool:
        """Whether a guarantee is stated, is not void, and every number of it follows from the constants."""
        return self.agrees and self.status in ("idealised", "implemented")

    @property
    def verdict(self) -> str:
        """In one clause, what was found."""
        return _VERDICTS.get(self.status, _RIGHT) if self.agrees else _WRONG

    def to_table(self) -> Table:
        """Build the table that people see."""
        rows = tuple((check.what, check.stated, check.recomputed, check.agrees) for check in self.checks)
        heads = ("number", "stated", "recomputed", "agrees") if rows else ()
        return Table(f"Verification: {self.verdict}", columns=heads, rows=rows, notes=(_BEYOND,))


def column_cost(part: ColumnStatement, draws: Sequence[Draw], *, unit: PrivacyUnit) -> Guarantee:
    """Price a column of a statement from its own constants.

    Parameters
    ----------
    part : ColumnStatement
        With mechanism and constants.
    draws : sequence of Draw
        At least one.
    unit : PrivacyUnit
        Whose record is protected.

    Returns
    -------
    Guarantee

    Raises
    ------
    PrivacyError
        If the constants do not fit the mechanism.

    Notes
    -----
    Privacy: post-processing of public constants.
    """
    mechanism = mechanism_from_dict(part.mechanism, part.constants)
    return compose([price_of(mechanism, draw, unit=unit) for draw in paid_draws(mechanism, draws)])


def shares_of(costs: Sequence[Guarantee], delta: float) -> tuple[float, ...]:
    """Divide a total among its steps: each one's epsilon alone over the sum of all.

    Parameters
    ----------
    costs : sequence of Guarantee
        One a step.
    delta : float
        Where epsilon is quoted.

    Returns
    -------
    tuple of float
        Between zero and one; they sum to one.

    Notes
    -----
    Privacy: post-processing of public constants.
    """
    alone = [cost.epsilon(delta) for cost in costs]
    total = math.fsum(alone)
    return tuple(epsilon / total if total > 0 else 1 / len(alone) for epsilon in alone)


def verified(statement: Claim) -> Verification:
    """Recompute a statement, part by part if it is composed."""
    if statement.status == "none":
        return Verification((), statement.status)
    if statement.parts:
        inner = [check for part in statement.parts for check in verified(part).checks]
        total = compose([part.guarantee for part in statement.parts])
        return Verification((*inner, *_totals(statement, total)), statement.status)
    costs = [column_cost(part, statement.draws, unit=statement.unit) for part in statement.columns]
    checks = [_column_check(part, cost) for part, cost in zip(statement.columns, costs, strict=True)]
    checks += _share_checks(statement, costs)
    checks += [_words_check(part) for part in statement.columns]
    checks.append(_status_check(statement))
    checks += [_rows_check(statement)] if statement.unit.whole else []
    return Verification((*checks, *_totals(statement, compose(costs))), statement.status)


def _share_checks(statement: Claim, costs: Sequence[Guarantee]) -> list[Check]:
    """Compare each column's share of the total."""
    delta = statement.deltas[0] if statement.deltas else 1e-6
    recomputed = shares_of(costs, delta)
    return [
        _number(f"share of {part.column}", part.share, again)
        for part, again in zip(statement.columns, recomputed, strict=True)
        if part.share is not None
    ]


def _words_check(part: ColumnStatement) -> Check:
    """Compare assumptions, entry and source with those of the mechanism that is named."""
    known = MECHANISMS[part.mechanism]
    agrees = (part.entry, part.source, part.assumptions) == (known.entry, known.source, known.assumptions)
    return Check(f"assumptions and source of {part.column}", part.entry, known.entry, agrees)


def _status_check(statement: Claim) -> Check:
    """Compare what is said of the arithmetic with what is proved; a void run proves nothing either way."""
    proved = all(MECHANISMS[part.mechanism].exact for part in statement.columns)
    most = "implemented" if proved else "idealised"
    return Check("status", statement.status, most, proved or statement.status != "implemented")


def _rows_check(statement: Claim) -> Check:
    """Compare the rows of a whole unit that tables are priced for together with those it may have."""
    counted = sum(part.constants.get("rows", 0) for part in statement.columns)
    most = statement.unit.rows_per_unit
    return Check("rows of a unit", float(most), float(counted), counted == most)


def _curve_gap(stated: FloatArray, recomputed: FloatArray) -> float:
    """Largest relative difference of two curves; infinite where only one is bounded."""
    known = np.isfinite(stated) & np.isfinite(recomputed)
    if not np.array_equal(np.isfinite(stated), np.isfinite(recomputed)):
        return math.inf
    gaps = np.abs(stated[known] - recomputed[known]) / np.maximum(np.abs(recomputed[known]), 1e-300)
    return float(gaps.max(initial=0.0))


def _guarantee_check(what: str, stated: Guarantee, recomputed: Guarantee) -> Check:
    """Compare kind and curve; the number shown is the guarantee's own, as on the card."""
    first, second = stated.renyi(ORDERS), recomputed.renyi(ORDERS)
    agrees = stated.name == recomputed.name and _curve_gap(first, second) <= _AGREE
    return Check(what, _own_number(stated), _own_number(recomputed), agrees)


def _own_number(guarantee: Guarantee) -> float:
    """Give rho, mu or epsilon where that is all there is; else the divergence at the lowest order."""
    values = [getattr(guarantee, field.name) for field in fields(guarantee)]  # type: ignore[arg-type]
    if len(values) == 1 and isinstance(values[0], int | float):
        return float(values[0])
    return float(guarantee.renyi(ORDERS)[0])


def _column_check(part: ColumnStatement, recomputed: Guarantee) -> Check:
    """Compare a column's cost."""
    if part.cost is None:
        raise PrivacyError(
            f"column {part.column!r} of a table with a guarantee has no cost to verify", kind="domain"
        )
    return _guarantee_check(f"cost of {part.column}", part.cost, recomputed)


def _number(what: str, stated: float, recomputed: float) -> Check:
    """Compare two numbers."""
    return Check(what, stated, recomputed, math.isclose(stated, recomputed, rel_tol=_AGREE, abs_tol=1e-15))


def _totals(statement: Claim, total: Guarantee) -> list[Check]:
    """Compare the table's guarantee and each quoted point."""
    checks = [_guarantee_check("table", statement.guarantee, total)]
    for delta, epsilon in statement.points:
        checks.append(_number(f"epsilon at delta = {delta:g}", epsilon, total.epsilon(delta)))
    return checks
