"""What haven's attributes say of columns: codes and levels for a fit, and labels that go along to the copies.

A labelled column keeps its codes here, as in R: levels are codes, and a missing kind of SPSS is its code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import FEWEST
from pysynthdp.bridge.codec import RVector
from pysynthdp.bridge.facts import ColumnFacts, RFrame
from pysynthdp.bridge.r_values import is_absent, whole
from pysynthdp.design.tagged import letters_of
from pysynthdp.schema import Kind, Labels, NumericColumn, Schema
from pysynthdp.schema.labels import Source, as_tag

__all__ = ["labelled_codes", "labels_of"]

_NUMBERS: Final = ("double", "integer")
_SOURCES: Final[tuple[Source, ...]] = ("spss", "stata", "sas")


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
    for name, facts in _first(data):
        if not _is_labelled(facts):
            continue
        labels, series = _codes(facts), data.frame[name]
        seen = _seen(facts, series, at_least=1)
        codes = {code: labels.get(code) or str(code) for code in _user_missing(facts, labels, seen)}
        kinds = {tag: label or tag for tag, label in _tags(facts).items()}
        if codes or kinds:
            found["missing"][name] = codes | kinds
        levels = [code for code in labels if code not in codes]
        if levels and bool(series.isin([*levels, *codes]).where(series.notna(), True).all()):
            found["levels"][name] = levels
    return found


def labels_of(data: RFrame, drop: Collection[str] = ()) -> Schema:
    """Give what haven's attributes say of columns, as :func:`pysynthdp.read` says it of those of a file.

    Parameters
    ----------
    data : RFrame
        The frame as it came from R.
    drop : collection of str
        Columns that are left out.

    Returns
    -------
    Schema
        Of the columns that have labels or a format: these, and nothing else, for
        :func:`pysynthdp.synthesizer.settings.with_labels`.

    Raises
    ------
    SchemaError
        If the attributes of a column contradict each other.

    Notes
    -----
    Privacy: attributes alone, but for codes without a label in ``na_range``: those of five or more records.
    """
    kept = [(name, facts) for name, facts in _first(data) if name not in drop]
    found = ((name, _labels(name, facts, data.frame[name])) for name, facts in kept)
    return Schema([NumericColumn(name, declared=False, labels=one) for name, one in found if one != Labels()])


def _first(data: RFrame) -> Iterator[tuple[str, ColumnFacts]]:
    """Give the columns, of several with one name the first; the fit refuses the others."""
    return ((name, facts) for (name, before), facts in data.facts.columns.items() if not before)


def _is_labelled(facts: ColumnFacts) -> bool:
    """Whether a column is of haven's class."""
    held = facts.attributes.get("class")
    return isinstance(held, RVector) and "haven_labelled" in held.texts


def _labels(name: str, facts: ColumnFacts, series: pd.Series[Any]) -> Labels:
    """Give the labels of one column."""
    source = _source(facts)
    said: dict[str, Any] = {"label": _text(facts, "label") or "", "source": source}
    said["format"] = _text(facts, f"format.{source}")
    said["width"] = _width(facts)
    try:
        if _is_labelled(facts):
            said |= _meanings(facts, series)
        return Labels(**said)
    except SchemaError as fault:
        raise SchemaError(
            f"{name}: its labels, na_values or na_range contradict each other",
            column=name,
            kind="labels",
            remedy="make the column again in R with haven::labelled() or labelled_spss()",
        ) from fault


def _meanings(facts: ColumnFacts, series: pd.Series[Any]) -> dict[str, Any]:
    """Give what codes mean, and those of missing answers apart."""
    labels = _codes(facts)
    absent = _user_missing(facts, labels, _seen(facts, series, at_least=FEWEST))
    kinds = [Kind(None, code, labels.get(code, "")) for code in absent]
    kinds += [Kind(tag, None, label) for tag, label in _tags(facts).items()]
    codes = tuple((code, label) for code, label in labels.items() if code not in absent)
    return {"codes": codes, "kinds": tuple(kinds), "missing_range": _range(facts)}


def _source(facts: ColumnFacts) -> Source | None:
    """Say whose file a column is from: by its format, or by what SPSS alone has."""
    named = next((one for one in _SOURCES if f"format.{one}" in facts.attributes), None)
    return named or ("spss" if {"na_values", "na_range"} & set(facts.attributes) else None)


def _text(facts: ColumnFacts, name: str) -> str | None:
    """Give an attribute that is one text."""
    held = facts.attributes.get(name)
    one = isinstance(held, RVector) and held.kind == "character" and len(held.texts) == 1
    return held.texts[0] if one and isinstance(held, RVector) else None


def _width(facts: ColumnFacts) -> int | None:
    """Give the width in which SPSS shows a column."""
    width = next(iter(_plain(facts, "display_width")), None)
    return width if isinstance(width, int) and width > 0 else None


def _plain(facts: ColumnFacts, name: str) -> list[Any]:
    """Give the numbers or texts of an attribute, missing ones left out."""
    held = facts.attributes.get(name)
    if not isinstance(held, RVector) or held.kind not in (*_NUMBERS, "character"):
        return []
    return [whole(code) for code in held.array.tolist() if not is_absent(code)]


def _named(facts: ColumnFacts) -> tuple[RVector, tuple[str, ...]] | None:
    """Give the vector of labelled codes and their labels; one that has no name has none."""
    held = facts.attributes.get("labels")
    if not isinstance(held, RVector) or held.kind not in (*_NUMBERS, "character"):
        return None
    names = held.names or (None,) * len(held.array)
    return held, tuple(name or "" for name in names)


def _codes(facts: ColumnFacts) -> dict[Any, str]:
    """Give code -> label; tagged missing values are no codes."""
    held = _named(facts)
    if held is None:
        return {}
    pairs = zip(held[0].array.tolist(), held[1], strict=True)
    return {whole(code): label for code, label in pairs if not is_absent(code)}


def _tags(facts: ColumnFacts) -> dict[str, str]:
    """Give the tagged missing values that have a label, with it."""
    held = _named(facts)
    if held is None or held[0].kind != "double":
        return {}
    pairs = zip(letters_of(held[0].array), held[1], strict=True)
    named = ((as_tag(f".{chr(letter)}"), label) for letter, label in pairs if letter)
    return {tag: label for tag, label in named if tag is not None}


def _range(facts: ColumnFacts) -> tuple[float, float] | None:
    """Give the range of codes that mean missing; texts have none."""
    ends = _plain(facts, "na_range")
    numbers = facts.kind in _NUMBERS and all(isinstance(end, int | float) for end in ends)
    return (float(ends[0]), float(ends[1])) if len(ends) == 2 and numbers else None


def _seen(facts: ColumnFacts, series: pd.Series[Any], *, at_least: int) -> list[Any]:
    """Give the codes in the range of missing ones that so many rows have."""
    span = _range(facts)
    if span is None:
        return []
    counts = series[series.between(*span)].value_counts()
    return sorted(whole(code) for code in counts[counts >= at_least].index)


def _user_missing(facts: ColumnFacts, labels: Mapping[Any, str], seen: Iterable[Any]) -> list[Any]:
    """Give the codes that haven's ``na_values`` and ``na_range`` name; of a range, all that are there."""
    span = _range(facts)
    codes = _plain(facts, "na_values")
    if span is not None:
        codes += [code for code in labels if span[0] <= code <= span[1]]
    return list(dict.fromkeys([*codes, *seen]))
