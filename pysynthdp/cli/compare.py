"""``pysynthdp compare``: copies against the confidential table, for the person who holds the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pysynthdp as sdp
from pysynthdp.cli.options import Debug
from pysynthdp.cli.run import reporting

__all__ = ["compare"]


@reporting()
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
    save: Annotated[
        Path | None,
        typer.Option(help="Folder of your own for INTERNAL_ files: this page, and every table as CSV."),
    ] = None,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Compare copies with the confidential table: INTERNAL, for the person who holds the data.

    An alarm on page one says that records of the table are in a copy. The exit code is 0 whatever is found.
    """
    release = copies[0] if len(copies) == 1 else copies
    found = sdp.compare(table, release, models=model or None, by=by or None, rules=rule or ())
    typer.echo(found.said("shell"))
    if save is not None:
        typer.echo(f"\nwritten: {found.save(save)}")
