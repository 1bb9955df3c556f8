"""What no formal guarantee can have: refused when the plan is made, by name and with the way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.registry import is_outside, package_of
from pysynthdp.base.words import FLAG, Said, Setting, Words
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.protection import UNAUDITED, Wishes

__all__ = [
    "checked_flag",
    "checked_outside",
    "outside_names",
    "refuse_outside",
    "refuse_real_rows",
    "refuse_real_values",
]


def refuse_real_rows(wishes: Wishes) -> None:
    """Refuse columns that are released as they are, and models told to re-emit real values.

    Notes
    -----
    Privacy: settings only.
    """
    if wishes.keep:
        what = Words("{name} is kept real, so the table can have no guarantee", name=wishes.keep[0])
        mend = "take it out of keep"
        raise PrivacyError(what, column=wishes.keep[0], kind="kept real", remedy=mend)
    if wishes.emit_original:
        asked = Setting("emit_original", True)
        what = Words("{asked} gives out records' own values, which can have no guarantee", asked=asked)
        raise PrivacyError(what, kind="real values", remedy="leave it out")


def refuse_real_values(model: ColumnModel, label: str) -> None:
    """Refuse a model that is set to give out records' own values."""
    if getattr(model, "real_values", False):
        text = (
            "{label}: method '{method}' is set to give out records' own values, which can have no guarantee"
        )
        what = Words(text, label=label, method=model.name)
        raise PrivacyError(what, column=label, kind="real values", remedy="leave emit_original out")


def refuse_outside(entry: Any, label: str, allowed: Sequence[str]) -> None:
    """Refuse a model or mechanism of another package that was not allowed by name.

    Notes
    -----
    Privacy: settings only. This package proves and audits its own prices; of another's code it knows nothing.
    """
    if is_outside(entry) and entry.name not in allowed:
        raise PrivacyError(
            Words(
                "{label}: '{name}' is code of the package '{package}', whose price nobody here has proved",
                label=label,
                name=entry.name,
                package=package_of(entry),
            ),
            column=label,
            kind="outside",
            remedy=Words(
                "use another, or allow it by name with {outside}, which the statement then says: {unaudited}",
                outside=_outside(entry.name),
                unaudited=UNAUDITED,
            ),
        )


def _outside(name: str) -> Said:
    """Write how to allow a name."""
    return Said(f"outside=({name!r},)", f'outside = ["{name}"]', f'outside = "{name}"')


def outside_names(entries: Sequence[Any]) -> tuple[str, ...]:
    """Name what among models and mechanisms is code of other packages, each with its package."""
    found = (f"{entry.name} of {package_of(entry)}" for entry in entries if is_outside(entry))
    return tuple(dict.fromkeys(found))


def checked_outside(outside: Any) -> tuple[str, ...]:
    """Take names of what is allowed."""
    names = tuple(outside) if isinstance(outside, Iterable) and not isinstance(outside, str) else (None,)
    if not all(isinstance(name, str) for name in names):
        mend = Words("write {outside}", outside=_outside("mymodel"))
        raise PrivacyError("outside must be a list of names", kind="setting", remedy=mend)
    return names


def checked_flag(name: str, value: Any) -> bool:
    """Take True or False and nothing that is merely like it."""
    if not isinstance(value, bool):
        raise PrivacyError(Words("{name} must be {flag}", name=name, flag=FLAG), kind="setting")
    return value
