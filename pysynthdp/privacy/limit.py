"""The limit of a source: what everything that is released about the same people may cost together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from pysynthdp.base.display import number
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.composition import compose, group_privacy
from pysynthdp.privacy.conversion.pure import pure_zcdp
from pysynthdp.privacy.domain import count, positive, probability, upward
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.none import NoGuarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit, Relation

__all__ = ["SourceLimit"]

_ROUNDING = 1 + 1e-12  # prices are rounded up by some 1e-15 of themselves; a limit met exactly is met
_TWO_STEPS = 2  # a record is replaced by taking one away and adding one


@answers_slips
@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLimit:
    """What all releases about one source may cost together, in one measure, and whose loss that is.

    Parameters
    ----------
    rho : float, optional
        Zero-concentrated privacy: takes releases of which a rho is proved (zCDP, GDP, pure epsilon).
    epsilon : float, optional
        At ``delta``; takes every kind that composes.
    delta : float, optional
        Of ``epsilon``.
    unit : str
        Whose loss it is, such as ``"person"``: the ``name`` of a :class:`PrivacyUnit`.
    relation : {"replace_one", "add_remove"}
        By which neighbours.
    others : mapping of str to int
        Names of other units that releases may speak of, and how many of them one ``unit`` touches at most:
        ``{"record": 4, "household": 1}`` where a person has at most 4 records and lives in one household.

    Raises
    ------
    PrivacyError
        For no measure or two, or a number outside its domain.

    Notes
    -----
    Privacy: a public setting; reads nothing. With rho the limit holds whatever budgets were chosen after
    seeing earlier releases. With epsilon the order at which the sum of curves is converted is chosen at the
    end, so it is proved for budgets that do not hang on earlier outputs (J6).

    Examples
    --------
    >>> limit = SourceLimit(rho=0.75, unit="person", others={"record": 2})
    >>> limit.holds([ZCDP(0.5), ZCDP(0.25)]), limit.holds([ZCDP(0.5), ZCDP(0.26)])
    (True, False)
    >>> round(limit.charged(ZCDP(0.1), PrivacyUnit()).rho, 12)
    0.4
    """

    rho: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    unit: str = "record"
    relation: Relation = "replace_one"
    others: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        PrivacyUnit(self.relation, name=self.unit)  # refuses other relations, and names in two lines
        if (self.rho is None) == (self.epsilon is None) or (self.epsilon is None) != (self.delta is None):
            raise PrivacyError(
                "a limit is given in one measure: rho, or epsilon and delta", kind="ledger limit"
            )
        positive("the limit", self.rho if self.epsilon is None else self.epsilon)  # type: ignore[arg-type]  # one of them is there
        if self.delta is not None:
            probability("delta", self.delta)
        checked = {str(name): count(f"others[{name!r}]", many) for name, many in self.others.items()}
        object.__setattr__(self, "others", MappingProxyType(checked))

    @property
    def measure(self) -> str:
        """What is limited, in words: ``rho``, or epsilon at its delta."""
        return "rho" if self.delta is None else f"epsilon at delta = {self.delta:g}"

    @property
    def most(self) -> float:
        """Largest value of the measure."""
        return (self.rho if self.epsilon is None else self.epsilon) or 0.0

    def charged(self, guarantee: Guarantee, unit: PrivacyUnit) -> Guarantee:
        """Convert what a release costs one of its units to what it costs one unit of the source.

        Parameters
        ----------
        guarantee : Guarantee
            For ``unit``.
        unit : PrivacyUnit
            Whose record the release protects.

        Returns
        -------
        Guarantee
            For the source's unit and relation; never smaller.

        Raises
        ------
        PrivacyError
            If no proof leads from one to the other, or the kind does not fit the measure.

        Notes
        -----
        Privacy: post-processing of public constants. Group privacy, A0 and J6: a step of the source's unit is
        at most k steps of the release's, times two where that one adds or removes, and the source replaces or
        counts other units. Nothing leads from replacing to adding and removing: the number of records is
        public there.
        """
        if isinstance(guarantee, NoGuarantee):
            raise PrivacyError(
                "a release without a guarantee has no price that a ledger could hold",
                kind="ledger",
                remedy="ask for a guarantee, or leave the ledger out",
            )
        steps = self.steps(unit)
        if steps > 1 and not isinstance(guarantee, PureDP | ZCDP | GDP):
            raise PrivacyError(
                f"a guarantee of kind {guarantee.name!r} for one {unit.name} ({unit.relation}) cannot be "
                f"converted to one {self.unit} ({self.relation})",
                kind="ledger unit",
                remedy=f"protect one {self.unit} by {self.relation} neighbours in the release",
            )
        cost = group_privacy(guarantee, steps) if isinstance(guarantee, PureDP | ZCDP | GDP) else guarantee
        return cost if self.rho is None else ZCDP(_rho_of(cost))

    def steps(self, unit: PrivacyUnit) -> int:
        """Count the steps of a release's unit that one step of the source's unit takes at most.

        Raises
        ------
        PrivacyError
            If nothing is known of how many, or the relation leads nowhere.
        """
        if self.relation == "add_remove" and unit.relation != "add_remove":
            raise PrivacyError(
                "the source's limit is about tables of which one has a unit more, the release about tables "
                "of one size, and nothing leads from these to those",
                kind="ledger unit",
                remedy="protect by add_remove neighbours in the release",
            )
        same = unit.name == self.unit
        if not same and unit.name not in self.others:
            raise PrivacyError(
                f"the source's limit is about one {self.unit}, the release protects one {unit.name}",
                kind="ledger unit",
                remedy=f"protect one {self.unit}, or tell the ledger how many units named {unit.name!r} one "
                f"{self.unit} has at most",
            )
        twice = unit.relation == "add_remove" and (self.relation == "replace_one" or not same)
        return (1 if same else self.others[unit.name]) * (_TWO_STEPS if twice else 1)

    def used(self, charged: Sequence[Guarantee]) -> float:
        """Give how much of the measure is used by everything charged so far."""
        if not charged:
            return 0.0
        total = compose(charged)
        return _rho_of(total) if self.delta is None else total.epsilon(self.delta)

    def holds(self, charged: Sequence[Guarantee]) -> bool:
        """Whether everything charged stays within the limit, up to rounding."""
        return self.used(charged) <= self.most * _ROUNDING

    def left(self, charged: Sequence[Guarantee]) -> float:
        """Give what is left of the measure; another release may take more of an epsilon than its own."""
        return max(self.most - self.used(charged), 0.0)

    def said(self, value: float) -> str:
        """Write a value of the measure."""
        return (
            f"{self.measure} = {number(value)}" if self.delta is None else f"{number(value)} {self.measure}"
        )

    def to_plain(self) -> dict[str, Any]:
        """Write plain values."""
        own = {name: getattr(self, name) for name in ("rho", "epsilon", "delta", "unit", "relation")}
        return {**own, "others": dict(self.others)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_plain` wrote."""
        return cls(**plain)


def _rho_of(part: Guarantee) -> float:
    """Give the rho that is proved of a guarantee."""
    if isinstance(part, ZCDP):
        return part.rho
    if isinstance(part, GDP):
        return upward(part.rho)
    if isinstance(part, PureDP):
        return pure_zcdp(part.eps)
    raise PrivacyError(
        f"the source's limit is in rho, and a guarantee of kind {part.name!r} has none",
        kind="ledger",
        remedy="keep a source with a limit in epsilon and delta for such releases",
    )
