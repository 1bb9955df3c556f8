"""A guarantee that an R user asked for -> the settings of a Synthesizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pysynthdp.errors import PlanError
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["guarantee_settings"]


def guarantee_settings(asked: Any) -> dict[str, Any]:
    """Read what R's ``by_sampling()``, ``zcdp()`` or ``approx_dp()`` made.

    Parameters
    ----------
    asked : mapping
        ``name``, and the arguments of that function.

    Returns
    -------
    dict
        ``guarantee``, and for noise in the answers ``unit``, ``deltas``, ``hints`` and ``fresh_noise``.

    Raises
    ------
    PlanError
        If it is nothing that these functions make.
    PrivacyError
        For a number outside its domain.

    Notes
    -----
    Privacy: settings; reads nothing.

    Examples
    --------
    >>> guarantee_settings({"name": "zcdp", "rho": 0.5})["guarantee"]
    ZCDP(rho=0.5)
    """
    if not isinstance(asked, Mapping) or asked.get("name") not in _MAKERS:
        raise PlanError("guarantee must come from by_sampling(), zcdp() or approx_dp()")
    unit = PrivacyUnit(
        relation=asked.get("relation", "replace_one"),
        rows_per_unit=_whole(asked.get("rows_per_unit", 1), "rows_per_unit"),
        name=asked.get("unit", "record"),
        key=asked.get("unit_key"),
    )
    deltas = asked.get("deltas", 1e-6)
    return _MAKERS[asked["name"]](asked, unit, tuple(deltas) if isinstance(deltas, list) else (deltas,))


def _by_sampling(asked: Mapping[str, Any], unit: PrivacyUnit, deltas: tuple[float, ...]) -> dict[str, Any]:
    """Ask that the draw itself carries it."""
    exact = asked.get("exact", False)
    if not isinstance(exact, bool):
        raise PlanError("exact must be True or False")
    return {"guarantee": BySampling(unit=unit, deltas=deltas, exact=exact)}


def _zcdp(asked: Mapping[str, Any], unit: PrivacyUnit, deltas: tuple[float, ...]) -> dict[str, Any]:
    """Ask for noise in the answers, as zCDP."""
    return {"guarantee": ZCDP(_number(asked, "rho")), **_noise(asked, unit, deltas)}


def _approx_dp(asked: Mapping[str, Any], unit: PrivacyUnit, deltas: tuple[float, ...]) -> dict[str, Any]:
    """Ask for noise in the answers, as a pair (epsilon, delta)."""
    pair = ApproxDP(_number(asked, "epsilon"), _number(asked, "delta"))
    return {"guarantee": pair, **_noise(asked, unit, deltas)}


def _noise(asked: Mapping[str, Any], unit: PrivacyUnit, deltas: tuple[float, ...]) -> dict[str, Any]:
    """Read what noise in the answers has besides."""
    hints = asked.get("hints") or {}
    if not isinstance(hints, Mapping) or any(
        not isinstance(pair, list) or len(pair) != 2 for pair in hints.values()
    ):
        raise PlanError("hints must be a list with a name for each column: list(age = c(centre, spread))")
    return {
        "unit": unit,
        "deltas": deltas,
        "hints": {name: (pair[0], pair[1]) for name, pair in hints.items()},
        "fresh_noise": _whole(asked.get("fresh_noise", 0), "fresh_noise"),
    }


def _number(asked: Mapping[str, Any], at: str) -> float:
    """Take one number."""
    value = asked.get(at)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PlanError(f"{at} must be a number")
    return float(value)


def _whole(value: Any, at: str) -> int:
    """Take a whole number that R may have written as a double."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise PlanError(f"{at} must be a whole number")
    return int(value)


_MAKERS: Final[
    Mapping[str, Callable[[Mapping[str, Any], PrivacyUnit, tuple[float, ...]], dict[str, Any]]]
] = {
    "by_sampling": _by_sampling,
    "zcdp": _zcdp,
    "approx_dp": _approx_dp,
}
