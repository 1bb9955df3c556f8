"""What can be wrong with units in a table: said by name, with the way out, never with a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pysynthdp.base.errors import FitError, SchemaError
from pysynthdp.base.remarks import FEWEST, few
from pysynthdp.base.words import Setting, Words, meant

__all__ = [
    "apart",
    "no_column",
    "no_rows",
    "no_single_head",
    "of_rows",
    "places_twice",
    "too_few",
    "too_large",
    "too_many_places",
    "without_unit",
    "wrong_sizes",
]


def no_column(what: str, name: str, names: Iterable[str]) -> SchemaError:
    """Say that a setting names what is no column."""
    mend = meant(name, names, "give a column's name")
    text = Words("units: {what} names '{name}', which is no column", what=what, name=name)
    return SchemaError(text, column=name, kind="units", remedy=mend)


def without_unit(name: str, count: int) -> SchemaError:
    """Say that rows have no unit."""
    text = Words("{name} is missing in {few} rows, which belong to no unit", name=name, few=few(count))
    return SchemaError(text, column=name, kind="units", remedy="give each its unit, or leave these rows out")


def wrong_sizes(name: str, unit: str, count: int) -> SchemaError:
    """Say that sizes are not the numbers of rows."""
    text = Words(
        "{name} is not the number of rows in {few} units: members are missing or counted twice, or {unit} "
        "joins or parts units",
        name=name,
        few=few(count),
        unit=unit,
    )
    mend = Words(
        "mend these units, or leave {size} out, which then is a column as others", size=Setting("size", name)
    )
    return SchemaError(text, column=name, kind="units", remedy=mend)


def apart(name: str, unit: str, count: int) -> SchemaError:
    """Say that rows of a unit disagree in what they share."""
    text = Words(
        "{name} is said to be shared, and differs among the rows of {few} units; {unit} may join units that "
        "are not one",
        name=name,
        few=few(count),
        unit=unit,
    )
    mend = Words("mend these rows or the id, or leave {name} out of shared", name=name)
    return SchemaError(text, column=name, kind="units", remedy=mend)


_OF_UNITS: Final = {
    "keep": (
        "copies have other rows in each unit, beside which no real cell can stand",
        "keep columns alone that rows of a unit share, or leave {name} out of keep",
    ),
    "strata": (
        "models are fitted apart by what whole units have",
        "take a column that rows of a unit share, or name products with {name} in formulas",
    ),
    "design": (
        "units are sampled whole, so that a design is theirs",
        "give each unit one, such as the mean of its rows; drop leaves weights of rows out, as of waves",
    ),
    "totals": (
        "a weight of units cannot be moved to totals of what their rows differ in",
        "declare totals of columns that rows of a unit share",
    ),
}
"""Why a setting asks for columns of units, and the way out."""


def of_rows(what: str, name: str, unit: str, count: int) -> SchemaError:
    """Say that a column which a setting takes as one of units differs among rows."""
    why, mend = _OF_UNITS[what]
    differs = Words("differs among the rows of {few} units", few=few(count)) if count else "orders them"
    text = Words(
        "{what} names {name}, which {differs}: {why}; {unit} may also join units that are not one",
        what=what,
        name=name,
        differs=str(differs),
        why=why,
        unit=unit,
    )
    return SchemaError(text, column=name, kind="units", remedy=Words(mend, name=name))


def no_single_head(name: str, unit: str, none: int, several: int) -> SchemaError:
    """Say that units have no head, or several."""
    parts = [Words("{few} units have none", few=few(none))] if none else []
    parts += [Words("{few} units have several", few=few(several))] if several else []
    text = Words(
        "{name} must name one head in each unit of {unit}, and {parts}",
        name=name,
        unit=unit,
        parts=" and ".join(map(str, parts)),
    )
    mend = "mend these rows, or leave head out: then the first row by order is the head"
    return SchemaError(text, column=name, kind="units", remedy=mend)


def too_large(unit: str, limit: int, count: int) -> SchemaError:
    """Say that units have more rows than they may."""
    text = Words(
        "{few} units of {unit} have more than {limit} rows; an id that joins units makes such",
        few=few(count),
        unit=unit,
        limit=limit,
    )
    mend = Words(
        "mend the id, raise max_size, or write {drop} to leave these units out, {cut} to leave out their "
        "rows beyond these",
        drop=Setting("larger", "drop"),
        cut=Setting("larger", "truncate"),
    )
    return SchemaError(text, column=unit, kind="units", remedy=mend)


def places_twice(name: str, unit: str, count: int) -> SchemaError:
    """Say that a unit has two rows at one place of a panel."""
    text = Words(
        "{few} units of {unit} have two rows or more with the same {name}, or none of it",
        few=few(count),
        unit=unit,
        name=name,
    )
    mend = Words(
        "mend these rows, or write {order} to order rows by it",
        order=Setting("order", f"{name} asc"),
    )
    return SchemaError(text, column=name, kind="units", remedy=mend)


def too_many_places(name: str, limit: int) -> SchemaError:
    """Say that a column has too many values to be the places of a panel."""
    text = Words("{name} has more than {limit} values, too many to be places", name=name, limit=limit)
    mend = Words("write {order} to order rows by it", order=Setting("order", f"{name} asc"))
    return SchemaError(text, column=name, kind="units", remedy=mend)


def too_few(unit: str, count: int) -> FitError:
    """Say that hardly any unit has several rows."""
    text = Words(
        "{few} units of {unit} have two rows or more, so nothing can be learned of who belongs together",
        few="none of the" if not count else f"fewer than {FEWEST}",
        unit=unit,
    )
    return FitError(text, column=unit, kind="units", remedy="leave units out, and the id with drop")


def no_rows(unit: str) -> FitError:
    """Say that no row is left."""
    text = Words("no unit of {unit} is left", unit=unit)
    return FitError(text, column=unit, kind="units", remedy="raise max_size")
