"""What a setting must be, whatever it was written in: forms of plain values, and notations that give them.

A form checks a plain value. A notation turns what stands in a plan file, a codebook or an R call into one,
and words what is wrong as whoever wrote it writes. So a setting is described once, by its form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, TypeAlias

from pysynthdp.base.errors import PlanError, PysynthdpError
from pysynthdp.base.slips import way_out
from pysynthdp.base.words import Words

__all__ = [
    "CODES",
    "FLAG",
    "LIST",
    "NAMES",
    "NUMBER",
    "PAIR",
    "TEXT",
    "WHOLE",
    "Notation",
    "Place",
    "SettingForm",
    "by_column",
    "unknown_key",
]


class Notation:
    """How settings are written in one place, and how it says what is wrong with one.

    Attributes
    ----------
    kind : str
        Of its errors.
    error : type
        Of its errors.
    kinds : mapping fault -> kind
        Of faults that are about something else.
    words : mapping fault -> (what, remedy)
        By the name of a form, with ``{at}`` for where the value stands, and ``{key}`` for the end of that.
    converters : mapping form -> function of a value and a place
        What is written in another way than as the plain value that the form checks.
    """

    kind: ClassVar[str]
    kinds: ClassVar[Mapping[str, str]] = {}
    error: ClassVar[type[PysynthdpError]] = PlanError
    words: ClassVar[Mapping[str, tuple[str, str | None]]]
    converters: ClassVar[Mapping[str, Callable[[Any, Place], Any]]] = {}

    def at(self, at: str) -> Place:
        """Give a place where something is written in this notation."""
        return Place(self, at)

    def plain(self, form: str, value: Any, place: Place) -> Any:
        """Give what was written for a form as a plain value."""
        convert = self.converters.get(form)
        return value if convert is None else convert(value, place)

    def fault(self, name: str, at: str, **parts: str) -> PysynthdpError:
        """Make the error of a value that has not its form."""
        what, remedy = self.words[name]
        parts |= {"at": at, "key": at.rsplit(": ", maxsplit=1)[-1]}
        mend = None if remedy is None else remedy.format(**parts)
        return self.error(what.format(**parts), kind=self.kinds.get(name, self.kind), remedy=mend)

    def unknown(self, key: str, known: Collection[str], owner: str, at: str) -> PysynthdpError:
        """Make the error of a setting that a model, or another thing with settings, does not have."""
        del owner
        return unknown_key(key, ["name", *known], where=at, error=self.error)

    def part(self, at: str, name: str) -> str:
        """Say where a part of a value stands."""
        return f"{at}.{name}"

    def item(self, at: str, number: int) -> str:
        """Say where an element of a list stands."""
        return f"{at}[{number}]"

    def of_column(self, form: SettingForm, value: Any, place: Place, name: str) -> Any:
        """Take what is set of one column."""
        return form.take(value, place.part(name))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands, and in which notation.

    Parameters
    ----------
    notation : Notation
        In which it is written.
    at : str
        Where, for messages: ``"plan.toml: bounds.age"``.
    """

    notation: Notation
    at: str

    def part(self, name: str) -> Place:
        """Give the place of a part of the value."""
        return Place(self.notation, self.notation.part(self.at, name))

    def item(self, number: int) -> Place:
        """Give the place of an element, counted from 1."""
        return Place(self.notation, self.notation.item(self.at, number))

    def fault(self, name: str, **parts: str) -> PysynthdpError:
        """Make the error of the value that stands here."""
        return self.notation.fault(name, self.at, **parts)


Check: TypeAlias = Callable[[Any, Place], Any]


@dataclass(frozen=True, slots=True)
class SettingForm:
    """What a setting must be.

    Parameters
    ----------
    name : str
        By which notations convert a value and word a fault.
    check : function of a plain value and a place
        Gives the value as a synthesizer takes it, or raises the place's fault.
    write : function of a value
        Gives the plain value again, of what a synthesizer takes.
    """

    name: str
    check: Check
    write: Callable[[Any], Any] = lambda value: value

    def take(self, value: Any, place: Place) -> Any:
        """Take a value as it was written."""
        return self.check(place.notation.plain(self.name, value, place), place)

    @classmethod
    def of_type(cls, name: str, *kinds: type) -> Self:
        """Make the form of a value of some types; truth values are no numbers.

        Examples
        --------
        >>> SettingForm.of_type("text", str).name
        'text'
        """

        def check(value: Any, place: Place) -> Any:
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise place.fault(name)
            return value

        return cls(name, check)


def unknown_key(
    key: str, known: Collection[str], *, where: str, error: type[PysynthdpError]
) -> PysynthdpError:
    """Make the error of a key that is not known, with the one that was probably meant."""
    what = Words("{where} has an unknown key '{key}'", where=where, key=key)
    return error(what, kind="setting", remedy=way_out(key, sorted(known)))


def by_column(form: SettingForm, write: Callable[[Any], Any] = lambda value: value) -> SettingForm:
    """Make the form of a table column -> what has a form."""

    def check(value: Any, place: Place) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise place.fault("by column")
        return {name: place.notation.of_column(form, item, place, name) for name, item in value.items()}

    return SettingForm("by column", check, write)


def _names(value: Any, place: Place) -> list[str]:
    """Check a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise place.fault("names")
    return value


def _pair(value: Any, place: Place) -> tuple[Any, Any]:
    """Check two bounds; an infinite one, or None, means none."""
    pair = value if isinstance(value, list) else []
    if len(pair) != 2 or any(isinstance(bound, str | bool | list | dict) for bound in pair):
        raise place.fault("pair")
    low, high = (None if isinstance(bound, float) and abs(bound) == float("inf") else bound for bound in pair)
    return low, high


def _codes(value: Any, place: Place) -> Any:
    """Check labels by their codes; a list is of codes without labels."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        raise place.fault("codes")
    return {code: TEXT.take(label, place.part(code)) for code, label in value.items()}


TEXT: Final = SettingForm.of_type("text", str)
FLAG: Final = SettingForm.of_type("flag", bool)
WHOLE: Final = SettingForm.of_type("whole number", int)
NUMBER: Final = SettingForm.of_type("number", int, float)
LIST: Final = SettingForm.of_type("list", list)
NAMES: Final = SettingForm("names", _names)
PAIR: Final = SettingForm("pair", _pair)
CODES: Final = SettingForm("codes", _codes)
