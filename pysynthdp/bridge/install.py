"""Install the R package that this package carries, and record in it where this Python is."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import RValue, RVector, character, named_list, save_rds
from pysynthdp.bridge.r_programs import find_program, run_program, run_r

__all__ = ["install_r_package", "r_package_source"]

_PARTS = ("DESCRIPTION", "NAMESPACE", "LICENSE", "R", "man")
_LIBRARY = """
here <- .libPaths()
mine <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1]][1]
writable <- here[file.access(here, 2) == 0]
cat(if (length(writable)) writable[1] else path.expand(mine))
"""
_TITLE = re.compile(r"%\\VignetteIndexEntry\{([^}]*)\}")


def r_package_source() -> Path:
    """Find the source of the R package: inside an installed wheel, or beside a checkout.

    Returns
    -------
    Path
        A folder with its DESCRIPTION.

    Raises
    ------
    BridgeError
        If this installation does not carry it; install the wheel again.

    Notes
    -----
    Privacy: reads no data.

    Examples
    --------
    >>> (r_package_source() / "DESCRIPTION").is_file()
    True
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "rpackage", package.parent / "r-bridge"):
        if (folder / "DESCRIPTION").is_file():
            return folder
    raise BridgeError(
        "this installation does not carry the R package; install it again from the checkout or the wheel "
        "that it came from: pip install --force-reinstall PATH",
        kind="installation",
    )


def install_r_package(library: Path | None = None) -> Path:
    """Install the R package for the R on the path.

    Parameters
    ----------
    library : Path, optional
        R library to install into; by default the first that is writable, else the user's own, which is made.

    Returns
    -------
    Path
        The library.

    Raises
    ------
    BridgeError
        If R is not there or refuses, or the library is no folder; the message has R's own last lines.

    Notes
    -----
    Privacy: reads no data. Needs no compiler and no network.
    """
    target = library if library is not None else Path(run_r(_LIBRARY).strip())
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BridgeError(
            f"{target} is no folder for R packages; name another with --library", kind="installation"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        source = _with_engine(r_package_source(), Path(folder) / "pysynthdp")
        command = [find_program("R"), "CMD", "INSTALL", "--no-test-load", f"--library={target}", str(source)]
        done = run_program(command)
    if done.returncode:
        raise BridgeError(
            f"R CMD INSTALL failed: {' '.join(done.stderr.strip().splitlines()[-3:])}", kind="installation"
        )
    return target


def _with_engine(source: Path, target: Path) -> Path:
    """Copy the source, since it may lie in a read-only place, and record this Python in the copy."""
    target.mkdir()
    for name in _PARTS:
        part = source / name
        if part.is_dir():
            shutil.copytree(part, target / name)
        else:
            shutil.copy(part, target / name)
    (target / "inst").mkdir()
    _add_vignettes(source, target)
    (target / "inst" / "engine").write_text(f"{sys.executable}\n", encoding="utf-8")
    return target


def _add_vignettes(source: Path, target: Path) -> None:
    """Lay the pages and their index where ``R CMD INSTALL`` looks for what ``R CMD build`` makes.

    Parameters
    ----------
    source : Path
        Source of the R package: ``vignettes/*.Rmd``, and in ``inst/doc`` a page for each.
    target : Path
        The copy that is installed.

    Notes
    -----
    Privacy: reads no data. Building a vignette needs knitr and pandoc; taking a page that is built needs
    neither.
    """
    pages = target / "inst" / "doc"
    shutil.copytree(source / "inst" / "doc", pages)
    shutil.copytree(source / "vignettes", target / "vignettes")  # without it R does not look for the index
    found = [path for path in sorted((source / "vignettes").glob("*.Rmd")) if (pages / _page(path)).is_file()]
    for path in found:
        shutil.copy(path, pages / path.name)
    (target / "build").mkdir()
    save_rds(_index(found), target / "build" / "vignette.rds")


def _page(path: Path) -> str:
    """Name of the page of a vignette."""
    return f"{path.stem}.html"


def _title(path: Path) -> str:
    """Title of a vignette."""
    found = _TITLE.search(path.read_text(encoding="utf-8"))
    return path.stem if found is None else found[1]


def _index(paths: list[Path]) -> RVector:
    """Write the index as R's tools do: a data frame with a row for each vignette."""
    nothing = RVector("list", tuple(character([]) for _ in paths))
    columns: dict[str, RValue] = {
        "File": character([path.name for path in paths]),
        "Title": character([_title(path) for path in paths]),
        "PDF": character([_page(path) for path in paths]),
        "R": character(["" for _ in paths]),
        "Depends": nothing,
        "Keywords": nothing,
    }
    rows = RVector("integer", np.arange(1, len(paths) + 1, dtype=np.int32))
    return named_list(columns, {"row.names": rows, "class": character(["data.frame"])})
