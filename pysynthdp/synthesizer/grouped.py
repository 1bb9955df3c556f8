"""Settings that part rows or join them: nested, strata, units; and what does not go with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, together
from pysynthdp.base.words import Setting, Words
from pysynthdp.schema.units import Units, unit_setting

__all__ = ["check_apart", "check_units"]

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
    faults: list[PysynthdpError] = [*_beside(settings), *_apart(settings, units)]
    if faults:
        raise together(faults)


def _beside(settings: Any) -> Iterator[PlanError]:
    """Find settings that speak of single rows."""
    for what, why, mend in (
        ("keep", "copies have other units, so no row of theirs is a row of the table", "leave it out"),
        ("design", "weights and strata of units are not yet those of a design", "name its columns in drop"),
        ("strata", "places in a unit have models of their own already", "name products with it in formulas"),
    ):
        if getattr(settings, what):
            text = Words("{what} does not go with units: {why}", what=what, why=why)
            yield PlanError(text, kind="units", remedy=mend)


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
