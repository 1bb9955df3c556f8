"""Run the notebooks and store them with their outputs, which is what web viewers show.

``python vignettes/run.py`` runs all but those for R users; names of notebooks run those, which may be theirs:
``vignettes/04-for-R-users/R-in-a-notebook.ipynb``. Of metadata only tags are kept. A document of R (``.Rmd``)
is stored as markdown with what it shows in ``vignettes/04-for-R-users``; R and its packages are needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
OF_R = FOLDER / "04-for-R-users"
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


def knitted(path: Path, folder: Path) -> str:
    """Run a document of R in a folder; give markdown whose title is a heading."""
    command = ["Rscript", "-e", "a <- commandArgs(TRUE); knitr::knit(a[1], a[2], quiet = TRUE)"]
    subprocess.run(
        [*command, path.resolve(), folder / "shown.md"], check=True, cwd=folder, stdout=subprocess.DEVNULL
    )
    _, head, text = (folder / "shown.md").read_text("utf-8").split("---\n", 2)
    title = head.partition('title: "')[2].partition('"')[0]
    return f"# {title}\n\n{text.strip()}\n".replace("\n\n\n", "\n\n")


def main(paths: list[Path]) -> None:
    """Run notebooks and write them back, documents of R as markdown."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            if path.suffix == ".Rmd":
                (OF_R / f"{path.stem}.md").write_text(knitted(path, Path(folder)), "utf-8")
            else:
                nbformat.write(stored(executed(path, Path(folder))), path)
        print(path.name)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or list(NOTEBOOKS))
