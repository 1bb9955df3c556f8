"""Run the notebooks and store them with their outputs, which is what web viewers show.

``python vignettes/run.py`` runs all; names of notebooks run those. Of metadata only tags are kept.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
NOTEBOOKS = tuple(sorted(FOLDER.glob("*.ipynb")))


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Run a notebook in a folder, beside the tables that it reads."""
    for table in FOLDER.glob("*.csv"):
        shutil.copy(table, folder)
    notebook = nbformat.read(path, as_version=4)
    settings = {"timeout": None, "kernel_name": "python3", "coalesce_streams": True}
    NotebookClient(notebook, resources={"metadata": {"path": folder}}, **settings).execute()
    return notebook


def stored(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out when and by what the cells were run."""
    for cell in notebook.cells:
        cell.metadata = {name: value for name, value in cell.metadata.items() if name == "tags"}
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main(paths: list[Path]) -> None:
    """Run notebooks and write them back."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(stored(executed(path, Path(folder))), path)
        print(path.name)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or list(NOTEBOOKS))
