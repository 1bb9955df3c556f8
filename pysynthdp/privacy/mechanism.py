"""What a sampling mechanism is: public constants, and the price of drawing from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.registry import Registry
from pysynthdp.privacy.composition import group_privacy
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.unit import PrivacyUnit, Relation

__all__ = [
    "MECHANISMS",
    "PricedColumn",
    "SamplingMechanism",
    "mechanism_from_dict",
    "paid_draws",
    "price_of",
    "public_constants",
    "statement_of",
]


@runtime_checkable
class SamplingMechanism(Protocol):
    """A mechanism whose own sampling randomness protects; its fields are public constants and nothing else.

    Attributes
    ----------
    name : str
        Registry name.
    entry, source : str
        Entries of ``docs/formulas.md``, and the paper behind them.
    assumptions : tuple of str
        What must hold for the price to be true, as sentences.
    relations : tuple of str
        Neighbour relations for which the price is proved.
    exact : bool
        Whether the price is proved for the arithmetic of the exact sampler, not only for real numbers.
    once : bool, optional
        True where noise is paid once at the fit and draws cost nothing.
    noises : bool, optional
        True where copies come from noised answers, so that the tags of a release tell of noise.
    """

    name: ClassVar[str]
    entry: ClassVar[str]
    source: ClassVar[str]
    assumptions: ClassVar[tuple[str, ...]]
    relations: ClassVar[tuple[Relation, ...]]
    exact: ClassVar[bool]

    def price(self, *, n_syn: int, copies: int) -> Guarantee:
        """Guarantee of ``copies`` copies of ``n_syn`` records."""
        ...


MECHANISMS: Registry[type[SamplingMechanism]] = Registry(
    "pysynthdp.privacy.mechanisms", PrivacyError, group="pysynthdp.mechanisms"
)


@dataclass(frozen=True, slots=True)
class PricedColumn:
    """One step of a plan and the mechanism that draws it.

    Parameters
    ----------
    column : str
        Name of the column; for a joint step the names joined by ``", "``.
    method : str
        Name of the column model.
    mechanism : SamplingMechanism
        With its public constants.
    """

    column: str
    method: str
    mechanism: SamplingMechanism


def price_of(mechanism: SamplingMechanism, draw: Draw, *, unit: PrivacyUnit) -> Guarantee:
    """Price one draw for the unit that is protected.

    Parameters
    ----------
    mechanism : SamplingMechanism
        With its public constants.
    draw : Draw
        Copies and records.
    unit : PrivacyUnit
        Whose record is protected.

    Returns
    -------
    Guarantee
        For one record, extended to the rows of a unit by group privacy.

    Raises
    ------
    PrivacyError
        If the mechanism is not proved for the relation, or its kind cannot be extended to several rows a
        unit.

    Notes
    -----
    Privacy: post-processing of public constants. Group privacy: k eps, k^2 rho, k mu for k rows a unit.

    Examples
    --------
    >>> from pysynthdp.privacy.mechanisms.gaussian import PlugInMean
    >>> mean = PlugInMean(n=1000, lower=-4, upper=4, sigma=1)
    >>> round(price_of(mean, Draw(1000, 1), unit=PrivacyUnit(rows_per_unit=2)).rho, 12)
    0.128
    """
    if unit.relation not in mechanism.relations:
        raise PrivacyError(
            f"{mechanism.name} is not proved for {unit.relation!r} neighbours",
            kind="mechanism",
            remedy=f"use {' or '.join(mechanism.relations)}",
        )
    if unit.whole and not hasattr(mechanism, "rows"):
        raise PrivacyError(
            f"{mechanism.name} has no price for whole units, whose rows it does not count",
            kind="mechanism",
            remedy="protect units by a key alone, or by noise in the answers",
        )
    cost = mechanism.price(n_syn=draw.n_syn, copies=draw.copies)
    if unit.priced_rows == 1:
        return cost
    if isinstance(cost, PureDP | ZCDP | GDP):
        return group_privacy(cost, unit.priced_rows)
    raise PrivacyError(
        f"{mechanism.name} is priced for one row a unit only",
        kind="mechanism",
        remedy=f"keep one row of each {unit.name}",
    )


def paid_draws(mechanism: SamplingMechanism, draws: Sequence[Draw]) -> Sequence[Draw]:
    """Take the draws that cost: all, or one where noise was paid once at the fit (a mechanism's ``once``)."""
    return draws[:1] if getattr(mechanism, "once", False) else draws


def statement_of(
    column: str,
    method: str,
    mechanism: SamplingMechanism,
    cost: Guarantee,
    *,
    reason: str,
    share: float = 1.0,
) -> ColumnStatement:
    """Describe what one mechanism guarantees, with the constants that its price follows from.

    Parameters
    ----------
    column, method : str
        What was drawn or released, and by what.
    mechanism : SamplingMechanism
        With its public constants.
    cost : Guarantee
        Over all draws so far, for the unit.
    reason : str
        In plain words, what protects.
    share : float
        Its part of the table's total.

    Returns
    -------
    ColumnStatement

    Notes
    -----
    Privacy: post-processing of public constants.
    """
    return ColumnStatement(
        column=column,
        method=method,
        guarantee=cost.name,
        reason=reason,
        mechanism=mechanism.name,
        constants=public_constants(mechanism),
        assumptions=mechanism.assumptions,
        entry=mechanism.entry,
        source=mechanism.source,
        cost=cost,
        share=share,
    )


def public_constants(mechanism: SamplingMechanism) -> dict[str, Any]:
    """Write the constants of a mechanism as plain values."""
    return asdict(mechanism)  # type: ignore[call-overload, no-any-return]  # every mechanism is a dataclass


def mechanism_from_dict(name: str, constants: Mapping[str, Any]) -> SamplingMechanism:
    """Build a mechanism from its registry name and public constants.

    Raises
    ------
    PrivacyError
        For an unknown name, or constants that do not fit it.
    """
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in constants.items()}
    try:
        return MECHANISMS[name](**values)
    except TypeError as problem:
        raise PrivacyError(f"these are not the public constants of {name!r}", kind="mechanism") from problem
