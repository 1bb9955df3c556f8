"""How a command reads its plan and then its table, as a stage of the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pysynthdp as sdp
from pysynthdp.cli.reading import reading_of
from pysynthdp.cli.run import this_run

if TYPE_CHECKING:
    from pysynthdp.plan import Protection
    from pysynthdp.synthesizer import Synthesizer

__all__ = ["learns_from", "protection_in", "read_with_plan", "settings_in", "settings_of"]


def settings_of(plan: Path | None, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read the plan file, if there is one."""
    from pysynthdp.io.plans.plan_file import read_plan

    return {} if plan is None else read_plan(plan, dtypes=dtypes)


def settings_in(plan: Path | None) -> Synthesizer | None:
    """Read the settings of a release from its plan file, where one is named."""
    return None if plan is None else sdp.Synthesizer(**settings_of(plan))


def read_with_plan(
    file: Path,
    plan: Path | None,
    reading: Mapping[str, Any],
    *,
    for_holder: bool = False,
    disk: Mapping[str, Any] | None = None,
    drop: Collection[str] = (),
) -> tuple[Any, dict[str, Any]]:
    """Read the plan before the table, so that a slip costs no time; then settle its codes by the columns.

    With ``disk``, what the options say of scratch, the table comes as rows whose columns lie there.

    Notes
    -----
    Privacy: reads real rows; under a guarantee nothing is learned from them, unless only who holds the data
    sees what comes out.
    """
    from pysynthdp.synthesizer.table_file import count_rows, rows_of_file, table_of

    asked = settings_of(plan)
    this_run().learns = learns = for_holder or learns_from(asked)
    declared: dict[str, Any] = {
        name: asked[name] for name in ("schema", "levels", "missing", "bounds") if name in asked
    }
    with this_run().stage("read") as stage:
        form = reading_of(dict(reading), plan)
        if disk is None:
            table = table_of(file, learns=learns, **declared, **form)
        else:
            left = {*drop, *asked.get("drop", ())} - {protection_in(asked).unit.key}
            table = rows_of_file(file, declared, form, learns=learns, drop=left, disk=disk)
        n = count_rows(table)
        stage.object, stage.size = file.name, f"{n:,} rows, {len(table.columns):,} columns"
    return table, settings_of(plan, {str(name): dtype for name, dtype in table.dtypes.items()})


def learns_from(settings: Mapping[str, Any]) -> bool:
    """Whether anything may be learned from the rows: types by all cells, an overview, a log."""
    return protection_in(settings).learns


def protection_in(settings: Mapping[str, Any]) -> Protection:
    """Read how the table is to be protected."""
    from pysynthdp.plan.protection import protection_of

    return protection_of(settings.get("guarantee"))
