"""``R CMD check`` finds nothing to say: no error, no warning, no note; examples and vignettes run in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))
DESCRIPTION = (ROOT / "r-bridge" / "DESCRIPTION").read_text("utf-8")
SUGGESTED = re.findall(r"^    (\w+)", DESCRIPTION.split("Suggests:")[1].split("\nVignette")[0], re.MULTILINE)
NEEDED = ("qpdf", "pandoc")  # the check looks at PDFs by one, the vignette is built by the other


@pytest.fixture
def r_cmd(r_environment, tmp_path):
    """Run ``R CMD`` in a folder of its own and give what it says."""
    own = {"_R_CHECK_CRAN_INCOMING_": "false", "_R_CHECK_SYSTEM_CLOCK_": "false"}
    own["PYSYNTHDP_TEST_CARRIERS"] = "worker"  # all of them run in test_package.py

    def run(*arguments):
        done = subprocess.run(
            ["R", "CMD", *arguments],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=r_environment | own,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.slow
@pytest.mark.r_packages(*SUGGESTED)
@pytest.mark.skipif(
    not MUST_RUN and not all(map(shutil.which, NEEDED)), reason="R CMD check needs qpdf and pandoc"
)
def test_the_check_of_cran_says_ok(r_cmd, tmp_path):
    shutil.copytree(ROOT / "r-bridge", tmp_path / "pysynthdp", ignore=shutil.ignore_patterns("_snaps"))
    r_cmd("build", "pysynthdp")
    (package,) = tmp_path.glob("pysynthdp_*.tar.gz")
    said = r_cmd("check", "--as-cran", "--no-manual", package.name)
    assert said.rstrip().endswith("Status: OK"), said
    for what in ("examples with --run-donttest", "tests", "re-building of vignette outputs"):
        assert re.search(rf"^\* checking {what} \.\.\.\s.*?OK$", said, re.MULTILINE | re.DOTALL), said
