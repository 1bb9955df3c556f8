"""What a reader types to ask for more, in each dialect."""

from __future__ import annotations

from typing import Final

from pysynthdp.base.words import Said, Words

__all__ = ["CALL", "EITHER", "HOLDOUT", "KEYS", "KNOWN", "REFIT", "SHADOWS", "TARGETS", "groups_of"]

HOLDOUT: Final = Said("holdout=", "--holdout", "holdout =")
REFIT: Final = Said("refit=Synthesizer(...)", "--refit PLAN", "refit = list(...)")
EITHER: Final = Words(
    "{holdout} (rows that had no part in the copies) or {refit} (the settings of the release)",
    holdout=HOLDOUT,
    refit=REFIT,
)
SHADOWS: Final = Words(
    "{refit} and {fits}", refit=REFIT, fits=Said("shadow_fits=64", "--shadow-fits 64", "shadow_fits = 64")
)
KEYS: Final = Said(
    'keys={"neighbour": ["sex", "age", "region"]}',
    "--keys neighbour=sex,age,region",
    'keys = list(neighbour = c("sex", "age", "region"))',
)
TARGETS: Final = Said("targets=[...]", "--target", "targets =")
KNOWN: Final = Said("known_by_all={...}", "--known-by-all", "known_by_all = list(...)")
CALL: Final = Said(
    "disclosure_risk(table, release, keys=...)",
    "pysynthdp risk TABLE DIR --keys ...",
    "disclosure_risk(s, data, keys = ...)",
)


def groups_of(name: str) -> Said:
    """Write how a number is cut into groups."""
    return Said(f"ngroups={{'{name}': 10}}", f"--ngroups {name}=10", f"ngroups = c({name} = 10)")
