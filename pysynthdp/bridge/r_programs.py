"""Run R's own programs from Python: to install the R package, and to ask an installation about itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from pysynthdp.base.errors import BridgeError

__all__ = ["find_program", "run_program", "run_r"]

_NO_R = "{name} is not on the path. Install R (on Debian: apt-get install r-base-core), or set R_HOME"


def find_program(name: str) -> str:
    """Find ``R`` or ``Rscript``: by R_HOME, then on the path.

    Parameters
    ----------
    name : str
        ``"R"`` or ``"Rscript"``.

    Returns
    -------
    str
        Its path.

    Raises
    ------
    BridgeError
        If it is not there; the message says how to install R.

    Notes
    -----
    Privacy: reads no data.
    """
    home = os.environ.get("R_HOME")
    inside = shutil.which(name, path=os.path.join(home, "bin")) if home else None  # noqa: PTH118 -- a search path
    found = inside or shutil.which(name)
    if found is None:
        raise BridgeError(_NO_R.format(name=name), kind="installation")
    return found


def run_program(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and keep what it says."""
    return subprocess.run(  # noqa: S603 -- a list, never a shell; the program is R
        list(command),
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
    )


def run_r(code: str, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Run R code and give what it prints.

    Parameters
    ----------
    code : str
        R code; ``commandArgs(TRUE)`` are the arguments.
    *arguments : str
        Given to it.
    environment : mapping, optional
        Variables beside those of this process.

    Returns
    -------
    str
        Its standard output.

    Raises
    ------
    BridgeError
        If R is not there or fails; the message has R's last lines.

    Notes
    -----
    Privacy: whatever the code does; the callers here read no data.
    """
    done = run_program([find_program("Rscript"), "--no-save", "-e", code, *arguments], environment)
    if done.returncode:
        said = " ".join(done.stderr.strip().splitlines()[-3:])
        raise BridgeError(f"R failed: {said or f'status {done.returncode}'}", kind="installation")
    return done.stdout
