"""What a plan file says about its guarantee: the kind, the unit, the deltas, and public guesses for noise."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pysynthdp.errors import PlanError
from pysynthdp.io.toml_text import refuse_unknown
from pysynthdp.io.toml_values import Reader, flag_of, list_of, table_of, text_of
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.guarantee import GUARANTEES, Guarantee
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["deltas_of", "guarantee_of", "hint_of", "plain_guarantee", "unit_of"]


def guarantee_of(value: Any, at: str) -> BySampling | Guarantee:
    """Take ``{name = "by_sampling", exact = ...}``, or noise: ``{name = "zcdp", rho = 0.5}``."""
    given = dict(table_of(value, at))
    name = text_of(given.pop("name", None), f"{at}.name")
    if name == "by_sampling":
        refuse_unknown(given, ("deltas", "exact", "unit"), where=at, error=PlanError)
        readers: dict[str, Reader] = {"deltas": deltas_of, "exact": flag_of, "unit": unit_of}
        return BySampling(**{key: readers[key](part, f"{at}.{key}") for key, part in given.items()})
    if name not in ("zcdp", "approx"):
        raise PlanError(f'{at}.name must be "by_sampling", or "zcdp" or "approx" for noise in the answers')
    refuse_unknown(given, [item.name for item in fields(GUARANTEES[name])], where=at, error=PlanError)  # type: ignore[arg-type]  # every guarantee is a dataclass
    try:
        return GUARANTEES[name](**given)
    except TypeError as error:
        raise PlanError(f"{at}: {name!r} lacks a parameter; write rho, or eps and at_delta") from error


def deltas_of(value: Any, at: str) -> tuple[float, ...]:
    """Take a list of deltas."""
    deltas = list_of(value, at)
    if not all(isinstance(delta, float) for delta in deltas):
        raise PlanError(f"{at} must be a list of numbers between 0 and 1, such as [1e-6]")
    return tuple(deltas)


def unit_of(value: Any, at: str) -> PrivacyUnit:
    """Take ``{relation = ..., rows_per_unit = ..., name = ..., key = ...}``."""
    unit = table_of(value, at)
    refuse_unknown(unit, [item.name for item in fields(PrivacyUnit)], where=at, error=PlanError)
    return PrivacyUnit(**unit)


def hint_of(value: Any, at: str) -> tuple[float, float]:
    """Take [centre, spread]."""
    pair = list_of(value, at)
    if len(pair) != 2 or any(isinstance(n, bool) or not isinstance(n, int | float) for n in pair):
        raise PlanError(f"{at} must be [centre, spread]")
    return float(pair[0]), float(pair[1])


def plain_guarantee(asked: BySampling | Guarantee | None) -> dict[str, Any] | None:
    """Write what :func:`guarantee_of` reads."""
    if asked is None:
        return None
    own = {item.name: getattr(asked, item.name) for item in fields(asked) if item.init}  # type: ignore[arg-type]  # a dataclass
    if not isinstance(asked, BySampling):
        return {"name": asked.name, **own}
    unit = {item.name: getattr(asked.unit, item.name) for item in fields(asked.unit)}
    given = {name: value for name, value in unit.items() if value is not None}
    return {"name": "by_sampling", **own, "unit": given}
