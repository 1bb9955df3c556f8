"""A plan as a TOML file: a Synthesizer's settings, to be reviewed and checked before data are touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.forms import FLAG, NAMES, TEXT
from pysynthdp.base.toml_text import as_number, read_toml, refuse_unknown, to_toml
from pysynthdp.io.plans.toml_values import Toml
from pysynthdp.plan.settings_table import SETTINGS, Line

__all__ = ["KEYS", "PLAN_VERSION", "READING", "read_plan", "read_reading", "settle_codes", "write_plan"]

PLAN_VERSION = 2  # to be raised when keys move or change their meaning
READING: Final = {
    line.name: line
    for line in (
        Line("sep", TEXT, 'separator of the CSV file: ";"'),
        Line("decimal", TEXT, 'decimal mark of the CSV file: ","'),
        Line("encoding", TEXT, 'encoding of the CSV file: "latin-1"'),
        Line("text", NAMES, 'columns of the CSV file that are texts whatever they look like: ["postcode"]'),
        Line("day_first", FLAG, "true or false: whether 01/02/2020 in the CSV file is 1 February"),
    )
}
"""How the table's file is written: keys beside the settings."""
_LINES: Final = {line.key or name: line for name, line in SETTINGS.items()}
KEYS: Final[Mapping[str, str]] = {
    "codebook": _LINES["codebook"].about,
    "format": "format of the plan file, a whole number; may be left out",
    **{key: line.about for key, line in {**READING, **_LINES}.items() if key != "codebook"},
}
"""Every key of a plan file, and what it says."""
_MOVED: Final = {
    "unit": "unit",
    "deltas": "deltas",
    "hints": "hints",
    "fresh_noise": "fresh",
    "exact": "exact",
}


def read_plan(path: str | Path, *, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read settings of a Synthesizer from TOML.

    Parameters
    ----------
    path : path
        Keys: ``method, visit_sequence, predictors, formulas, terms, max_predictors, missing, spikes, bounds,
        decimals, levels, keep, drop, proper, draws, emit_original, joint, rare, derive, universe, rules,
        must_sum, top_code, round, nested, strata, design, guarantee``, which holds settings of its own, and
        ``codebook``, a path relative to the file; ``format``, a whole number, tells of which format the file
        is, and may be left out. ``sep, decimal, encoding, text, day_first`` say how the table's file is
        written (:func:`read_reading`).
    dtypes : mapping column -> pandas dtype, optional
        Of the table; codes of text columns then stay texts. Without it, what looks like a number is one.

    Returns
    -------
    dict
        Keyword settings of :class:`pysynthdp.Synthesizer`.

    Raises
    ------
    PlanError
        For an unknown key (a near miss is named), a value of the wrong form, or a plan of another format.

    Notes
    -----
    Privacy: reads no record.
    """
    file = Path(path)
    content = read_toml(file, PlanError)
    _check_format(content.get("format", PLAN_VERSION), file)
    _refuse_settings_outside(content, file)
    refuse_unknown(content, KEYS, where=str(file), error=PlanError)
    asked = {key: value for key, value in content.items() if key in _LINES and key != "codebook"}
    if "codebook" in content:
        asked["codebook"] = content["codebook"]  # read last: the others cost no file
    toml = Toml(file.parent)
    settings = {
        _LINES[key].name: _LINES[key].form.take(value, toml.at(f"{file}: {key}"))
        for key, value in asked.items()
    }
    return settle_codes(settings, dtypes or {})


def read_reading(path: str | Path) -> dict[str, Any]:
    """Read from a plan how the file of its table is written.

    Parameters
    ----------
    path : path
        TOML with ``sep``, ``decimal``, ``encoding``, ``text`` and ``day_first``, beside the settings.

    Returns
    -------
    dict
        Keyword settings of :func:`pysynthdp.read_table`; only those that the file has.

    Raises
    ------
    PlanError
        For a value of the wrong form.

    Notes
    -----
    Privacy: reads no record.
    """
    file = Path(path)
    content = read_toml(file, PlanError)
    toml = Toml(file.parent)
    return {
        key: line.form.take(content[key], toml.at(f"{file}: {key}"))
        for key, line in READING.items()
        if key in content
    }


def _check_format(given: Any, file: Path) -> None:
    """Refuse a plan of another format before a key of it is read by this one's meaning."""
    if isinstance(given, bool) or given != PLAN_VERSION:
        raise PlanError(
            f"{file} is a plan of format {given!r}, and this version reads format {PLAN_VERSION}: write it "
            "by the present documentation and fit again, or use the version that it was written for",
            kind="plan file",
        )


def _refuse_settings_outside(keys: Iterable[str], where: Path) -> None:
    """Refuse settings of a guarantee that stand beside it, where nobody would read them."""
    for key in keys:
        if key in _MOVED:
            raise PlanError(
                f"{where}: {key!r} belongs to the guarantee; write it as {_MOVED[key]} inside [guarantee]",
                kind="guarantee",
            )


def settle_codes(settings: Mapping[str, Any], dtypes: Mapping[str, Any]) -> dict[str, Any]:
    """Turn codes, which are texts in TOML, into numbers where the column holds numbers or is not known.

    Examples
    --------
    >>> settle_codes({"missing": {"a": {"-8": "no"}, "b": {"-8": "no"}}}, {"b": pd.StringDtype()})["missing"]
    {'a': {-8: 'no'}, 'b': {'-8': 'no'}}
    """
    codes = {
        name: given
        if _holds_text(dtypes.get(name))
        else {as_number(code): label for code, label in given.items()}
        for name, given in settings.get("missing", {}).items()
    }
    return {**settings, "missing": codes} if codes else dict(settings)


def _holds_text(dtype: Any) -> bool:
    """Whether a column's values are texts."""
    if dtype is None:
        return False
    own = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
    return bool(pd.api.types.is_string_dtype(own))


def write_plan(settings: Mapping[str, Any], path: str | Path) -> Path:
    """Write settings of a Synthesizer as TOML, which :func:`read_plan` reads.

    Parameters
    ----------
    settings : mapping
        Keyword settings; a schema is not among them: write a codebook for it.
    path : path
        Of the file.

    Raises
    ------
    PlanError
        For a key that a plan does not have, or a value that TOML cannot hold.

    Notes
    -----
    Privacy: writes what it is given; a seed is no setting.
    """
    keys = {line.name: key for key, line in _LINES.items() if key != "codebook"}
    given = {keys.get(name, name): value for name, value in settings.items()}
    refuse_unknown(given, list(keys.values()), where="the settings", error=PlanError)
    file = Path(path)
    try:
        plain = {
            key: value if value is None else _LINES[key].form.write(value) for key, value in given.items()
        }
        text = to_toml({"format": PLAN_VERSION, **plain})
        file.write_text(text, encoding="utf-8")
    except TypeError as error:
        raise PlanError(
            f"a setting holds a {error}, which a plan file cannot",
            kind="plan file",
            remedy="write it in Python",
        ) from error
    except OSError as error:
        raise PlanError(
            f"{file} cannot be written: {error.strerror or type(error).__name__}", kind="plan file"
        ) from error
    return file
