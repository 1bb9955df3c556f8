"""Which R attributes of a confidential frame may go on to its synthetic copies: a fixed list, no others.

Attributes can hold rows (the groups of a grouped tibble, the row numbers of ``na.omit()``), so what is not on
the list stays behind.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.bridge.codec import RValue, RVector, character
from pysynthdp.bridge.facts import ColumnFacts, FrameFacts

__all__ = ["public_facts"]

_FRAME_CLASSES: Final = ("tbl_df", "tbl", "data.table", "data.frame")
_COLUMN_CLASSES: Final = frozenset({
    "factor", "ordered", "Date", "POSIXct", "POSIXt", "difftime", "integer64", "haven_labelled",
    "haven_labelled_spss", "labelled", "vctrs_vctr", "double", "integer", "character", "AsIs",
})  # fmt: skip
_COLUMN_ATTRIBUTES: Final = frozenset({
    "class", "units", "tzone", "label", "labels", "na_values", "na_range", "format.spss", "format.stata",
    "format.sas", "display_width",
})  # fmt: skip


def public_facts(facts: FrameFacts) -> FrameFacts:
    """Keep what describes columns, and drop what could carry rows.

    Parameters
    ----------
    facts : FrameFacts
        Of the confidential frame.

    Returns
    -------
    FrameFacts
        For :func:`~pysynthdp.bridge.frames.frame_to_r` on its copies.

    Notes
    -----
    Privacy: keeps classes, units, zones, labels, labels of codes and formats, which are public by their
    nature. A class that is not known is dropped with a warning, since its attributes would be missing.
    """
    columns = {key: _column(key[0], own) for key, own in facts.columns.items()}
    return FrameFacts(columns, _frame(facts.attributes))


def _frame(attributes: Mapping[str, RValue]) -> dict[str, RValue]:
    """Keep the class of a frame, of the classes that are nothing but a frame."""
    held = attributes.get("class")
    classes = held.texts if isinstance(held, RVector) else ()
    return {"class": character([name for name in _FRAME_CLASSES if name in classes] or ["data.frame"])}


def _column(name: str, facts: ColumnFacts) -> ColumnFacts:
    """Keep the attributes of a column that are on the list."""
    kept = {key: value for key, value in facts.attributes.items() if key in _COLUMN_ATTRIBUTES}
    held = kept.get("class")
    unknown = [text for text in (held.texts if isinstance(held, RVector) else ()) if _is_foreign(text)]
    if unknown:
        warnings.warn(
            f"column {name!r}: its class {unknown[0]!r} is not known here, and its copies are without it",
            PysynthdpWarning,
            stacklevel=4,
        )
        del kept["class"]
    return replace(facts, attributes=kept)


def _is_foreign(text: str | None) -> bool:
    """Whether a class is not on the list."""
    return text not in _COLUMN_CLASSES
