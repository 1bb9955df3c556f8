"""What is wrong with an installation: R, its packages, this Python, rpy2; each with its mend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pysynthdp
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.r_programs import run_program, run_r

__all__ = ["Finding", "check_installation"]

_INSTALL = f"{sys.executable} -m pysynthdp.bridge install-r"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    what : str
        What it is, and what was found.
    state : {"ok", "note", "wrong"}
        A note is about something that is not needed.
    mend : str
        What to do; empty when all is well.
    """

    what: str
    state: str = "ok"
    mend: str = ""

    def __str__(self) -> str:
        """Write it in one line, or two with a mend."""
        return f"{self.state:<6}{self.what}" + (f"\n      -> {self.mend}" if self.mend else "")


def check_installation() -> list[Finding]:
    """Look at everything that a call from R needs, in order.

    Returns
    -------
    list of Finding
        It ends early where the rest cannot be looked at.

    Notes
    -----
    Privacy: reads no data; a call is tried with three made-up numbers.
    """
    found = [
        Finding(f"Python {sys.version.split()[0]} at {sys.executable}, pysynthdp {pysynthdp.__version__}")
    ]
    for step in (_r, _package, _worker, _call):
        try:
            found += step()
        except BridgeError as error:
            found.append(Finding(str(error), "wrong", _MENDS[step]))
            break
    return [*found, *_rpy2()]


def _r() -> Iterator[Finding]:
    """Look for R and its version."""
    version = run_r("cat(as.character(getRversion()))")
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < (4, 1):
        yield Finding(f"R {version}", "wrong", "install R 4.1 or later")
    else:
        yield Finding(f"R {version}")


def _package() -> Iterator[Finding]:
    """Look for the R package, its version and the Python that it recorded."""
    said = run_r(
        'p <- find.package("pysynthdp"); e <- system.file("engine", package = "pysynthdp")\n'
        'v <- as.character(packageVersion("pysynthdp"))\n'
        'cat(dirname(p), v, if (nzchar(e)) readLines(e)[1], sep = "\\n")'
    )
    library, version, *recorded = said.splitlines()
    if version != pysynthdp.__version__:
        yield Finding(
            f"R package pysynthdp {version} in {library}", "wrong", f"it is of another version; {_INSTALL}"
        )
    else:
        yield Finding(f"R package pysynthdp {version} in {library}")
    if recorded and recorded[0] != sys.executable:
        yield Finding(
            f"it was installed for {recorded[0]}", "note", f"to use this Python instead: {_INSTALL}"
        )


def _worker() -> Iterator[Finding]:
    """Look for processx, which keeps the worker."""
    there = run_r('cat(requireNamespace("processx", quietly = TRUE))') == "TRUE"
    mend = 'install.packages("processx"), or on Debian apt-get install r-cran-processx'
    text = (
        "R package processx" if there else "R package processx is not there, so every call starts a process"
    )
    yield Finding(text, "ok" if there else "note", "" if there else mend)


def _call() -> Iterator[Finding]:
    """Make a whole call."""
    code = 'x <- c(1.5, NA, NaN); stopifnot(identical(pysynthdp:::ask("echo", x = x), x)); cat("fine")'
    run_r(code, environment={"PYSYNTHDP_PYTHON": sys.executable})
    yield Finding("a call from R and its answer")


def _rpy2() -> Iterator[Finding]:
    """Look whether R can run inside this Python, which only notebooks need; in a process of its own."""
    code = (
        "import sys\nfrom pysynthdp.bridge.rpy2 import load\nfrom pysynthdp.base.errors import BridgeError\n"
        "try:\n    load()\nexcept BridgeError as error:\n    sys.exit(str(error))"
    )
    done = run_program([sys.executable, "-c", code])
    what = "R inside Python, for notebooks"
    said = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
    yield Finding(what) if done.returncode == 0 else Finding(what, "note", said[-1])


_MENDS: dict[Callable[[], Iterator[Finding]], str] = {
    _r: "install R 4.1 or later, and put it on the path",
    _package: _INSTALL,
    _worker: "",
    _call: "read R's message above; options(pysynthdp.debug = TRUE) shows more",
}
