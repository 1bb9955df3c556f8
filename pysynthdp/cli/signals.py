"""What a signal does to a run: one line, and the exit code of a stopped one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from pysynthdp.cli.exit_codes import Exit

__all__ = ["finish", "stop_at_once", "stop_in_order"]

_NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def stop_at_once() -> None:
    """Before anything was read: nothing is there to be put in order."""
    _install(_leave_at_once)


def stop_in_order() -> None:
    """During a run: leave by an exception, so that no draft of a release stays behind."""
    _install(_leave)


def finish() -> None:
    """When all is written: a signal would end the run as stopped, and say that nothing is there."""
    for number in _NUMBERS:
        if signal.getsignal(number) is _leave:
            signal.signal(number, signal.SIG_IGN)


def _install(handler: Callable[[int, Any], NoReturn]) -> None:
    """Let signals be handled so."""
    for number in _NUMBERS:
        signal.signal(number, handler)


def _say(number: int) -> None:
    """Say it past every buffer; where nobody listens, go on."""
    name = signal.Signals(number).name
    try:
        os.write(
            2,
            f"pysynthdp: stopped by {name}; nothing is written, and the run can be started again\n".encode(),
        )
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
