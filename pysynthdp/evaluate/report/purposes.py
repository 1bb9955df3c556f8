"""What copies are for: which words a report uses, which checks it runs, and where its gates stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words, meant

__all__ = ["PURPOSES", "Purpose", "PurposeName", "purpose_of"]

PurposeName = Literal["code-testing", "explore-then-validate", "public-analysis", "system-test"]


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a release is for.

    Parameters
    ----------
    name : str
        As the user names it.
    use : str
        What the copies may be used for, as a sentence for those who receive them.
    limits : tuple of str
        What they may not be used for.
    most_two_way : float or None
        Highest ratio to a fresh sample that any two-way table may have; None where relations do not matter.
    most_lost : float or None
        Largest share of a strong relation of two columns that the copies may lose; None likewise.
    """

    name: PurposeName
    use: str
    limits: tuple[str, ...]
    most_two_way: float | None
    most_lost: float | None


_VALIDATE: Final = (
    "Estimates from the copies are no findings before they were validated on the confidential data."
)
_NOT_REAL: Final = "No row is a person. Rows may not be matched to persons, nor shown as if they were real."
PURPOSES: Final[Mapping[str, Purpose]] = {
    "code-testing": Purpose(
        "code-testing",
        "These copies are made for writing and testing programs before they run on the confidential data.",
        ("No number computed from them says anything about people: do not report one.", _NOT_REAL),
        None,
        None,
    ),
    "explore-then-validate": Purpose(
        "explore-then-validate",
        "These copies are made for exploring, choosing models and writing programs; results are then "
        "computed on the confidential data.",
        (_VALIDATE, _NOT_REAL),
        20.0,
        0.5,
    ),
    "public-analysis": Purpose(
        "public-analysis",
        "These copies are made for analysis and teaching by everybody, within what their models hold.",
        (
            "A relation that no model held is not in the copies; pysynthdp names such terms when it pools.",
            _VALIDATE,
            _NOT_REAL,
        ),
        10.0,
        0.5,
    ),
    "system-test": Purpose(
        "system-test",
        "These copies are made for testing systems, loads and interfaces: types, codes and sizes are right.",
        ("No number computed from them says anything about people: do not report one.", _NOT_REAL),
        None,
        None,
    ),
}


def purpose_of(name: str) -> Purpose:
    """Find a purpose.

    Raises
    ------
    PlanError
        For a name that is not listed.
    """
    if name not in PURPOSES:
        known = get_args(PurposeName)
        mend = Words("write {setting}", setting=Setting("purpose", "public-analysis"))
        what = Words("purpose must be one of {known}", known=", ".join(map(repr, known)))
        raise PlanError(what, kind="setting", remedy=meant(str(name), known, mend))
    return PURPOSES[name]
