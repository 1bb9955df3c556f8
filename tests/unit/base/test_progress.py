"""The bar: on a terminal, in a notebook without a trace, and never in a pipe."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from pysynthdp.base.progress import progress_bar

CELL = """
from pysynthdp.base.progress import progress_bar
print("before")
with progress_bar(2, "fit", show=None) as note:
    note("age")
    note("sex")
try:
    with progress_bar(2, "draw", show=None) as note:
        note("age")
        raise ValueError("a fault")
except ValueError as fault:
    print(fault)
"""


def run(show, total=3):
    with progress_bar(total, "fit", show=show) as note:
        for name in ("a", "b", "c"):
            note(name)


@pytest.mark.parametrize("show", [None, False])
def test_a_pipe_sees_no_bar(monkeypatch, show):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    run(show)
    assert not sys.stderr.getvalue()


@pytest.mark.parametrize("show", [None, True])
def test_a_terminal_sees_one_line_that_goes_away(monkeypatch, show):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    run(show)
    assert "fit:   0%" in screen.getvalue()
    assert "\n" not in screen.getvalue()
    assert screen.getvalue().rsplit("\r", maxsplit=2)[-2].strip() == ""


def test_a_notebook_sees_the_line_grow_and_go(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data))  # noqa: ARG005
    display = SimpleNamespace(display=lambda data, **_: shown.append(data) or handle)
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=display)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    run(None)
    assert shown[0]["text/plain"].startswith("fit:   0%")
    assert shown[-1] == {"text/html": ""}
    assert not sys.stderr.getvalue()


@pytest.mark.slow
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")
@pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning", "default::RuntimeWarning")
def test_an_exported_notebook_has_no_debris_of_bars(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = notebook.cells[0].outputs
    assert {out.text for out in outputs if out.output_type == "stream"} == {"before\n", "a fault\n"}
    assert [out.data for out in outputs if out.output_type == "display_data"] == [{"text/html": ""}] * 2


def test_a_silent_bar_waits_for_no_lock(monkeypatch):
    """A process that was killed while it held the lock of all bars keeps it for ever."""
    tqdm = sys.modules["tqdm"].tqdm
    held = threading.Lock()
    held.acquire()
    monkeypatch.setattr(tqdm, "_lock", held)
    done = threading.Thread(target=lambda: run(False), daemon=True)
    done.start()
    done.join(timeout=20)
    assert not done.is_alive()
