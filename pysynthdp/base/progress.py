"""A progress bar on a terminal or in a notebook, silence when piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from tqdm import tqdm

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total: int, title: str, *, show: bool | None) -> Iterator[Callable[[str], None]]:
    """Yield a function that notes one finished item by its name; nothing is left of the bar at the end.

    Parameters
    ----------
    total : int
        Number of items.
    title : str
        Shown before the bar.
    show : bool or None
        None shows it on a terminal and in a notebook only.
    """
    kernel = _in_kernel()
    wanted = (kernel or sys.stderr.isatty()) if show is None else show
    if not wanted:  # a silent bar too takes a lock that forked processes share, and keep if they are killed
        yield _unseen
        return
    file: Any = _CellLine() if kernel else sys.stderr
    with tqdm(total=total, desc=title, leave=False, file=file) as bar:

        def note(name: str) -> None:
            bar.set_postfix_str(name, refresh=False)
            bar.update()

        yield note


def _unseen(name: str) -> None:
    """Note an item where nobody looks."""
    del name


def _in_kernel() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and hasattr(instance, "kernel")


class _CellLine:
    """One line of a notebook's cell, written anew each time; what goes to stderr would stay in the page."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> int:
        """Show the line; a blank one takes it away."""
        line = text.strip()
        if line and self._handle is None:
            self._handle = import_module("IPython.display").display(_shown(line), raw=True, display_id=True)
        elif self._handle is not None:
            self._handle.update(_shown(line), raw=True)
        return len(text)

    def flush(self) -> None:
        """Do nothing: a cell holds nothing back."""


def _shown(line: str) -> dict[str, str]:
    """Give a line as a notebook takes it; HTML that is empty leaves no box."""
    return {"text/plain": line} if line else {"text/html": ""}
