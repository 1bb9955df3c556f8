"""``pysynthdp look``: how every column is understood, for the person who holds the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

import pysynthdp as sdp
from pysynthdp.base.marks import SERIAL
from pysynthdp.cli.options import Debug, File, PlanFile
from pysynthdp.cli.reading import with_reading, with_scratch
from pysynthdp.cli.run import reporting, this_run
from pysynthdp.cli.table import read_with_plan

__all__ = ["look", "show_columns"]


@reporting()
@with_reading
@with_scratch
def look(
    file: File,
    plan: PlanFile = None,
    *,
    reading: dict[str, Any],
    disk: dict[str, Any],
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show how every column is understood; for the person who holds the data."""
    this_run().quiet = True
    table, settings = read_with_plan(file, plan, reading, for_holder=True, disk=disk)
    show_columns(table, settings)


def show_columns(table: Any, settings: Mapping[str, Any]) -> None:
    """Print the overview of the columns that are not dropped."""
    from pysynthdp.schema.declarations import Declarations

    dropped = [name for name in settings.get("drop", ()) if name in table.columns]
    method = settings.get("method", {})
    serial = [name for name, wish in method.items() if wish == SERIAL] if isinstance(method, dict) else []
    declared: dict[str, Any] = dict(Declarations.among(settings).without(dropped).given())
    seen = sdp.look(
        table,
        drop=dropped,
        exempt=[*settings.get("keep", ()), *serial],
        **declared,
    )
    typer.echo(seen.said("shell"))
