"""A progress bar on a terminal or in a notebook, silence when piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total: int, title: str, *, show: bool | None) -> Iterator[Callable[[str], None]]:
    """Yield a function that notes one finished item by its name.

    Parameters
    ----------
    total : int
        Number of items.
    title : str
        Shown before the bar.
    show : bool or None
        None shows it on a terminal and in a notebook only.
    """
    wanted = _is_watched() if show is None else show
    with tqdm(total=total, desc=title, disable=not wanted, leave=False, file=sys.stderr) as bar:

        def note(name: str) -> None:
            bar.set_postfix_str(name, refresh=False)
            bar.update()

        yield note


def _is_watched() -> bool:
    """Whether somebody looks on: a terminal, or a notebook kernel."""
    if sys.stderr.isatty():
        return True
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and hasattr(instance, "kernel")
