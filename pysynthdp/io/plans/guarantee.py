"""What a plan file says about its protection: a name and settings, which the protection itself reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pysynthdp.base.errors import PlanError
from pysynthdp.io.plans.toml_values import table_of, text_of
from pysynthdp.plan.protection import Protection, protection_named, protection_of

__all__ = ["guarantee_of", "plain_guarantee", "refuse_settings_outside"]

_MOVED = {"unit": "unit", "deltas": "deltas", "hints": "hints", "fresh_noise": "fresh", "exact": "exact"}


def guarantee_of(value: Any, at: str) -> Protection:
    """Take ``{name = "by_sampling", exact = ...}``, or noise: ``{name = "zcdp", rho = 0.5, ...}``."""
    given = table_of(value, at)
    text_of(given.get("name"), f"{at}.name")
    return protection_named(given, at)


def refuse_settings_outside(keys: Iterable[str], where: str) -> None:
    """Refuse settings of a guarantee that stand beside it, where nobody would read them."""
    for key in keys:
        if key in _MOVED:
            raise PlanError(
                f"{where}: {key!r} belongs to the guarantee; write it as {_MOVED[key]} inside [guarantee]",
                kind="guarantee",
            )


def plain_guarantee(asked: Any) -> dict[str, Any] | None:
    """Write what :func:`guarantee_of` reads."""
    return None if asked is None else protection_of(asked).to_plain()
