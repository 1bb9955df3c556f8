"""What a privacy statement says about one column, and about one draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.guarantee import Guarantee, guarantee_from_dict, guarantee_to_dict

__all__ = ["ColumnStatement", "Draw"]


@dataclass(frozen=True, slots=True)
class Draw:
    """One call of ``draw``: how many copies of how many records.

    Parameters
    ----------
    n_syn : int
        Records in each copy.
    copies : int
        Number of copies.
    """

    n_syn: int
    copies: int

    def __post_init__(self) -> None:
        for label, value in (("n_syn", self.n_syn), ("copies", self.copies)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PrivacyError(
                    f"{label} of a draw must be a whole number of at least 1", kind="statement"
                )


@dataclass(frozen=True, slots=True)
class ColumnStatement:
    """What is claimed for one column (or one joint step), and why.

    Parameters
    ----------
    column : str
        Name of the column; for a joint step the names joined by ``", "``.
    method : str
        Name of the column model.
    guarantee : str
        ``"none"``, or the registry name of the guarantee that the column has.
    reason : str
        In plain words: why there is none, or what gives the protection.
    mechanism : str
        Registry name of the priced sampling mechanism; empty without a guarantee.
    constants : mapping
        The public constants that the price is computed from.
    assumptions : tuple of str
        What must hold for the price to be true, as sentences.
    entry, source : str
        Entries of ``docs/formulas.md``, and the paper behind them.
    cost : Guarantee, optional
        The column's guarantee over all draws so far; None without one.
    share : float, optional
        Its part of the table's total, between zero and one.

    Notes
    -----
    Privacy: holds public constants only.

    Examples
    --------
    >>> ColumnStatement("income", "norm", "none", "its variance is estimated without a floor").guarantee
    'none'
    """

    column: str
    method: str
    guarantee: str = "none"
    reason: str = ""
    mechanism: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict, hash=False)
    assumptions: tuple[str, ...] = ()
    entry: str = ""
    source: str = ""
    cost: Guarantee | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if self.guarantee == "none" and self.cost is not None:
            raise PrivacyError(
                f"column {self.column!r} has no guarantee, so it cannot have a cost",
                kind="statement",
                remedy="leave it out",
            )
        if self.guarantee != "none" and (self.cost is None or self.cost.name != self.guarantee):
            raise PrivacyError(
                f"column {self.column!r} claims {self.guarantee!r}",
                kind="statement",
                remedy="give its cost of that kind",
            )

    def to_dict(self) -> dict[str, Any]:
        """Write plain values for JSON; what does not apply is left out."""
        plain: dict[str, Any] = {
            "column": self.column,
            "method": self.method,
            "guarantee": self.guarantee,
            "reason": self.reason,
        }
        if self.cost is not None:
            plain |= {"mechanism": self.mechanism, "constants": dict(self.constants)}
            plain |= {"assumptions": list(self.assumptions), "entry": self.entry, "source": self.source}
            plain |= {"cost": guarantee_to_dict(self.cost), "share": self.share}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote."""
        values = dict(plain)
        if "cost" in values:
            values["constants"] = {key: _frozen(value) for key, value in values["constants"].items()}
            values["cost"] = guarantee_from_dict(values["cost"])
            values["assumptions"] = tuple(values["assumptions"])
        return cls(**values)


def _frozen(value: Any) -> Any:
    """Turn the lists that JSON makes of tuples back into tuples."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
