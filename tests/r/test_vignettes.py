"""What the vignettes for R users show is what happens: each runs from top to bottom."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "vignettes" / "04-for-R-users"
DOCUMENTS = [FOLDER / "from-R.Rmd", ROOT / "r-bridge" / "vignettes" / "pysynthdp.Rmd"]
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))


@pytest.mark.r_packages("knitr", "tibble", "haven", "MASS", "survey", "generics", "mice", "broom")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_runs_without_errors(run_r, tmp_path, path):
    run_r(
        "knitr::purl(arguments[1], arguments[2], quiet = TRUE); options(warn = 1); "
        "withCallingHandlers(source(arguments[2], echo = FALSE), warning = function(w) "
        'if (!inherits(w, "pysynthdp_warning")) stop(w))',
        path,
        tmp_path / "code.R",
    )


@pytest.mark.skipif(not MUST_RUN and importlib.util.find_spec("rpy2") is None, reason="rpy2 is not installed")
def test_the_notebook_runs_and_both_languages_pool_alike(r_library, monkeypatch, tmp_path):
    monkeypatch.setenv("R_LIBS", str(r_library))
    notebook = nbformat.read(FOLDER / "R-in-a-notebook.ipynb", as_version=4)
    stored = kinds_of(notebook)
    resources = {"metadata": {"path": tmp_path}}
    settings = {"timeout": None, "kernel_name": "python3", "coalesce_streams": True}
    nbclient.NotebookClient(notebook, resources=resources, **settings).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    said = "".join(out.get("text", "") for out in outputs)
    assert "Rule: partial_size_adjusted" in said
    assert "PlanError - m, the number of copies" in said
    assert said.count("at least 1") >= 2
    assert any("image/png" in out.get("data", {}) for out in outputs)
    assert kinds_of(notebook) == stored, "store it anew: python vignettes/run.py and the notebook's name"


def kinds_of(notebook):
    """What each cell shows: text, a table, a picture."""
    shown = [cell.get("outputs", ()) for cell in notebook.cells]
    return [[sorted(out.get("data", {})) or out.get("name") for out in outputs] for outputs in shown]
