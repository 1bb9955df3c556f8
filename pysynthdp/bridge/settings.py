"""What an R user sets -> the settings of a Synthesizer: R's doubles, names and single elements understood."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import meant
from pysynthdp.bridge.codec import RVector
from pysynthdp.bridge.facts import ColumnFacts, RFrame
from pysynthdp.bridge.r_values import R, is_absent, whole
from pysynthdp.design.tagged import letters_of
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.plan.settings_table import SETTINGS

__all__ = ["labelled_codes", "settings_from_r"]

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


def labelled_codes(data: RFrame) -> dict[str, dict[str, Any]]:
    """Give what haven's labels declare: codes of missing answers, and levels where every code has a label.

    Parameters
    ----------
    data : RFrame
        The frame as it came from R.

    Returns
    -------
    dict
        ``missing`` and ``levels``, by column, as :class:`pysynthdp.Synthesizer` takes them.

    Notes
    -----
    Privacy: ``na_values``, ``na_range`` and labels are public facts of the codebook. Whether each value has
    a label is learned from the rows.
    """
    found: dict[str, dict[str, Any]] = {"missing": {}, "levels": {}}
    for (name, before), facts in data.facts.columns.items():
        if before or "haven_labelled" not in _classes(facts):
            continue
        labels, series = _labels(facts), data.frame[name]
        codes = {code: labels.get(code, str(code)) for code in _user_missing(facts, labels, series)}
        kinds = _labelled_tags(facts)
        if codes or kinds:
            found["missing"][name] = codes | kinds
        levels = [code for code in labels if code not in codes]
        if levels and bool(series.isin([*levels, *codes]).where(series.notna(), True).all()):
            found["levels"][name] = levels
    return found


def _classes(facts: ColumnFacts) -> tuple[str | None, ...]:
    """R's class of a column."""
    held = facts.attributes.get("class")
    return held.texts if isinstance(held, RVector) else ()


def _labels(facts: ColumnFacts) -> dict[Any, str]:
    """Give code -> label; tagged missing values are no codes."""
    held = facts.attributes.get("labels")
    if not isinstance(held, RVector):
        return {}
    pairs = zip(held.array.tolist(), held.names, strict=False)
    return {whole(code): str(label) for code, label in pairs if not is_absent(code)}


def _labelled_tags(facts: ColumnFacts) -> dict[str, str]:
    """Give the tagged missing values that have a label, with it."""
    held = facts.attributes.get("labels")
    if not isinstance(held, RVector) or held.kind != "double":
        return {}
    pairs = zip(letters_of(held.array), held.names, strict=False)
    return {f".{chr(letter)}": str(label) for letter, label in pairs if letter}


def _user_missing(facts: ColumnFacts, labels: Mapping[Any, str], series: pd.Series[Any]) -> list[Any]:
    """Give the codes that haven's ``na_values`` and ``na_range`` name; of a range, all that are there."""
    values, bounds = facts.attributes.get("na_values"), facts.attributes.get("na_range")
    codes = [whole(code) for code in values.array.tolist()] if isinstance(values, RVector) else []
    if isinstance(bounds, RVector):
        low, high = bounds.array.tolist()
        codes += [code for code in labels if low <= code <= high]
        codes += sorted(whole(code) for code in series[series.between(low, high)].unique())
    return list(dict.fromkeys(codes))
