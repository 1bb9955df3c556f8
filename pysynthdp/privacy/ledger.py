"""What noisy answers have cost: an append-only list of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

import numpy as np

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.domain import positive
from pysynthdp.privacy.guarantee import Guarantee, guarantee_from_dict, guarantee_to_dict

__all__ = ["Entry", "Ledger"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One query that was answered with noise.

    Parameters
    ----------
    column : str
        Whose step asked; for a shared answer the names joined by ``", "``.
    query : str
        What was asked, in words.
    guarantee : Guarantee
        What the answer cost.
    scale : float
        Scale of the noise, above zero.
    sensitivity : float
        Bound on the answer's change between neighbours, above zero.

    Raises
    ------
    PrivacyError
        For a scale or sensitivity that is not positive and finite.

    Notes
    -----
    Privacy: public constants only.
    """

    column: str
    query: str
    guarantee: Guarantee
    scale: float
    sensitivity: float

    def __post_init__(self) -> None:
        positive("scale", self.scale)
        positive("sensitivity", self.sensitivity)


@dataclass(frozen=True, slots=True, repr=False)
class Ledger(Printable):
    """Every noisy answer of one fit, in order; entries are added, never changed or removed.

    Parameters
    ----------
    entries : tuple of Entry
        In the order in which they were answered.

    Notes
    -----
    Privacy: public constants only. Draws from the fit are post-processing and have no entry.

    Examples
    --------
    >>> from pysynthdp.privacy.guarantees.zcdp import ZCDP
    >>> paid = Ledger().plus(Entry("age", "counts", ZCDP(0.1), scale=2.0, sensitivity=1.0))
    >>> len(paid.entries), paid.total().rho
    (1, 0.10000000000000009)
    """

    entries: tuple[Entry, ...] = ()

    def plus(self, entry: Entry) -> Self:
        """Make the ledger with one more entry; the old one is unchanged."""
        return type(self)((*self.entries, entry))

    def total(self) -> Guarantee:
        """Compose all entries (J1).

        Raises
        ------
        PrivacyError
            If nothing has been asked yet.
        """
        if not self.entries:
            raise PrivacyError(
                "the ledger is empty: nothing has been asked, so there is no loss to report", kind="domain"
            )
        return compose([entry.guarantee for entry in self.entries])

    @property
    def shares(self) -> tuple[float, ...]:
        """Part of the total that each entry takes, by the divergence at the lowest order that bounds all."""
        costs = [entry.guarantee.renyi(ORDERS) for entry in self.entries]
        total = np.sum(costs, axis=0)
        at = int(np.argmax(np.isfinite(total)))
        return tuple(float(cost[at] / total[at]) for cost in costs)

    def to_table(self) -> Table:
        """Build the table that people see; without an entry it is a sentence."""
        if not self.entries:
            return Table("Ledger", notes=("No answer was noised at the fit, so there is nothing to list.",))
        heads, costs = _costs([entry.guarantee for entry in self.entries])
        rows = tuple(
            (entry.query, entry.sensitivity, entry.scale, *cost, share, entry.column)
            for entry, cost, share in zip(self.entries, costs, self.shares, strict=True)
        )
        columns = ("query", "sensitivity", "noise scale", *heads, "share", "columns")
        return Table("Ledger", columns, rows, (("noisy answers", len(rows)),), ())

    def to_dict(self) -> list[dict[str, Any]]:
        """Write plain values for JSON."""
        return [
            {
                "column": entry.column,
                "query": entry.query,
                "guarantee": guarantee_to_dict(entry.guarantee),
                "scale": entry.scale,
                "sensitivity": entry.sensitivity,
            }
            for entry in self.entries
        ]

    @classmethod
    def from_dict(cls, plain: list[Mapping[str, Any]]) -> Self:
        """Read what :meth:`to_dict` wrote."""
        read = [{**entry, "guarantee": guarantee_from_dict(entry["guarantee"])} for entry in plain]
        return cls(tuple(Entry(**entry) for entry in read))


def _costs(guarantees: Sequence[Guarantee]) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Each price and the sum so far, where one number says it; else the names."""
    plain = [guarantee_to_dict(each) for each in guarantees]
    heads = {tuple(each) for each in plain}
    if len({each["name"] for each in plain}) > 1 or heads != {("name", *list(plain[0])[1:2])}:
        return ("guarantee",), [(each["name"],) for each in plain]
    setting = list(plain[0])[1]
    sums = accumulate(guarantees, lambda one, two: compose([one, two]))
    costs: list[tuple[Cell, ...]] = [
        (each[setting], getattr(so_far, setting)) for each, so_far in zip(plain, sums, strict=True)
    ]
    return (setting, f"{setting} so far"), costs
