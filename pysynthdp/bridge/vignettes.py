"""The R package's vignettes: pages that are built beforehand, and the index by which R finds them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np

from pysynthdp.bridge.codec import RValue, RVector, character, named_list, save_rds

__all__ = ["add_vignettes"]

_TITLE = re.compile(r"%\\VignetteIndexEntry\{([^}]*)\}")


def add_vignettes(source: Path, target: Path) -> None:
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
