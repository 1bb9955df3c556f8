"""Settings that part rows or join them: nested, strata, units; and what does not go with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, together
from pysynthdp.base.words import Setting, Words
from pysynthdp.schema.survey_design import written
from pysynthdp.schema.units import Units, unit_setting

__all__ = ["check_apart", "check_units", "strata_named"]

_RECODED: Final = Setting("derive", {"coarse": "recode(fine, ...)"})


class _Asked(Protocol):
    """Settings, as far as they are checked here."""

    @property
    def units(self) -> Units | None:
        """Rows that belong together."""
        ...

    @property
    def keep(self) -> Sequence[str]:
        """Columns kept real."""
        ...

    @property
    def drop(self) -> Sequence[str]:
        """Columns left out."""
        ...


def check_apart(settings: object) -> None:
    """Refuse groups of rows under a guarantee: which there are, and how large, only the rows say.

    Raises
    ------
    PrivacyError
        Names the setting and the way out.
    """
    for what, mend in (
        ("nested", Words("declare {derive} for the coarser column", derive=_RECODED)),
        ("strata", Words("name products with them in {formulas}", formulas=Setting("formulas", [...]))),
    ):
        if getattr(settings, what):
            text = Words(
                "{what} parts the rows by what they hold, which a formal guarantee does not allow", what=what
            )
            raise PrivacyError(text, kind=what, remedy=Words("leave it out, and {mend}", mend=mend))


def check_units(settings: _Asked) -> None:
    """Refuse units that are none, and what does not go with them, whatever the table: all together.

    Raises
    ------
    PlanError
        Names each setting and what to do.
    """
    units = unit_setting(settings.units)
    if units is None:
        return
    faults: list[PysynthdpError] = [*_beside(settings, units), *_apart(settings, units)]
    if faults:
        raise together(faults)


def _beside(settings: Any, units: Units) -> Iterator[PlanError]:
    """Find what a design cannot be beside units, and columns of units themselves that cannot stay real."""
    design = settings.design
    for what in ("keep", "design") if not settings.protection.learns else ():
        if getattr(settings, what):
            text = Words("{what} does not go with units under a guarantee", what=what)
            mend = "leave it out, or give it beside units without a guarantee, which keeps columns of units"
            yield PlanError(text, kind="units", remedy=mend)
    if design is not None and design.how == "population":
        what = "synthetic populations are made row by row, and rows of one unit would be parted"
        mend = Words(
            "keep the design of units real, {keep}, or draw their weight, {draw}",
            keep=written(how="keep"),
            draw=written(how="synthesise"),
        )
        yield PlanError(what, column=design.weight, kind="units", remedy=mend)
    if design is not None and design.columns == (units.id,):
        what = Words(
            "{name} is the id of the units, which are the sampling units by themselves", name=units.id
        )
        yield PlanError(what, column=units.id, kind="design", remedy="leave design out")
    apart = {name for what, name in units.names.items() if what in ("id", "member") or units.panel}
    told = () if design is None else [name for role, name in design.told if (role, name) != ("psu", units.id)]
    asked = (("keep", settings.keep), ("strata", strata_named(settings.strata)), ("design", told))
    for what, names in asked:
        for name in (each for each in names if each in apart):
            text = Words("{what} names {name}, of which units themselves are made", what=what, name=name)
            yield PlanError(text, column=name, kind="units", remedy="leave it out there")


def strata_named(strata: str | Sequence[str]) -> tuple[str, ...]:
    """Name the columns by which models are fitted apart."""
    return (strata,) if isinstance(strata, str) else tuple(strata)


def _apart(settings: Any, units: Units) -> Iterator[PlanError]:
    """Find columns of units that other settings leave out, compute or draw."""
    made = settings.derive if isinstance(settings.derive, Mapping) else {}
    methods = settings.method if isinstance(settings.method, Mapping) else {}
    for what, name in units.names.items():
        if name in settings.drop:
            text = Words("units: {what} names {name}, which drop leaves out", what=what, name=name)
            yield PlanError(text, column=name, kind="units", remedy="name it once")
        taken = [setting for setting, own in (("derive", made), ("method", methods)) if name in own]
        if taken and what != "order":
            text = Words(
                "{name} is made of the units, so {setting} does not apply", name=name, setting=taken[0]
            )
            yield PlanError(text, column=name, kind="units", remedy="leave it out there")
