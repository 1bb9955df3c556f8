"""A test that provokes an unexpected error does so in a folder of its own, where the report is written."""

from pathlib import Path

import pytest

HERE = Path.cwd()


@pytest.fixture(autouse=True)
def no_report_is_left_behind():
    yield
    left = list(HERE.glob("pysynthdp-error-*.txt"))
    for report in left:
        report.unlink()
    assert not left, "an unexpected error wrote its report here; use monkeypatch.chdir(tmp_path)"
