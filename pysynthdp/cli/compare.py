"""``pysynthdp compare``: copies against the confidential table, for the person who holds the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.cli.options import Debug
from pysynthdp.cli.reading import with_reading
from pysynthdp.cli.run import reporting
from pysynthdp.cli.sides import copies_of, table_side
from pysynthdp.cli.table import settings_in

__all__ = ["compare"]


@reporting()
@with_reading
def compare(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="The confidential table.", show_default=False)
    ],
    copies: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE", help="A release folder, or files of copies of any tool.", show_default=False
        ),
    ],
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A regression to hold against each other, 'pay ~ age + sex'; repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="A column by which shares and means are told; repeatable.")
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="A condition that every row should meet; repeatable.")
    ] = None,
    refit: Annotated[
        Path | None, typer.Option(help="Plan of the release, for --foreseen.", show_default=False)
    ] = None,
    foreseen: Annotated[
        int, typer.Option(help="Runs in which intervals are foreseen, if the synthesis model held; some 50.")
    ] = 0,
    save: Annotated[
        Path | None,
        typer.Option(help="Folder of your own for INTERNAL_ files: this page, and every table as CSV."),
    ] = None,
    reading: dict[str, Any],
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Compare copies with the confidential table: INTERNAL, for the person who holds the data.

    An alarm on page one says that records of the table are in a copy. The exit code is 0 whatever is found.
    """
    found = sdp.compare(
        table_side(table, reading),
        copies_of(copies, table, reading),
        models=model or None,
        by=by or None,
        rules=rule or (),
        refit=settings_in(refit),
        foreseen=foreseen,
    )
    typer.echo(found.said("shell"))
    if save is not None:
        typer.echo(f"\nwritten: {found.save(save)}")
