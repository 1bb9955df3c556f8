"""A guarantee that an R user asked for -> a protection: R's flat arguments and names understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pysynthdp.base.errors import PlanError
from pysynthdp.plan.protection import Protection, protection_named

__all__ = ["protection_from_r"]

_UNIT: Final = {"relation": "relation", "rows_per_unit": "rows_per_unit", "unit": "name", "unit_key": "key"}
_NAMES: Final = {"fresh_noise": "fresh"}
_APPROX: Final = {"epsilon": "eps", "delta": "at_delta"}


def protection_from_r(asked: Any) -> Protection:
    """Read what R's ``by_sampling()``, ``zcdp()``, ``approx_dp()`` or ``protection()`` made.

    Parameters
    ----------
    asked : mapping
        ``name``, and the arguments of that function.

    Returns
    -------
    Protection

    Raises
    ------
    PlanError
        If it is nothing that these functions make, or a setting has another form.
    PrivacyError
        For a number outside its domain.

    Notes
    -----
    Privacy: settings; reads nothing.

    Examples
    --------
    >>> protection_from_r({"name": "zcdp", "rho": 0.5}).guarantee
    ZCDP(rho=0.5)
    """
    if not isinstance(asked, Mapping) or not isinstance(asked.get("name"), str):
        what = "guarantee must come from by_sampling(), zcdp(), approx_dp() or protection()"
        raise PlanError(what, kind="guarantee", remedy="write guarantee = zcdp(rho = 0.5)")
    given = {name: _plain(value) for name, value in asked.items() if value is not None}
    unit = {_UNIT[name]: given.pop(name) for name in _UNIT if name in given}
    if given["name"] == "approx_dp":
        own = {_APPROX.get(name, name): value for name, value in given.items()}
        given = {**own, "name": "approx"}
    plain = {_NAMES.get(name, name): value for name, value in given.items()}
    return protection_named({**plain, **({"unit": unit} if unit else {})}, "guarantee")


def _plain(value: Any) -> Any:
    """Give whole doubles as integers, in lists too: R writes 1 as one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
