"""The code blocks of the README run as they stand, one after the other, in an empty folder."""

from __future__ import annotations

import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.datasets import anes96

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the survey that the README names."""
    path = tmp_path_factory.mktemp("readme")
    anes96.load_pandas().data.to_csv(path / "survey.csv", index=False)
    return path


def run(command: list[str], folder: Path) -> str:
    """What a command printed; it must succeed and say nothing on stderr."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
    )
    said = [line for line in done.stderr.splitlines() if not re.search(r"^pysynthdp: .*\(\d+\.\d s\)$", line)]
    assert (done.returncode, said) == (0, [])
    return done.stdout


def test_the_lines_of_python_run_and_print_the_card_and_the_comparison(folder):
    code, _ = blocks("python")
    assert len(code.splitlines()) == 10
    printed = run([sys.executable, "-W", "error", "-c", code], folder)
    assert "no formal guarantee" in printed
    assert "INTERNAL" in printed
    assert sorted(path.name for path in (folder / "release").glob("*.parquet")) == [
        f"synthetic_{copy}.parquet" for copy in range(1, 6)
    ]


def test_the_lines_on_survey_files_run(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    _, code = blocks("python")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"income": rng.choice([100.5, 250, -8], 300), "sex": rng.choice([1.0, 2.0], 300)})
    labels = {"income": {-8.0: "refused"}, "sex": {1.0: "Man", 2.0: "Woman"}}
    pyreadstat.write_sav(
        frame, str(tmp_path / "wave.sav"), variable_value_labels=labels, missing_ranges={"income": [-8]}
    )
    shown = run([sys.executable, "-c", f"import pysynthdp as sdp\n{code}\nprint(release.schema)"], tmp_path)
    assert "refused" in shown


def test_the_lines_of_shell_run_and_print_the_card_and_the_pooled_table(folder):
    (code,) = blocks("sh")
    assert len(code.splitlines()) <= 10
    printed = run(["bash", "-euo", "pipefail", "-c", code], folder)
    assert "no formal guarantee" in printed
    assert re.search(r"C\(vote\)", printed)
    assert (folder / "copies" / "privacy.json").exists()


def test_the_readme_names_the_one_prerequisite_and_the_two_commands():
    text = README.read_text("utf-8")
    assert text.count("apt-get install make python3-venv") == 1
    assert re.search(r"^make demo", text, flags=re.MULTILINE)
    assert re.search(r"^make test", text, flags=re.MULTILINE)


MADE = re.compile(r"out/|docs/api/")  # by a run
PAGES = [
    "README.md",
    "SECURITY.md",
    "docs/guarantees.md",
    "docs/formulas.md",
    "docs/labelled-files.md",
    "docs/evaluate.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_no_path_that_a_page_names_is_missing(page):
    root = README.parent
    names = set(
        re.findall(r"`([\w./-]+\.(?:md|ipynb|py|R)|\w[\w.-]*/[\w./-]+)`", (root / page).read_text("utf-8"))
    )
    assert names or page != "README.md"
    missing = [name for name in names if not MADE.match(name) and not list(root.glob(f"{name}*"))]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_every_dotted_name_of_a_page_can_be_imported(page):
    for name in set(re.findall(r"\bpysynthdp(?:\.\w+)+", (README.parent / page).read_text("utf-8"))):
        assert pydoc.locate(name) is not None, name
