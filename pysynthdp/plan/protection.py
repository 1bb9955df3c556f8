"""Which protections there are, how one is found by what a user writes, and what one is written with.

:class:`Protection` stands beside the plan that holds it, in ``synthesis_plan.py``; whoever writes one takes
it and the types of its methods from here. This room knows no implementation: those stand in
``pysynthdp/protection/``, above curator and drawing, or in any installed package that announces one by an
entry point of the group ``pysynthdp.protections``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pysynthdp.base.errors import PlanError
from pysynthdp.base.registry import Registry
from pysynthdp.base.words import GUARANTEE, Words, meant
from pysynthdp.plan.budget import Price
from pysynthdp.plan.fit import FitRequest
from pysynthdp.plan.synthesis_plan import Protection, Spends
from pysynthdp.plan.wishes import Wishes

__all__ = [
    "PROTECTIONS",
    "UNAUDITED",
    "FitRequest",
    "Price",
    "Protection",
    "Spends",
    "Wishes",
    "protection_named",
    "protection_of",
]

UNAUDITED = "priced by outside code, unaudited"
PROTECTIONS: Registry[type[Protection]] = Registry(
    "pysynthdp.protection", PlanError, group="pysynthdp.protections"
)


def protection_of(asked: object) -> Protection:
    """Turn what a user gives as ``guarantee=`` into a protection: itself, or by its short form.

    Raises
    ------
    PlanError
        If no protection knows what was given.

    Notes
    -----
    Privacy: a setting; reads nothing.
    """
    if isinstance(asked, Protection) and not isinstance(asked, type):
        return asked
    for name in PROTECTIONS:
        found = PROTECTIONS[name].from_short(asked)
        if found is not None:
            return found
    raise PlanError(
        Words("guarantee cannot be a {type}", type=type(asked).__name__),
        kind="guarantee",
        remedy=Words("give {guarantee}, or leave it out", guarantee=GUARANTEE),
    )


def protection_named(given: Mapping[str, Any], at: str) -> Protection:
    """Take what a plan file or R asks for, by the form that it names.

    Raises
    ------
    PlanError
        For an unknown name; the message lists those there are.
    """
    forms = {form: kind for kind in map(PROTECTIONS.__getitem__, PROTECTIONS) for form in kind.forms}
    name = given.get("name")
    if name not in forms:
        known = ", ".join(f'"{form}"' for form in sorted(forms))
        mend = meant(str(name), forms, "name one of them")
        raise PlanError(f"{at}.name must be one of {known}", kind="guarantee", remedy=mend)
    return forms[name].from_plain(given, at)
