"""From copies of units of several rows to copies of one row a unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

__all__ = ["of_units"]


def of_units(
    copies: Sequence[pd.DataFrame], schema: Schema, provenance: Provenance, tags: ReleaseTags
) -> dict[str, Any]:
    """Take the columns of units, one row each.

    Parameters
    ----------
    copies : sequence of DataFrame
        Of rows that belong together.
    schema, provenance, tags
        Of their release.

    Returns
    -------
    dict
        The same parts of the release of units.

    Raises
    ------
    PlanError
        If rows do not belong together.

    Notes
    -----
    Privacy: post-processing.
    """
    if tags.unit is None:
        what = "rows of this release stand alone, each its own unit"
        mend = Words("ask for them by {units} at the fit", units=Setting("units", ...))
        raise PlanError(what, kind="units", remedy=mend)
    names = [name for name in tags.details["unit_columns"] if name in schema]
    inside = {*names}
    steps = None if tags.steps is None else tuple(each for each in tags.steps if {*each.columns} <= inside)
    details = {name: value for name, value in tags.details.items() if name not in ("unit", "unit_columns")}
    return {
        "copies": tuple(_one_a_unit(copy, tags.unit)[names] for copy in copies),
        "schema": schema.without([name for name in schema.names if name not in inside]),
        "provenance": replace(
            provenance,
            methods=tuple(pair for pair in provenance.methods if pair[0] in inside),
            visit_sequence=tuple(name for name in provenance.visit_sequence if name in inside),
        ),
        "tags": replace(tags, synthesised=tags.synthesised & inside, steps=steps, details=details),
    }


def _one_a_unit(copy: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Take the first row of each unit."""
    found = copy[~copy[unit].duplicated()].reset_index(drop=True)
    found.attrs = copy.attrs
    return found
