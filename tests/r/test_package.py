"""The R package's own tests, one of ours for each file and carrier, so that none can be skipped unseen."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path.stem.removeprefix("test-") for path in (ROOT / "r-bridge/tests/testthat").glob("test-*.R")
)
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))
MAY_BE_ABSENT = {"synthpop"}  # no Debian package has it


def test_all_files_are_found():
    assert {"leaks", "objects", "pool", "synthesise", "transport"} <= set(FILES)


@pytest.mark.r_packages("testthat")
@pytest.mark.parametrize("name", FILES)
def test_testthat_passes(run_r, name):
    path = ROOT / "r-bridge" / "tests" / "testthat" / f"test-{name}.R"
    said = run_r(
        'library(testthat); found <- test_file(arguments[1], reporter = "check", package = "pysynthdp", '
        'load_package = "none", stop_on_failure = FALSE); table <- as.data.frame(found); '
        'cat("\\nTOTAL", sum(table$failed) + sum(table$error), sum(table$skipped), sum(table$nb), "\\n")',
        path,
    )
    failed, skipped, expectations = map(int, re.findall(r"TOTAL (\d+) (\d+) (\d+)", said)[-1])
    assert failed == 0, said
    if not MUST_RUN:
        return  # somebody's R may lack any of the packages that ours works with
    assert expectations > 5, said
    for line in re.findall(r"^• .*$", said, flags=re.MULTILINE):
        assert any(package in line for package in MAY_BE_ABSENT), said
    assert skipped <= 2, said  # what needs synthpop
