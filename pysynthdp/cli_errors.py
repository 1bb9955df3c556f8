"""What the command line says when it cannot go on: one line, and an exit code."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import typer

from pysynthdp.errors import PlanError, PysynthdpError, PysynthdpWarning, SchemaError

__all__ = ["OneLineErrors", "fail", "show_warning"]

MISUSE: type[Any] = typer.BadParameter.__mro__[1]  # UsageError of click, or typer's own, by its version


class OneLineErrors(typer.core.TyperGroup):
    """Commands whose misuse is told in one line, as every other error is."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command; leave with its exit code."""
        inside = {**options, "standalone_mode": False}
        if not options.get("standalone_mode", True):
            return super().main(*args, **inside)
        try:
            code = super().main(*args, **inside)
        except typer.Abort:
            typer.echo("pysynthdp: stopped", err=True)
            sys.exit(1)
        except MISUSE as error:
            _say(error)
            sys.exit(2)
        sys.exit(code if isinstance(code, int) else 0)


def _say(error: Any) -> None:
    """Say what is wrong with a command, and where its options are listed; without any command, show help."""
    text = error.format_message()
    if "\n" in text:
        error.show()
        return
    where = "pysynthdp" if error.ctx is None else error.ctx.command_path
    typer.echo(f"pysynthdp: {text.rstrip('.')}; see {where} --help", err=True)


def fail(error: Exception) -> NoReturn:
    """Say in one line what is wrong; a stranger's message may hold data, so it is not shown."""
    if isinstance(error, PysynthdpError):
        text = " ".join(error.said("shell").split())
    else:
        text = f"unexpected {type(error).__name__}; run again with --debug to see where"
    typer.echo(f"pysynthdp: {text}", err=True)
    code = 2 if isinstance(error, PlanError) else 3 if isinstance(error, SchemaError) else 1
    raise typer.Exit(code)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show our own warnings in one line; those of libraries are not for this audience."""
    if isinstance(message, PysynthdpWarning):
        typer.echo(f"pysynthdp: warning: {' '.join(message.said('shell').split())}", err=True)
