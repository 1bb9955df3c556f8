"""What the command line's exit codes mean: one table for the program, its help and the documentation."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from enum import IntEnum

from pysynthdp.base.errors import FitError, PysynthdpError, SchemaError

__all__ = ["Exit", "WarnedError", "exit_lines", "exit_of"]

_NO_THREAD = "can't start new thread"  # Python's own error has no class and no number
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM}


class WarnedError(PysynthdpError):
    """Something was warned of, and must not be."""


class Exit(IntEnum):
    """How a run ended; a scheduler sees nothing else."""

    DONE = 0
    UNEXPECTED = 1
    MISUSE = 2
    DATA = 3
    REFUSED = 4
    QUALITY = 5
    DISCLOSURE = 6
    MOVED = 7
    RESOURCES = 8
    WARNED = 9
    NO_GUARANTEE = 10
    VOID = 11
    BROKEN = 12
    CHANGED = 13
    DIFFERENT = 14
    STOPPED = 75

    @property
    def meaning(self) -> str:
        """What it means, in a line."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.DONE: "done",
    Exit.UNEXPECTED: "unexpected error; a report without data values is written",
    Exit.MISUSE: "wrong command, plan, formula, rule, guarantee or folder",
    Exit.DATA: "the data do not fit the schema, or no model can be fitted to them",
    Exit.REFUSED: "privacy budget or approval refused",
    Exit.QUALITY: "report, job: a quality gate failed; a job's copies are in quarantine",
    Exit.DISCLOSURE: "report, job: a disclosure gate failed; a job's copies are in quarantine",
    Exit.MOVED: "job: resume refused, as the input or the job was changed",
    Exit.RESOURCES: "out of memory or disk space",
    Exit.WARNED: "something was warned of and --strict was given; nothing is written",
    Exit.NO_GUARANTEE: "verify: no guarantee is stated",
    Exit.VOID: "verify: the statement is void",
    Exit.BROKEN: "verify: the arithmetic is broken",
    Exit.CHANGED: "verify: the folder or the ledger was changed",
    Exit.DIFFERENT: "diff: the structures differ",
    Exit.STOPPED: "stopped by a signal; nothing is written, the run can be started again, a job resumed",
}


_BY_KIND = {
    "budget": Exit.REFUSED,
    "ledger approval": Exit.REFUSED,
    "approval": Exit.REFUSED,
    "price gate": Exit.REFUSED,
    "ledger chain": Exit.CHANGED,
    "quality gate": Exit.QUALITY,
    "disclosure gate": Exit.DISCLOSURE,
    "job changed": Exit.MOVED,
}
"""Of errors that are about one thing, whatever their class."""


def exit_lines() -> Iterator[str]:
    """Write the table, a line a code."""
    return (f"{code.value:>3}  {code.meaning}" for code in Exit)


def exit_of(error: BaseException, *, fits: Exit = Exit.DATA) -> Exit:
    """Choose the code of an error.

    Parameters
    ----------
    error : BaseException
        What ended the run.
    fits : Exit
        For a model without a fit: the table is at fault, or the formula that was asked for.

    Examples
    --------
    >>> exit_of(SchemaError("age is infinite")).value, exit_of(MemoryError()).value
    (3, 8)
    """
    if any(_is_full(each) for each in _chain(error)):
        return Exit.RESOURCES
    if isinstance(error, SchemaError | WarnedError):
        return Exit.DATA if isinstance(error, SchemaError) else Exit.WARNED
    if isinstance(error, FitError):
        return fits
    if not isinstance(error, PysynthdpError):
        return Exit.UNEXPECTED
    return _BY_KIND.get(error.kind or "", Exit.MISUSE)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_full(error: BaseException) -> bool:
    """Whether memory, threads or a disk are at their end."""
    if type(error) is RuntimeError and str(error) == _NO_THREAD:
        return True
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _FULL)
