"""How a command reads its plan and then its table, as a stage of the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.cli.reading import reading_of
from pysynthdp.cli.run import this_run

if TYPE_CHECKING:
    from pysynthdp.plan import Protection

__all__ = ["learns_from", "protection_in", "read_with_plan", "settings_of", "table_of"]


def settings_of(plan: Path | None, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read the plan file, if there is one."""
    from pysynthdp.io.plans.plan_file import read_plan

    return {} if plan is None else read_plan(plan, dtypes=dtypes)


def read_with_plan(
    file: Path, plan: Path | None, reading: Mapping[str, Any], *, for_holder: bool = False
) -> tuple[Any, dict[str, Any]]:
    """Read the plan before the table, so that a slip costs no time; then settle its codes by the columns.

    Notes
    -----
    Privacy: reads real rows; under a guarantee nothing is learned from them, unless only who holds the data
    sees what comes out.
    """
    asked = settings_of(plan)
    this_run().learns = learns = for_holder or learns_from(asked)
    declared = {name: asked[name] for name in ("schema", "levels", "missing", "bounds") if name in asked}
    with this_run().stage("read") as stage:
        table = table_of(file, learns=learns, **declared, **reading_of(dict(reading), plan))
        stage.object, stage.size = file.name, f"{len(table):,} rows, {len(table.columns):,} columns"
    return table, settings_of(plan, {str(name): dtype for name, dtype in table.dtypes.items()})


def table_of(file: Path, *, learns: bool, **asked: Any) -> Any:
    """Read a table; a file without rows, or in which they cannot be told apart, is at fault itself."""
    from pysynthdp.io.survey import reads

    if reads(file):
        return _labelled(file, learns=learns, **asked)
    try:
        table = sdp.read_table(file, texts=not learns, **asked)
    except PrivacyError as error:
        raise SchemaError(error.what, column=error.column, kind=error.kind, remedy=error.remedy) from error
    if learns and not len(table):
        raise SchemaError(f"{file} has no rows behind its head", kind="empty", remedy="export it anew")
    return table


def _labelled(file: Path, *, learns: bool, **asked: Any) -> Any:
    """Read a labelled file; how a CSV is written says nothing of it."""
    from pysynthdp.io.survey import read_described

    of_csv = [name for name in ("sep", "decimal", "text", "day_first") if asked.get(name)]
    if of_csv:
        mend = "leave it out, of the plan too"
        raise PlanError(f"{of_csv[0]} is for CSV files, and {file} is none", kind="setting", remedy=mend)
    return read_described(file, asked.get("schema"), public=not learns, encoding=asked.get("encoding"))


def learns_from(settings: Mapping[str, Any]) -> bool:
    """Whether anything may be learned from the rows: types by all cells, an overview, a log."""
    return protection_in(settings).learns


def protection_in(settings: Mapping[str, Any]) -> Protection:
    """Read how the table is to be protected."""
    from pysynthdp.plan.protection import protection_of

    return protection_of(settings.get("guarantee"))
