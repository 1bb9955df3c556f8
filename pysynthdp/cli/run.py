"""A run of the command line: what it says of its stages and warnings, to people or to programs."""

from __future__ import annotations

import functools
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, ParamSpec

import typer

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.cli.errors import as_json, complain, describe, fail, one_line
from pysynthdp.cli.exit_codes import Exit, WarnedError
from pysynthdp.cli.signals import stop_in_order

__all__ = ["Run", "closed_quietly", "reporting", "this_run"]

P = ParamSpec("P")

_READ_AS_TEXT: Final = ("quoted numbers", "leading zeros", "long numbers", "numbers as text")
"""Kinds of warnings of the reader that say why numbers are read as text."""
_SLOW: Final = ("pysynthdp.plan", "pysynthdp.io.tables")
"""Rooms that stand on the libraries of numbers and tables."""


@dataclass(slots=True)
class Run:
    """What a command says while it works, and what it ends with.

    Parameters
    ----------
    quiet, plain, strict : bool
        ``--quiet``, ``--json``, ``--strict``.
    learns : bool
        Whether anything that depends on records may be said: numbers of rows, seconds.
    heard : list of PysynthdpWarning
        What was warned of.
    seconds : dict
        Of each stage.

    Notes
    -----
    Privacy: a log tells numbers of rows and columns and names of columns, no value; under a guarantee only
    that a stage is done, as how long it took depends on the records.
    """

    quiet: bool = False
    plain: bool = False
    strict: bool = False
    learns: bool = True
    heard: list[PysynthdpWarning] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Time a stage and, when it is done, say so in a line; on a terminal there is the bar instead."""
        stage, start = Stage(), time.perf_counter()
        yield stage
        took = time.perf_counter() - start
        if self.learns:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + took, 3)
        self.log(stage.said(name, took if self.learns else None))

    def log(self, text: str) -> None:
        """Say a line to whoever keeps the log."""
        if not (self.quiet or self.plain or sys.stderr.isatty()):
            complain(text)

    def hear(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Show our own warnings in one line each; those of libraries are not for this audience."""
        if isinstance(message, PysynthdpWarning) and not self._said_by_reader(message):
            self.heard.append(message)
            if not self.plain:
                complain(f"warning: {one_line(message)}")

    def _said_by_reader(self, warning: PysynthdpWarning) -> bool:
        """Whether a column of numbers in texts was said to be one, and why, when it was read."""
        return warning.kind == "numbers as text" and any(
            other.column == warning.column and other.kind in _READ_AS_TEXT for other in self.heard
        )

    def check(self) -> None:
        """Stop before anything is written, if something was warned of and must not be.

        Raises
        ------
        WarnedError
            If so.
        """
        if self.strict and self.heard:
            count = len(self.heard)
            said = "a warning" if count == 1 else f"{count} warnings"
            raise WarnedError(f"stopped by --strict after {said}; nothing is written", kind="strict")

    def end(self, text: str, result: Mapping[str, Any]) -> None:
        """Print a result: text for people, one object for programs."""
        self.check()
        if not self.plain:
            typer.echo(text, nl=bool(text))
            return
        told = [describe(fault) for warning in self.heard for fault in warning.faults]
        typer.echo(as_json({**result, "warnings": told, "seconds": self.seconds}))


@dataclass(slots=True)
class Stage:
    """One stage: what was read, fitted, drawn or written, and how much of it."""

    object: str = ""
    size: str = ""

    def said(self, name: str, took: float | None) -> str:
        """Write its line; without sizes and seconds where they would tell of records."""
        text = f"{name} {self.object}".rstrip()
        if took is None:
            return text
        return f"{text}{': ' if self.size else ''}{self.size} ({took:.1f} s)"


_RUN: ContextVar[Run] = ContextVar("run")


def this_run() -> Run:
    """Give the run that goes on."""
    return _RUN.get()


def _begin() -> None:
    """Load what is slow while nothing is there to be put in order: an exception in an import may be lost."""
    for name in _SLOW:
        import_module(name)
    stop_in_order()


def reporting(*, fits: Exit = Exit.DATA) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a command whose errors are one line and an exit code.

    Parameters
    ----------
    fits : Exit
        Code of a model without a fit.
    """

    def wrap(function: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            own = Run(bool(kwargs.get("quiet")), bool(kwargs.get("as_object")), bool(kwargs.get("strict")))
            token = _RUN.set(own)
            with warnings.catch_warnings():
                warnings.simplefilter("always", PysynthdpWarning)
                warnings.showwarning = own.hear
                try:
                    _begin()
                    function(*args, **kwargs)
                except (typer.Exit, typer.Abort):
                    raise
                except BrokenPipeError:  # whoever read the output has seen enough
                    raise typer.Exit(Exit.DONE) from None
                except Exception as error:  # noqa: BLE001 -- the edge: whatever it is becomes a code
                    if kwargs.get("debug"):
                        traceback.print_exc()
                    given = [name for name, value in kwargs.items() if value not in (None, False)]
                    fail(error, command=function.__name__, options=given, fits=fits, plain=own.plain)
                finally:
                    _RUN.reset(token)

        return run

    return wrap


def closed_quietly(code: int) -> int:
    """Let go of a stdout that nobody reads any more, as in ``look ... | head``; tell of a full disk.

    Returns
    -------
    int
        The exit code to leave with.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain("what was to be printed could not be written")
        return Exit.RESOURCES
    return code
