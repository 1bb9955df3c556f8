"""Whose record is protected, and which tables count as neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pysynthdp.errors import PrivacyError

__all__ = ["PrivacyUnit", "Relation"]

Relation = Literal["replace_one", "add_remove"]


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Say what one person contributes to the table and how two neighbouring tables differ.

    Parameters
    ----------
    relation : {"replace_one", "add_remove"}
        ``"replace_one"``: neighbours differ in the values of one unit; the number of records n is public.
        ``"add_remove"``: neighbours differ by the presence of one unit; n itself is confidential then.
    rows_per_unit : int
        The most rows that one unit can have in the table.
    name : str
        What the unit is called in the statement, for example ``"person"`` or ``"household"``.

    Raises
    ------
    PrivacyError
        For an unknown relation, or ``rows_per_unit`` below one; give one of the values above.

    Notes
    -----
    Privacy: a public setting; reads nothing.

    Examples
    --------
    >>> PrivacyUnit(name="household").neighbours
    'two tables that differ in the values of one household (the number of records is public)'
    """

    relation: Relation = "replace_one"
    rows_per_unit: int = 1
    name: str = "record"

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise PrivacyError("relation must be 'replace_one' or 'add_remove'")
        if isinstance(self.rows_per_unit, bool) or not isinstance(self.rows_per_unit, int):
            raise PrivacyError("rows_per_unit must be a whole number; count the rows one unit can have")
        if self.rows_per_unit < 1:
            raise PrivacyError("rows_per_unit must be at least 1; count the rows one unit can have")
        if not self.name.strip():
            raise PrivacyError("name must say what one unit is, for example 'person'")

    @property
    def neighbours(self) -> str:
        """The neighbour relation as a clause of a sentence."""
        if self.relation == "replace_one":
            return (
                f"two tables that differ in the values of one {self.name} (the number of records is public)"
            )
        return f"two tables of which one has one {self.name} more (the number of records is confidential)"
