"""Copies that ``sdc()`` of synthpop changed after they were drawn: what can still be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pandas as pd

from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.release import SyntheticRelease
from pysynthdp.release.learned import DeclaredCodes, schema_of_copies
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["edited_release"]

_ROWS: Final = "rows that repeat unique confidential records were removed, and copies cut to one length"
_VALUES: Final = "values of {} were recoded"
_FLAG: Final = (
    "changed after drawing, by sdc() of synthpop: {}. No rule counts that, so intervals are approximate, and "
    "terms speak of the columns as they are now"
)
_VOID: Final = (
    "the copies were drawn with a guarantee ({}), but were changed afterwards by a function that is given "
    "the confidential records, so none is left"
)
_LABEL: Final = "the same text in every row, added by sdc()"


def edited_release(
    release: SyntheticRelease, *, rows: bool, recoded: Sequence[str] | None, labels: Sequence[str]
) -> SyntheticRelease:
    """Say of changed copies what is true of them.

    Parameters
    ----------
    release : SyntheticRelease
        The changed copies, all of one length, with what was true before the change.
    rows : bool
        Whether rows were removed.
    recoded : sequence of str or None
        Columns with other cells than were drawn; None where that cannot be told.
    labels : sequence of str
        Columns of one text that were added.

    Returns
    -------
    SyntheticRelease
        Its statement claims no guarantee and says what was done, its tags carry a flag for pooled tables, and
        the columns are learned anew from the copies.

    Notes
    -----
    Privacy: reads the copies, which are public. Which rows go is decided by the confidential records, so a
    formal guarantee ends here. How many went is not said.
    """
    done = [_ROWS] if rows else []
    done += ["values may have been recoded"] if recoded is None else []
    done += [_VALUES.format(", ".join(recoded))] if recoded else []
    done += [f"{', '.join(labels)} was added as a label"] if labels else []
    tags = release.tags.with_size(m=release.m, n_syn=release.n_syn)
    flags = [*tags.details.get("flags", ()), _FLAG.format("; ".join(done))]
    new = [name for name in labels if name not in dict(release.provenance.methods)]
    methods = (*release.provenance.methods, *((name, "constant") for name in new))
    return replace(
        release,
        schema=_learned(release, None if recoded is None else {*recoded, *labels}),
        privacy=_statement(release, done, new),
        provenance=replace(release.provenance, methods=methods),
        tags=replace(
            tags, synthesised=tags.synthesised.union(labels), details={**tags.details, "flags": flags}
        ),
    )


def _learned(release: SyntheticRelease, changed: set[str] | None) -> Schema:
    """Learn changed columns from all copies, or all of them; the others stay as they are."""
    together = pd.concat(release.copies, ignore_index=True)
    found = schema_of_copies(together, missing=_codes(release.schema, together))
    unchanged = () if changed is None else (column for column in release.schema if column.name not in changed)
    known = {column.name: column for column in unchanged}
    return Schema(tuple(known.get(column.name, column) for column in found))


def _codes(schema: Schema, together: pd.DataFrame) -> DeclaredCodes:
    """Codes that were declared of columns of numbers."""
    numbers = (column for column in schema if isinstance(column, NumericColumn) and column.missing)
    return {column.name: dict(column.missing) for column in numbers if column.name in together}


def _statement(release: SyntheticRelease, done: Sequence[str], labels: Sequence[str]) -> PrivacyStatement:
    """State that nothing formal is claimed, and what was done; new labels get a row."""
    before = release.privacy
    columns = [
        ColumnStatement(part.column, part.method, "none", part.reason)
        for part in (part for one in before.parts or (before,) for part in one.columns)
    ]
    reason = before.reason if before.status == "none" else _VOID.format(before.guarantee.name)
    return PrivacyStatement.none(
        [*columns, *(ColumnStatement(name, "constant", "none", _LABEL) for name in labels)],
        reason=f"{reason}. Changed after drawing by sdc() of synthpop: {'; '.join(done)}",
        public=before.public,
        learned=before.learned,
        draws=[(release.n_syn, release.m)],
    )
