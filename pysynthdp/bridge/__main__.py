"""``python -m pysynthdp.bridge install-r`` installs the R package; ``... check`` says what is wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.check import check_installation
from pysynthdp.bridge.install import install_r_package

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : list of str, optional
        Of the command line.

    Returns
    -------
    int
        0 done, 1 failed.

    Notes
    -----
    Privacy: reads no data.
    """
    parser = argparse.ArgumentParser(prog="python -m pysynthdp.bridge", description=__doc__.replace("``", ""))
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install-r", help="install the R package pysynthdp")
    install.add_argument("--library", type=Path, help="R library; the first writable one by default")
    commands.add_parser("check", help="look at R, the R package and this Python")
    asked = parser.parse_args(arguments)
    try:
        return _install(asked.library) if asked.command == "install-r" else _check()
    except BridgeError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _install(library: Path | None) -> int:
    """Install, and say where."""
    where = install_r_package(library)
    sys.stdout.write(f"The R package pysynthdp is in {where}; it uses {sys.executable}.\n")
    if library is not None:
        sys.stdout.write(f"In R: .libPaths(c({str(library)!r}, .libPaths())); library(pysynthdp)\n")
    else:
        sys.stdout.write("In R: library(pysynthdp); synth_engine()\n")
    return 0


def _check() -> int:
    """Print what was found; what is wrong decides the exit code."""
    found = check_installation()
    sys.stdout.write("".join(f"{one}\n" for one in found))
    return int(any(one.state == "wrong" for one in found))


if __name__ == "__main__":
    sys.exit(main())
