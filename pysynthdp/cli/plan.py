"""``pysynthdp plan``: who is drawn from whom and by what, and the price, before anything is fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.options import Copies, Debug, JsonObject, PlanFile, Quiet, Rows, Strict
from pysynthdp.cli.reading import with_reading, with_scratch
from pysynthdp.cli.run import reporting, this_run
from pysynthdp.cli.table import read_with_plan, settings_of

__all__ = ["plan"]


def _keys(wanted: bool) -> None:
    """Print the keys of a plan file and stop."""
    if wanted:
        from pysynthdp.io.plans.plan_file import KEYS

        typer.echo("\n".join(f"{key:<16}{about}" for key, about in KEYS.items()))
        raise typer.Exit


@reporting()
@with_reading
@with_scratch
def plan(
    file: Annotated[Path | None, typer.Argument(help="Table to plan for.", show_default=False)] = None,
    plan: PlanFile = None,
    n: Annotated[int | None, typer.Option(min=1, help="Rows of the table, for a price without it.")] = None,
    m: Copies = 5,
    k: Rows = None,
    *,
    reading: dict[str, Any],
    disk: dict[str, Any],
    keys: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--keys", callback=_keys, is_eager=True, help="List the keys of a plan file, and stop."),
    ] = False,
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    strict: Strict = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show who is drawn from whom and by what, without fitting; with a codebook no record is read."""
    from pysynthdp.synthesizer.table_file import count_rows

    if file is None and plan is None:
        raise PlanError(
            "there is nothing to plan", kind="command", remedy="give a table, or --plan with a codebook"
        )
    table, settings = None, settings_of(plan)
    if file is not None:
        table, settings = read_with_plan(file, plan, reading, disk=disk)
    made = sdp.Synthesizer(**settings).plan(table)
    rows = n if table is None or len(made.tables) > 1 else count_rows(table)  # of units nobody counts rows
    shown = [str(made), *map(str, getattr(made, "places", ()))]
    if made.protection.spends != "nothing" and rows is not None:
        shown.append(str(made.price(n=rows, n_syn=k, m=m)))
        if len(made.tables) > 1:  # further rows carry the noise of all that a unit may have
            shown.append(str(made.expected_precision(n=rows, n_syn=k, m=max(m, 2))))
    card = made.to_table()
    steps = [dict(zip(card.columns, row, strict=True)) for row in card.rows]
    this_run().end("\n\n".join(shown), {"facts": dict(card.facts), "steps": steps, "text": shown})
