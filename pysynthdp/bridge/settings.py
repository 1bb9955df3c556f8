"""What an R user sets -> the settings of a Synthesizer: R's doubles, names and single elements understood."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import meant
from pysynthdp.bridge.r_values import R
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.plan.settings_table import SETTINGS

__all__ = ["settings_from_r"]

_NAMED: Final = tuple(name for name in SETTINGS if name != "guarantee")  # which is read last


def settings_from_r(given: Mapping[str, Any], dtypes: Mapping[str, Any]) -> dict[str, Any]:
    """Read settings that came from R.

    Parameters
    ----------
    given : mapping
        Plain values: keywords of :class:`pysynthdp.Synthesizer`; ``plan``, a file; and ``guarantee``, what
        ``by_sampling()``, ``zcdp()``, ``approx_dp()`` or ``protection()`` made. None is not given.
    dtypes : mapping column -> pandas dtype
        Of the table, for the codes of a plan; empty where the table is not to be looked at.

    Returns
    -------
    dict
        Keyword settings.

    Raises
    ------
    PlanError, SchemaError
        For an unknown setting, or a value of the wrong form; the message names it.
    PrivacyError
        For a number of a guarantee outside its domain.

    Notes
    -----
    Privacy: reads no row.

    Examples
    --------
    >>> settings_from_r({"guarantee": {"name": "zcdp", "rho": 0.5}}, {})["guarantee"].guarantee
    ZCDP(rho=0.5)
    """
    asked = {name: value for name, value in given.items() if value is not None}
    plan, guarantee = asked.pop("plan", None), asked.pop("guarantee", None)
    settings = {} if plan is None else read_plan(Path(str(plan)).expanduser(), dtypes=dtypes)
    for name in asked:
        if name not in _NAMED:
            remedy = meant(name, _NAMED, f"settings are {', '.join(_NAMED)}")
            raise PlanError(f"there is no setting {name!r}", kind="setting", remedy=remedy)
    asked |= {} if guarantee is None else {"guarantee": guarantee}
    own = {name: SETTINGS[name].form.take(value, R.at(name)) for name, value in asked.items()}
    return {**settings, **own}
