"""``pysynthdp diff``: where two tables differ in structure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pysynthdp as sdp
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.cli.options import Debug
from pysynthdp.cli.run import reporting

__all__ = ["diff"]


@reporting()
def diff(
    first: Annotated[
        Path, typer.Argument(metavar="FIRST", help="A file or a release folder.", show_default=False)
    ],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another one.", show_default=False)],
    *,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Compare two tables in structure: names, order, types, labels, missing kinds, levels; no cell.

    Exit codes: 0 there is no difference, 14 there is one.
    """
    found = sdp.structure_diff(first, second)
    typer.echo(found.said("shell"))
    if found:
        raise typer.Exit(Exit.DIFFERENT)
