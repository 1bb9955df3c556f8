"""Tests here need R, and some of its packages: ``@pytest.mark.r_packages("mice")``.

Where PYSYNTHDP_TESTS_MUST_RUN or CI is set, the absence of either is a failure, not a skip.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))


def pytest_runtest_setup(item):
    if ROOT / "tests" / "r" not in Path(item.path).parents:
        return
    if not shutil.which("Rscript"):
        _without("R", "apt-get install r-base-core")
    needed = {name for marker in item.iter_markers("r_packages") for name in marker.args}
    for name in sorted(needed - (_r_packages() if needed else needed)):
        _without(f"R's package {name}", f"apt-get install r-cran-{name.lower()}")


def _without(what: str, mend: str) -> None:
    """Skip a test where a user lacks something; fail where all must run."""
    if MUST_RUN:
        pytest.fail(f"{what} is not installed, and these tests must run here: {mend}")
    pytest.skip(f"{what} is not installed: {mend}")


@functools.cache
def _r_packages() -> frozenset[str]:
    """Name the packages that R finds."""
    command = ["Rscript", "--vanilla", "-e", "cat(rownames(installed.packages()))"]
    return frozenset(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def _environment(**more: str) -> dict[str, str]:
    """What R sees: nothing of the tests' own environment but the path, this Python and where packages are."""
    known = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")
    kept = {name: os.environ[name] for name in known if name in os.environ}
    own = {
        "LC_ALL": "C.UTF-8",
        "PYSYNTHDP_PYTHON": sys.executable,
        "RETICULATE_PYTHON": sys.executable,
        "OPENBLAS_NUM_THREADS": "1",
        "NOT_CRAN": "true",
        **({"PYSYNTHDP_TESTS_MUST_RUN": "yes"} if MUST_RUN else {}),
    }
    return kept | own | more


@pytest.fixture(scope="session")
def r_environment() -> dict[str, str]:
    """The environment of R's own commands."""
    return _environment()


@pytest.fixture(scope="session")
def r_library(tmp_path_factory) -> Path:
    """A library of R packages with ours in it."""
    library = tmp_path_factory.mktemp("library")
    command = ["R", "CMD", "INSTALL", "--no-test-load", f"--library={library}", str(ROOT / "r-bridge")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode == 0, done.stderr
    return library


@pytest.fixture
def run_r(r_library, tmp_path) -> Callable[..., str]:
    """Run R code with our package attached; a test that fails shows all that R said."""

    def run(code: str, *arguments: object, **environment: str) -> str:
        script = tmp_path / "script.R"
        script.write_text(f"library(pysynthdp)\narguments <- commandArgs(TRUE)\n{code}\n", encoding="utf-8")
        command = ["Rscript", "--vanilla", str(script), *map(str, arguments)]
        env = _environment(R_LIBS=str(r_library), **environment)
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    return run
