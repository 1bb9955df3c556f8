"""What the command line says when it cannot go on: one line, or one JSON object, and an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import typer

from pysynthdp.base.errors import PysynthdpError, PysynthdpWarning
from pysynthdp.base.words import said
from pysynthdp.cli.error_report import write_report
from pysynthdp.cli.exit_codes import Exit, exit_of

__all__ = ["OneLineErrors", "as_json", "complain", "describe", "fail", "one_line"]

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
            complain("stopped by SIGINT; nothing is written, and the run can be started again")
            sys.exit(Exit.STOPPED)
        except MISUSE as error:
            _say(error)
            sys.exit(Exit.MISUSE)
        sys.exit(code if isinstance(code, int) else Exit.DONE)


def _say(error: Any) -> None:
    """Say what is wrong with a command, and where its options are listed; without any command, show help."""
    text = error.format_message()
    if "\n" in text:
        error.show()
        return
    where = "pysynthdp" if error.ctx is None else error.ctx.command_path
    complain(f"{text.rstrip('.')}; see {where} --help")


def complain(text: str) -> None:
    """Say one line on stderr; where nobody reads it, go on."""
    try:
        typer.echo(f"pysynthdp: {text}", err=True)
    except OSError:
        return


def one_line(told: PysynthdpError | PysynthdpWarning) -> str:
    """Word an error or a warning for a shell, in one line."""
    return " ".join(told.said("shell").split())


def describe(told: PysynthdpError | PysynthdpWarning) -> dict[str, Any]:
    """Write the fields of an error or a warning as JSON holds them, in the words of a shell."""
    return {
        "column": told.column,
        "kind": told.kind,
        "what": said(told.what, "shell"),
        "remedy": None if told.remedy is None else said(told.remedy, "shell"),
    }


def as_json(plain: Any) -> str:
    """Write JSON for programs."""
    return json.dumps(plain, indent=2, ensure_ascii=False)


def fail(
    error: Exception,
    *,
    command: str = "",
    options: Iterable[str] = (),
    fits: Exit = Exit.DATA,
    plain: bool = False,
    code: Exit | None = None,
) -> NoReturn:
    """Say what is wrong; a stranger's message may hold data, so it is not shown.

    Parameters
    ----------
    error : Exception
        What ended the run.
    command, options
        For the report of an unexpected error.
    fits : Exit
        Code of a model without a fit.
    plain : bool
        Whether to write a JSON object in place of the line.
    code : Exit, optional
        To leave with; by the error by default.
    """
    code = exit_of(error, fits=fits) if code is None else code
    faults = error.faults if isinstance(error, PysynthdpError) else ()
    text = one_line(error) if isinstance(error, PysynthdpError) else _unknown(error, code, command, options)
    if plain:
        told = {"exit_code": int(code), "message": text, "faults": [describe(fault) for fault in faults]}
        typer.echo(as_json({"error": told}), err=True)
    else:
        complain(text)
    raise typer.Exit(code)


def _unknown(error: Exception, code: Exit, command: str, options: Iterable[str]) -> str:
    """Say what is known of an error that is not ours, and where its report is."""
    if code is Exit.RESOURCES:
        return "out of memory or disk space; give the run more, or use fewer copies or fewer columns"
    report = write_report(error, command, options, Path())  # not cwd(), which may be gone
    where = f"see {report.name}" if report else "no report could be written into this folder"
    return f"unexpected {type(error).__name__}; {where}, or run again with --debug"
