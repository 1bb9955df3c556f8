"""``pysynthdp verify``: what agrees in a release folder, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import ReleaseError
from pysynthdp.cli.errors import fail
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.cli.options import Debug
from pysynthdp.cli.run import reporting

__all__ = ["verify"]


@reporting()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    key: Annotated[
        Path | None,
        typer.Option(help="Public key (Ed25519, PEM) of who is said to have made it.", show_default=False),
    ] = None,
    *,
    numbers: Annotated[bool, typer.Option("--numbers", help="Show each number recomputed.")] = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Compare a release's files with its list, and recompute its statement's numbers from its own constants.

    Exit codes: 0 right, 10 no guarantee is stated, 11 void, 12 arithmetic broken, 13 files changed.
    """
    try:
        checked = sdp.verify(folder, key=key)
    except ReleaseError as error:
        if error.kind == "damaged":  # whoever changed the list itself changed the folder
            fail(error, code=Exit.CHANGED)
        raise
    typer.echo(str(checked))
    if numbers and checked.arithmetic is not None:
        typer.echo(f"\n{checked.arithmetic}")
    if checked.exit_code:
        raise typer.Exit(checked.exit_code)
