"""Which rows of a table belong together: households, panels, diaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, Self, get_args

from pysynthdp.base.errors import PlanError, together
from pysynthdp.base.slips import answers_slips, way_out
from pysynthdp.base.words import Said, Setting, Words, meant

__all__ = ["Larger", "Units", "unit_setting", "written"]

Larger = Literal["refuse", "drop", "truncate"]
_DIRECTIONS: Final = ("asc", "desc")
_EXAMPLE: Final = {"id": "hid", "size": "hsize", "max_size": 8, "order": "age desc"}


def written(**own: Any) -> Said:
    """Write units as whoever reads types them.

    Examples
    --------
    >>> str(Words("write {units}", units=written(id="hid", size="hsize")))
    "write units=Units(id='hid', size='hsize')"
    """
    setting = Setting("units", own)
    inside = ", ".join(f"{name}={one!r}" for name, one in own.items())
    return Said(f"units=Units({inside})", setting.said("shell"), setting.said("r"))


@answers_slips
@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Rows that belong together, such as the members of a household or the waves of a person.

    Parameters
    ----------
    id : str
        Column that says to which unit a row belongs. It is never modelled; copies have new ids of the same
        type, width and prefix.
    size : str, optional
        Column that holds the number of rows of the row's unit; copies have it exact.
    max_size : int, optional
        The most rows that a unit may have. Without it, what the table has.
    shared : sequence of str, optional
        Columns that are the same in all rows of a unit; copies have them exact. Without it, those that are
        so in every unit.
    order : str, optional
        In which order the rows of a unit are drawn: ``"age desc"`` or ``"age asc"``, the head first; rows of
        the same value as they stand. Or the name of a column alone, ``"wave"``: then the places are its
        values, of which a unit has each once or not at all, and who is there when (attrition, gaps) is
        modelled. Without it, as rows stand in the table.
    head : (column, value), optional
        Which row of a unit stands first, whatever the order: ``("relation", "head")``. Each unit must have
        one such row, and copies have.
    larger : {"refuse", "drop", "truncate"}
        What becomes of a unit of more than ``max_size`` rows: the fit stops, the unit is left out, or its
        rows beyond these.
    member : str, optional
        Column that names the single row, in a unit or in the whole table; never modelled. Copies number it
        anew: by the place in the unit, by the unit's id and the place where the table does so, else running.
    own_models : int
        Units that a place (second member, third wave) must have for models of its own; places of fewer are
        fitted together, with their number as a predictor.

    Raises
    ------
    PlanError
        If a setting has not its form; names it.

    Notes
    -----
    Privacy: settings; reads nothing. Under a guarantee ``max_size``, ``order``, ``shared`` and
    ``larger="truncate"`` must be declared, and nothing is said of rows that are not as declared.

    Examples
    --------
    >>> Units(id="hid", size="hsize", order="age desc").direction
    'desc'
    >>> Units(id="pid", order="wave").panel
    True
    """

    id: str
    size: str | None = None
    max_size: int | None = None
    shared: Sequence[str] | None = None
    order: str | None = None
    head: tuple[str, Any] | None = None
    larger: Larger = "refuse"
    member: str | None = None
    own_models: int = 200

    def __post_init__(self) -> None:
        faults = [*_wrong_names(self), *_wrong_values(self)] or [*_named_twice(self)]
        if faults:
            raise together(faults)
        if self.shared is not None:
            object.__setattr__(self, "shared", tuple(self.shared))
        if self.head is not None:
            object.__setattr__(self, "head", tuple(self.head))

    @property
    def by(self) -> str | None:
        """Column by which rows of a unit are ordered."""
        if self.order is None:
            return None
        words = self.order.split()
        return " ".join(words[:-1]) if len(words) > 1 and words[-1] in _DIRECTIONS else self.order

    @property
    def direction(self) -> Literal["asc", "desc"] | None:
        """How: rising, falling; None where places are the values of the column."""
        words = () if self.order is None else self.order.split()
        if len(words) < 2 or words[-1] not in _DIRECTIONS:
            return None
        return "desc" if words[-1] == "desc" else "asc"

    @property
    def panel(self) -> bool:
        """Whether places are the values of a column, so that units may lack some of them."""
        return self.order is not None and self.direction is None

    @property
    def names(self) -> dict[str, str]:
        """Columns that are named once, by setting."""
        given = {"id": self.id, "size": self.size, "order": self.by, "member": self.member}
        return {what: name for what, name in given.items() if name is not None}

    @classmethod
    def from_plain(cls, given: str | Mapping[str, Any]) -> Self:
        """Take the name of the id alone, or settings as a plan file or R says them."""
        if isinstance(given, str):
            return cls(id=given)
        known = [item.name for item in fields(cls)]
        for name in given:
            if name not in known:
                text = Words("units has no setting '{name}'", name=str(name))
                raise PlanError(text, kind="units", remedy=way_out(str(name), known))
        if "id" not in given:
            raise _without_id()
        plain = {name: value for name, value in given.items() if value is not None}
        if isinstance(plain.get("shared"), str):  # R writes one name as a text alone
            plain["shared"] = [plain["shared"]]
        return cls(**plain)

    def to_plain(self) -> dict[str, Any]:
        """Write what :meth:`from_plain` reads."""
        own = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {name: [*value] if isinstance(value, tuple) else value for name, value in own.items()}
        return {name: value for name, value in plain.items() if value is not None}


def unit_setting(given: object) -> Units | None:
    """Take what a user gives as ``units=``: nothing, or Units.

    Raises
    ------
    PlanError
        For anything else.
    """
    if given is None or isinstance(given, Units):
        return given
    mend = Words("write {setting}", setting=written(**_EXAMPLE))
    raise PlanError("units must say which rows belong together", kind="units", remedy=mend)


def _without_id() -> PlanError:
    """Say that nothing tells which rows belong together."""
    mend = Words("write {setting}", setting=written(**_EXAMPLE))
    return PlanError("units: id must name the column of the units", kind="units", remedy=mend)


def _wrong_names(units: Units) -> Iterator[PlanError]:
    """Find names that are none."""
    if not isinstance(units.id, str) or not units.id:
        yield _without_id()
    for what in ("size", "order", "member"):
        own: object = getattr(units, what)
        if own is not None and (not isinstance(own, str) or not own.strip()):
            yield PlanError(Words("units: {what} must name a column", what=what), kind="units")
    shared: object = units.shared
    listed = isinstance(shared, Sequence) and not isinstance(shared, str | bytes)
    if shared is not None and not (listed and all(isinstance(name, str) for name in units.shared or ())):
        yield PlanError("units: shared must be a list of columns", kind="units")


def _wrong_values(units: Units) -> Iterator[PlanError]:
    """Find numbers that are none, a head that is none, and a rule that there is not."""
    head: object = units.head
    pair = isinstance(head, tuple | list) and len(head) == 2 and isinstance(head[0], str)
    if head is not None and (not pair or units.panel):
        mend = Words("write {setting}", setting=Setting("head", ("relation", "head")))
        what = "units: head must be a column and the value that the first row has there; a panel has none"
        yield PlanError(what, kind="units", remedy=mend)
    for what in ("max_size", "own_models"):
        own: object = getattr(units, what)
        if own is None and what == "max_size":
            continue
        if isinstance(own, bool) or not isinstance(own, int) or own < 1:
            text = Words("units: {what} must be a whole number of at least 1", what=what)
            yield PlanError(text, kind="units")
    if units.larger not in get_args(Larger):
        what, known = "units: larger must be one of 'refuse', 'drop', 'truncate'", get_args(Larger)
        yield PlanError(what, kind="units", remedy=meant(str(units.larger), known, "name one of them"))


def _named_twice(units: Units) -> Iterator[PlanError]:
    """Find one column in two places."""
    alone = {what: name for what, name in units.names.items() if what != "order"}
    names = [*alone.values(), *(units.shared or ())]
    names += [units.by] if units.by is not None and units.by != units.member else []
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        text = Words("units names {name} twice", name=name)
        yield PlanError(text, column=name, kind="units", remedy="name each column once")
