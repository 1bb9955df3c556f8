"""The command line: one file a command, each of which makes one public call.

What the exit codes mean says :mod:`pysynthdp.cli.exit_codes`.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import pysynthdp as sdp
from pysynthdp.cli.compare import compare
from pysynthdp.cli.diff import diff
from pysynthdp.cli.errors import OneLineErrors
from pysynthdp.cli.exit_codes import Exit, exit_lines
from pysynthdp.cli.ledger import ledger
from pysynthdp.cli.look import look
from pysynthdp.cli.parameter import parameter
from pysynthdp.cli.plan import plan
from pysynthdp.cli.pool import pool
from pysynthdp.cli.report import report
from pysynthdp.cli.run import closed_quietly
from pysynthdp.cli.signals import finish, stop_at_once
from pysynthdp.cli.synth import synth
from pysynthdp.cli.verify import verify

__all__ = ["app", "main"]

_CODES = "Exit codes:\n\n\b\n" + "\n".join(exit_lines())

app = typer.Typer(
    cls=OneLineErrors,
    name="pysynthdp",
    help="Synthetic copies of a confidential table, with privacy statements that are true.",
    epilog=_CODES,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for command in (look, plan, synth, parameter, pool, verify, diff, compare, report):  # as the help lists them
    app.command()(command)
app.add_typer(ledger)


def _version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"pysynthdp {sdp.__version__}")
        raise typer.Exit


@app.callback()
def pysynthdp(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Synthetic copies of a confidential table, with privacy statements that are true."""


def main() -> None:
    """Run the command line."""
    stop_at_once()  # until a command begins
    for channel in (sys.stdout, sys.stderr):
        if hasattr(channel, "reconfigure"):
            channel.reconfigure(errors="backslashreplace")  # names in any script, whatever the terminal
    code: int | str | None = Exit.DONE
    try:
        app()
    except SystemExit as left:
        code = left.code
    finish()
    sys.exit(closed_quietly(code if isinstance(code, int) else Exit.DONE))
