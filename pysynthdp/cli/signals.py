"""What a signal does to a run: one line, and the exit code of a stopped one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Collection
from typing import Any, NoReturn, TypeAlias

from pysynthdp.cli.exit_codes import Exit

__all__ = ["finish", "stop_at_once", "stop_in_order", "stop_resumable"]

_Handler: TypeAlias = Callable[[int, Any], NoReturn] | signal.Handlers

_NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def stop_at_once() -> None:
    """Before anything was read: nothing is there to be put in order."""
    _install(_leave_at_once)


def stop_in_order() -> None:
    """Leave by an exception from here on, where signals are ours: no draft of a release stays behind."""
    _install(_leave, instead_of=(_leave_at_once,))


def stop_resumable() -> None:
    """Leave by an exception, and say that what was begun can be gone on with."""
    _install(_leave_resumable, instead_of=(_leave, _leave_at_once))


def finish() -> None:
    """When all is written: a signal would end the run as stopped, and say that nothing is there."""
    _install(signal.SIG_IGN, instead_of=(_leave, _leave_resumable, _leave_at_once))


def _install(handler: _Handler, *, instead_of: Collection[_Handler] = ()) -> None:
    """Let signals be handled so; with ``instead_of`` only those that were handled as it says."""
    for number in _NUMBERS:
        if not instead_of or signal.getsignal(number) in instead_of:
            signal.signal(number, handler)


def _say(number: int, what: str = "nothing is written, and the run can be started again") -> None:
    """Say it past every buffer; where nobody listens, go on."""
    name = signal.Signals(number).name
    try:
        os.write(2, f"pysynthdp: stopped by {name}; {what}\n".encode())
    except OSError:
        return


def _leave_at_once(number: int, _: Any) -> NoReturn:
    """Say so and leave."""
    _say(number)
    os._exit(Exit.STOPPED)


def _leave(number: int, _: Any) -> NoReturn:
    """Say so, let no other signal disturb the clearing up, and leave."""
    finish()
    _say(number)
    sys.exit(Exit.STOPPED)


def _leave_resumable(number: int, _: Any) -> NoReturn:
    """Say so, let no other signal disturb the clearing up, and leave."""
    finish()
    _say(number, "nothing is lost: pysynthdp job resume goes on")
    sys.exit(Exit.STOPPED)
