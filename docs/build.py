"""Build the API reference from the docstrings: ``python docs/build.py FOLDER``, or ``make docs``."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

import pdoc
import pdoc.render

PAGES = ("pysynthdp", "pysynthdp.privacy.prices", "pysynthdp.testing")
LAZY = (*PAGES[:-1], "pysynthdp.analysis")  # packages that load their names when first asked


def main(folder: Path) -> None:
    """Write one page a module."""
    for package in LAZY:
        resolve(package)
    # pandas' types take parameters for type checkers alone, so pdoc shows them as they are written
    warnings.filterwarnings("ignore", "Error parsing type annotation pd.Series", UserWarning)
    pdoc.render.configure(docformat="numpy")
    pdoc.pdoc(*PAGES, output_directory=folder)


def resolve(package: str) -> None:
    """Load every public name of a package, for pdoc looks at what is there without asking for it."""
    module = import_module(package)
    for name in module.__all__:
        setattr(module, name, getattr(module, name))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/api"))
