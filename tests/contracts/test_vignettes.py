"""Every notebook in ``vignettes/`` runs from top to bottom without a warning; none is stored with outputs."""

from __future__ import annotations

import runpy
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "vignettes"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_vignettes():
    assert NOTEBOOKS


def test_the_private_vignette_shows_the_stored_results(capsys, monkeypatch):
    study = FOLDER.parent / "benchmarks" / "noised_study.py"
    monkeypatch.syspath_prepend(study.parent)
    runpy.run_path(str(study))["show"]()
    cells = nbformat.read(FOLDER / "05-private-release.ipynb", as_version=4).cells
    assert capsys.readouterr().out.strip() in "\n".join(cell.source for cell in cells)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_a_vignette_is_stored_without_outputs(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None
        assert set(cell.metadata) <= {"tags"}


@pytest.mark.slow
# the event loop of the notebook client, not ours, may warn when it is set up and torn down
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")
@pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning", "default::RuntimeWarning")
def test_a_vignette_runs_without_errors_or_warnings(notebook, tmp_path):
    client = NotebookClient(
        notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    said = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert not [out.text for out in said if out.output_type == "stream" and "arning" in out.text]
    assert any("image/png" in out.get("data", {}) for out in said)
