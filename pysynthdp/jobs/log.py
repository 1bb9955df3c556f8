"""What a run tells: a JSON object a line for programs, and lines for people; never a value of a record."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pysynthdp.base.errors import PysynthdpError, PysynthdpWarning
from pysynthdp.base.words import said

if sys.platform != "win32":
    import resource

__all__ = ["JobLog", "Step"]


@dataclass(slots=True)
class Step:
    """What a step tells of itself when it is done; None is not told."""

    rows: int | None = None
    columns: int | None = None
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class JobLog:
    """The log of a run.

    Parameters
    ----------
    path : Path
        File that lines are added to; made for its owner alone.
    job, run : str
        Names of the job and of this run.
    say : function of a text
        For people.

    Notes
    -----
    Privacy: names of steps, columns and files, kinds of faults, no value. Where nothing may be learned from
    rows, a step that reads them tells neither rows, nor seconds, nor memory; when a line was written still
    tells how long it took, so a log stays where the table is.
    """

    path: Path
    job: str
    run: str
    say: Callable[[str], None]

    def line(self, event: str, **facts: Any) -> None:
        """Write a line; what is None is left out."""
        plain = {"time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "job": self.job, "run": self.run}
        plain |= {"event": event, **{name: value for name, value in facts.items() if value is not None}}
        number = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(number, "a", encoding="utf-8") as file:
            file.write(json.dumps(plain, ensure_ascii=False) + "\n")

    def tell(self, text: str, event: str = "note", **facts: Any) -> None:
        """Tell people and programs."""
        self.line(event, what=text, **facts)
        self.say(text)

    @contextmanager
    def step(self, name: str, *, told: bool = True) -> Iterator[Step]:
        """Time a step; where it may not be told, only that it is done."""
        self.line("begin", step=name)
        step, start = Step(), time.perf_counter()
        yield step
        took = round(time.perf_counter() - start, 3)
        sizes = {"rows": step.rows, "columns": step.columns, "seconds": took, "memory_mb": peak_mb()}
        self.line("done", step=name, **(sizes if told else {}), **step.more)
        rows = "" if step.rows is None else f": {step.rows:,} rows"
        self.say(f"{name}{rows} ({took:.1f} s)" if told else name)

    def fault(self, error: BaseException, code: int) -> None:
        """Tell why the run ended; the message of a stranger may hold data, so it is not told."""
        ours = error.faults if isinstance(error, PysynthdpError) else ()
        for fault in ours:
            self.line("fault", level="error", kind=fault.kind, column=fault.column, what=_words(fault))
        if not ours:
            self.line("fault", level="error", kind="unexpected", what=type(error).__name__)
        self.end(code)

    def end(self, code: int, **facts: Any) -> None:
        """Tell how the run ended."""
        self.line("end", exit_code=int(code), **facts)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Write warnings down, beside showing them as before."""
        shown = warnings.showwarning

        def hear(message: Warning | str, *rest: Any, **more: Any) -> None:
            if isinstance(message, PysynthdpWarning):
                for fault in message.faults:
                    self.line(
                        "warning", level="warning", kind=fault.kind, column=fault.column, what=_words(fault)
                    )
            shown(message, *rest, **more)

        warnings.showwarning = hear
        try:
            yield
        finally:
            warnings.showwarning = shown


def _words(told: PysynthdpError | PysynthdpWarning) -> str:
    """Word an error or a warning for a shell."""
    return " ".join(said(told.said("shell"), "shell").split())


def peak_mb() -> int | None:
    """Most memory of this process so far; None where the system does not say."""
    if sys.platform == "win32":
        return None
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
