"""What a protection says that draws no whole units."""

from __future__ import annotations

from typing import Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Said, Words

__all__ = ["NOISE", "no_units"]

NOISE: Final = Said(
    "guarantee=ZCDP(rho=...)", 'guarantee = { name = "zcdp", rho = ... }', "guarantee = zcdp(rho = ...)"
)


def no_units(name: str) -> PrivacyError:
    """Say that a protection draws no whole units."""
    text = Words(
        "protection '{name}' protects no whole units: rows of one are drawn one after another, and no price "
        "of that is proved here",
        name=name,
    )
    mend = Words("use noise in the answers, {noise}, or leave units out", noise=NOISE)
    return PrivacyError(text, kind="units", remedy=mend)
