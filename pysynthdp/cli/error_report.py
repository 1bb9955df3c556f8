"""A report of an unexpected error for whoever mends the program: where it happened, no value of the data."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["write_report"]

_PACKAGES = ("pysynthdp", "numpy", "scipy", "pandas", "pyarrow", "statsmodels", "typer")


def write_report(error: BaseException, command: str, options: Iterable[str], folder: Path) -> Path | None:
    """Write versions, the names of the options that were given, and the lines of code that were run.

    Parameters
    ----------
    error : BaseException
        What nobody expected.
    command : str
        Name of the subcommand.
    options : iterable of str
        Names of its options, without what was given for them.
    folder : path
        Where to write.

    Returns
    -------
    path or None
        None where nothing can be written there.

    Notes
    -----
    Privacy: messages of foreign errors and local variables may quote data, so neither is written; nor are
    arguments of the command, which may name files or columns.
    """
    now = datetime.now(UTC)
    path = folder / f"pysynthdp-error-{now:%Y%m%dT%H%M%S%f}.txt"
    lines = [
        "An unexpected error of pysynthdp. This report holds no data value, no message of the error and no",
        "argument of the command: it may be given to whoever mends the program.",
        "",
        f"time: {now:%Y-%m-%dT%H:%M:%SZ}",
        f"command: {command} {' '.join(sorted(options))}".rstrip(),
        f"python: {sys.version.split()[0]} on {platform.platform()}",
        *(f"{name}: {_version(name)}" for name in _PACKAGES),
        *_trace(error),
    ]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError:
        return None
    return path


def _version(name: str) -> str:
    """Read the version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _trace(error: BaseException | None) -> Iterator[str]:
    """Yield class, files, lines and functions of an error and of those behind it."""
    while error is not None:
        yield ""
        yield type(error).__qualname__
        for frame, line in traceback.walk_tb(error.__traceback__):
            yield f"  {_place(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
        error = error.__cause__ or error.__context__


def _place(filename: str) -> str:
    """Name a file from its package on, without the folders of this machine, which tell whose it is.

    Examples
    --------
    >>> _place("/users/me/env/lib/python3.11/site-packages/pandas/core/frame.py")
    'pandas/core/frame.py'
    """
    parts = Path(filename).parts
    installed = [at + 1 for at, part in enumerate(parts) if part == "site-packages"]
    packages = [at for at, part in enumerate(parts) if part in _PACKAGES]
    return "/".join(parts[max(installed or packages or [len(parts) - 1]) :])
