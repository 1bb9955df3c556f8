"""What a user declares of single columns beside their table: codes, spikes, bounds, decimals, levels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self, TypeAlias

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Setting, Words, meant

__all__ = ["DECLARATIONS", "Codes", "Declarations"]

Codes: TypeAlias = Mapping[Any, str] | Iterable[Any]
"""Special codes with their labels, or codes alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What is declared, by setting and then by column; None where nothing is said.

    Parameters
    ----------
    missing, spikes, bounds, decimals, levels : mappings by column
        As :class:`pysynthdp.Synthesizer` takes them.
    """

    missing: Mapping[str, Codes] | None = None
    spikes: Mapping[str, Iterable[float]] | None = None
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None
    decimals: Mapping[str, int] | None = None
    levels: Mapping[str, Iterable[Any]] | None = None

    @classmethod
    def among(cls, settings: Mapping[str, Any]) -> Self:
        """Pick them from all settings of a synthesizer.

        Examples
        --------
        >>> Declarations.among({"decimals": {"age": 0}, "proper": True}).given()
        {'decimals': {'age': 0}}
        """
        return cls(**{what: settings[what] for what in DECLARATIONS if what in settings})

    def given(self) -> dict[str, Mapping[str, Any]]:
        """Give those that are set, by name."""
        every = {what: getattr(self, what) for what in DECLARATIONS}
        return {what: own for what, own in every.items() if own is not None}

    def without(self, names: Collection[str]) -> Declarations:
        """Leave out what is declared of some columns."""
        kept = {
            what: {name: value for name, value in own.items() if name not in names}
            for what, own in self.given().items()
        }
        return Declarations(**kept)

    def over(self, others: Declarations, names: Collection[str]) -> Declarations:
        """Put these before others of the same columns, of which only some are there."""
        mine, theirs = self.given(), others.given()
        joined: dict[str, Any] = {}
        for what in (*mine, *theirs):
            there = {name: own for name, own in theirs.get(what, {}).items() if name in names}
            joined[what] = there | dict(mine.get(what, {}))
        return Declarations(**joined)

    def by_column(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Give the declarations of each column.

        Parameters
        ----------
        names : iterable of str
            All columns of the table.

        Raises
        ------
        SchemaError
            For one of a column that is not there, or one that names no columns.
        """
        found: dict[str, dict[str, Any]] = {name: {} for name in names}
        for what, own in self.given().items():
            if not isinstance(own, Mapping):
                raise SchemaError(
                    Words("{what} must name columns", what=what),
                    kind="setting",
                    remedy=Words("write {setting}", setting=Setting(what, {"column": ...})),
                )
            for name, value in own.items():
                if name not in found:
                    text = Words("{what} names '{name}', which is no column", what=what, name=name)
                    mend = meant(str(name), found, f"columns are {', '.join(found)}")
                    raise SchemaError(text, column=str(name), kind="columns", remedy=mend)
                found[name][what] = value
        return found


DECLARATIONS: Final = tuple(item.name for item in fields(Declarations))
"""The settings that declare something of single columns."""
