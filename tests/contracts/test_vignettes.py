"""Every notebook in ``vignettes/`` runs anywhere without a warning, and is stored with what it shows."""

from __future__ import annotations

import importlib
import re
import runpy
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "vignettes"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OF_R = FOLDER / "04-for-R-users"
DOCUMENTS = [
    OF_R / "from-R.Rmd",
    FOLDER.parent / "r-bridge" / "vignettes" / "pysynthdp.Rmd",
]  # tests/r runs them


def test_there_are_vignettes():
    assert NOTEBOOKS


def test_the_private_vignette_shows_the_stored_results(capsys, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER.parent)
    importlib.import_module("benchmarks.noise.study").show()
    cells = nbformat.read(FOLDER / "05-private-release.ipynb", as_version=4).cells
    assert capsys.readouterr().out.strip() in "\n".join(cell.source for cell in cells)


def test_the_inference_vignette_has_the_stored_study_beside_it():
    study = FOLDER.parent / "benchmarks" / "results" / "inference.csv"
    assert (FOLDER / "inference.csv").read_bytes() == study.read_bytes()


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


def outputs_of(notebook):
    """Outputs of each cell of code."""
    return [list(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def kinds_of(outputs):
    """What a cell shows, by the kinds of what it gives: text, a table, a picture."""
    return [sorted(out.get("data", {})) or [out.output_type, out.get("name")] for out in outputs]


@pytest.mark.parametrize("path", [*NOTEBOOKS, OF_R / "R-in-a-notebook.ipynb"], ids=lambda path: path.stem)
def test_a_vignette_is_stored_with_what_it_shows(path):
    notebook = nbformat.read(path, as_version=4)
    outputs = [out for each in outputs_of(notebook) for out in each]
    assert any("image/png" in out.get("data", {}) for out in outputs)
    assert any("text/html" in out.get("data", {}) for out in outputs)
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]
    assert all(set(cell.metadata) <= {"tags"} for cell in notebook.cells)


def chunks_of(text: str, start: str) -> list[str]:
    """The lines of code of a document, as they are run."""
    blocks = re.findall(rf"^```{start}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_of_r_is_stored_with_what_it_shows(path):
    text, shown = path.read_text("utf-8"), (OF_R / f"{path.stem}.md").read_text("utf-8")
    text = re.sub(r"^```\{r[^}]*include = FALSE\}\n.*?^```\n", "", text, flags=re.MULTILINE | re.DOTALL)
    assert chunks_of(text, r"\{r[^}]*\}") == chunks_of(shown, "r"), "store it anew: python vignettes/run.py"
    prose = [line for line in text.split("---\n", 2)[2].splitlines() if line.startswith(("#", "|"))]
    assert set(prose) <= set(shown.splitlines()), "store it anew: python vignettes/run.py"
    assert len(re.findall(r"^```\n(?=.*?\S)", shown, flags=re.MULTILINE)) > 8
    assert "\nError" not in shown


STORED = [*NOTEBOOKS, *OF_R.glob("*.ipynb"), *OF_R.glob("*.md")]


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_vignette_tells_nothing_of_the_machine(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(root|home|tmp|Users|usr|opt)/|site-packages|iopub|0x[0-9a-f]{6}", text)


def test_the_vignettes_stay_small():
    assert sum(path.stat().st_size for path in STORED) < 1_500_000


@pytest.mark.slow
# the event loop of the notebook client, not ours, may warn when it is set up and torn down
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")
@pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning", "default::RuntimeWarning")
def test_a_vignette_runs_without_errors_or_warnings_and_shows_what_is_stored(path, tmp_path):
    shown = outputs_of(runpy.run_path(str(FOLDER / "run.py"))["executed"](path, tmp_path))
    outputs = [out for each in shown for out in each]
    assert not [out.text for out in outputs if out.output_type == "stream" and "arning" in out.text]
    assert not [out for out in outputs if out.get("name") == "stderr"]  # such as what is left of a bar
    old = outputs_of(nbformat.read(path, as_version=4))
    assert list(map(kinds_of, old)) == list(map(kinds_of, shown)), "store it anew: python vignettes/run.py"
