"""Whose record is protected, and which tables count as neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.slips import answers_slips

__all__ = ["PrivacyUnit", "Relation", "checked_unit", "unit_to_dict"]

Relation = Literal["replace_one", "add_remove"]


@answers_slips
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
    key : str, optional
        Column of the table that says whose a row is. It is read for one thing: rows beyond the first
        ``rows_per_unit`` of their unit, in row order, do not take part. It is never modelled or released, and
        is not named in the schema. Without it ``rows_per_unit`` is assumed, and the statement says so.
    whole : bool
        Units are drawn as wholes, their rows in places by a declared order; set by ``units=``. Neighbours
        then differ in the number of a unit's rows too, and each price says itself how many rows of a unit it
        counts.

    Raises
    ------
    PrivacyError
        For an unknown relation, or ``rows_per_unit`` below one; give one of the values above.

    Notes
    -----
    Privacy: a public setting; reads nothing. Where n is public a row beyond the limit becomes a public row,
    of fallbacks and ``other``; where it is confidential the row is left out. Whose rows are whose is assumed
    to be the same in neighbouring tables. Rows without a readable key take no part.

    Examples
    --------
    >>> PrivacyUnit(name="household").neighbours
    'two tables that differ in the values of one household (the number of records is public)'
    >>> PrivacyUnit(rows_per_unit=4, name="household").bound
    'at most 4 rows a household: assumed, not checked'
    >>> PrivacyUnit(rows_per_unit=4, name="household", key="hid").bound.partition(";")[0]
    'at most 4 rows a household: enforced by hid before any sum'
    """

    relation: Relation = "replace_one"
    rows_per_unit: int = 1
    name: str = "record"
    key: str | None = None
    whole: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise PrivacyError("relation must be 'replace_one' or 'add_remove'", kind="unit")
        if isinstance(self.rows_per_unit, bool) or not isinstance(self.rows_per_unit, int):
            raise PrivacyError(
                "rows_per_unit must be a whole number", kind="unit", remedy="count the rows one unit can have"
            )
        if self.rows_per_unit < 1:
            raise PrivacyError(
                "rows_per_unit must be at least 1", kind="unit", remedy="count the rows one unit can have"
            )
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise PrivacyError(
                "name must say in one line what one unit is, for example 'person'", kind="unit"
            )
        if self.key is not None and (not isinstance(self.key, str) or not self.key):
            raise PrivacyError("key must be the name of the column that says whose a row is", kind="unit")
        if not isinstance(self.whole, bool) or (self.whole and self.key is None):
            raise PrivacyError("whole is for units with a key", kind="unit", remedy="leave it out")

    @property
    def priced_rows(self) -> int:
        """Rows of a unit that a price for one row must count; those of whole units say it themselves."""
        return 1 if self.whole else self.rows_per_unit

    @property
    def neighbours(self) -> str:
        """The neighbour relation as a clause of a sentence."""
        if self.whole and self.relation == "replace_one":
            return (
                f"two tables that differ in one {self.name}, in its values and in how many rows it has (the "
                f"number of units is public)"
            )
        if self.relation == "replace_one":
            return (
                f"two tables that differ in the values of one {self.name} (the number of records is public)"
            )
        return f"two tables of which one has one {self.name} more (the number of records is confidential)"

    @property
    def bound(self) -> str:
        """How many rows a unit has, and who says so."""
        rows = "one row" if self.rows_per_unit == 1 else f"at most {self.rows_per_unit} rows"
        if self.key is None:
            return f"{rows} a {self.name}: assumed, not checked"
        public = self.relation == "replace_one" and not self.whole
        rest = "become a public row" if public else "are left out"
        return (
            f"{rows} a {self.name}: enforced by {self.key} before any sum; further rows, and rows without a "
            f"readable {self.key}, {rest}"
        )

    @property
    def contributions(self) -> tuple[str, ...]:
        """How many rows a unit has and who says so, and what is assumed of whose rows are whose."""
        if self.key is None:
            return (self.bound,)
        return self.bound, f"assumed: {self.key} says whose a row is, and the same in neighbouring tables"


def checked_unit(unit: Any, *, whole: bool = False) -> PrivacyUnit:
    """Take a unit and nothing that merely names one; one that is drawn as a whole only where ``whole`` says.

    Raises
    ------
    PrivacyError
        For a value of another type, such as the name alone, or units that are wholes where prices count rows.

    Notes
    -----
    Privacy: a public setting; reads nothing.
    """
    if not isinstance(unit, PrivacyUnit):
        raise PrivacyError(
            "unit must be a PrivacyUnit", kind="unit", remedy="write unit=PrivacyUnit(name='person')"
        )
    if unit.whole and not whole:
        raise PrivacyError(
            "whole units are protected by noise in the answers", kind="unit", remedy="leave whole out"
        )
    return unit


def unit_to_dict(unit: PrivacyUnit) -> dict[str, Any]:
    """Write a unit as plain values for JSON; that it is drawn as a whole only where it is.

    Notes
    -----
    Privacy: a public setting.

    Examples
    --------
    >>> unit_to_dict(PrivacyUnit(name="person"))
    {'relation': 'replace_one', 'rows_per_unit': 1, 'name': 'person', 'key': None}
    """
    plain = asdict(unit)
    return plain if unit.whole else {name: value for name, value in plain.items() if name != "whole"}
