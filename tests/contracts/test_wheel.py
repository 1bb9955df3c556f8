"""What is built is what users get: the wheel, made from the sdist, runs the README's lines on its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from statsmodels.datasets import anes96

import pysynthdp

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with an sdist of the checkout, and a wheel made from that sdist."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    (path,) = built.glob("*.whl")
    return path


def sources_of_the_checkout() -> set[str]:
    """Name the files of the checkout's folders, but for what a command made, and those beside them."""
    made = re.compile(
        r"(^|/)(__pycache__|\.\w+_cache|\.hypothesis|api|_snaps|\.ipynb_checkpoints|.*\.Rcheck)(/|$)|\.pyc$"
        r"|testthat-problems\.rds$"
    )
    folders = ["pysynthdp", "tests", "r-bridge", "vignettes", "benchmarks", "docs", "examples", ".ci"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    beside = {"pyproject.toml", "Makefile", "LICENSE", "CITATION.cff", ".pre-commit-config.yaml"}
    beside |= {f"{name}.md" for name in ["README", "CHANGELOG", "ARCHITECTURE", "CONTRIBUTING", "SECURITY"]}
    return beside | {name for path in files if not made.search(name := path.relative_to(ROOT).as_posix())}


def test_the_sdist_holds_what_is_needed_to_test_it_and_no_working_files(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert sources_of_the_checkout() <= names
    assert not [name for name in names if re.search(r"__pycache__|\.pyc$|^out/|^\.venv", name)]


def test_the_wheel_holds_the_package_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {
        "pysynthdp",
        f"pysynthdp-{pysynthdp.__version__}.dist-info",
    }
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "pysynthdp").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert "pysynthdp/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def commands_of_the_page() -> list[list[str]]:
    """The two commands by which the operators' page fills a folder with wheels and installs from it."""
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    return [shlex.split(line) for line in re.findall(r"^pip (.*--?\w.* wheels .*)$", page, re.MULTILINE)]


@pytest.mark.slow
def test_from_a_folder_of_wheels_alone_an_empty_environment_runs_the_lines_of_the_readme(wheel, tmp_path):
    filling, installing = commands_of_the_page()
    assert "--no-index" in installing
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    filling[-1], installing[-1] = f"{wheel}[files]", "pysynthdp[files]"  # of the page's extras one is enough
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    shut_off = {**os.environ, **nowhere, "PIP_INDEX_URL": "http://127.0.0.1:9", "PYTHONPATH": ""}
    for words, own in ((filling, os.environ), (installing, shut_off)):
        subprocess.run([python, "-m", "pip", *words, "--quiet"], cwd=tmp_path, check=True, env=own)
    anes96.load_pandas().data.to_csv(tmp_path / "survey.csv", index=False)
    code, *_ = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )

    def alone(*command):
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, env=shut_off
        )

    done = alone(python, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no formal guarantee" in done.stdout
    shell = python.with_name("pysynthdp")
    assert pysynthdp.__version__ in alone(shell, "--version").stdout
    job = (
        'version = 1\njob = "survey"\n[input]\npath = "survey.csv"\n[sample]\nm = 2\n'
        '[output]\nfolder = "made"\nformats = ["sav"]\n'
    )
    (tmp_path / "job.toml").write_text(job, encoding="utf-8")
    ran = alone(shell, "job", "run", "job.toml")
    assert (ran.returncode, ran.stdout) == (0, f"{Path('made')} is made\n"), ran.stderr
