"""``docs/labelled-files.md`` says what the writers do: its limits are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pysynthdp.io.folder.counting import MOST_ROWS
from pysynthdp.io.survey.limits import LIMITS
from pysynthdp.io.survey.writing import MOST_CELLS

ROWS = {
    line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
    for line in (Path(__file__).parents[2] / "docs" / "labelled-files.md").read_text("utf-8").splitlines()
    if line.startswith("| ")
}
TEXT = (Path(__file__).parents[2] / "docs" / "labelled-files.md").read_text("utf-8")


@pytest.mark.parametrize(("at", "ending"), [(0, "sav"), (1, "dta"), (2, "xpt")])
def test_its_limits_are_those_of_the_writers(at, ending):
    limits = LIMITS[ending]
    assert str(limits.names.most) in ROWS["names"][at]
    assert f"{limits.label}" in ROWS["labels of variables"][at]
    assert f"{limits.text:,} bytes" in ROWS["texts"][at]
    assert ("blanks at the end are **refused**" in ROWS["texts"][at]) == (not limits.blanks)
    assert f"{limits.earliest.year:04d}-{limits.earliest:%m-%d}" in ROWS["days"][at]
    if ending == "sav":
        assert f"{limits.value_label} bytes" in ROWS["labels of values, unused ones too"][at]
    else:
        assert f"{limits.largest:.4g}".replace("e+", "e") in ROWS["numbers"][at]


def test_its_sizes_are_those_of_the_writers():
    assert f"{MOST_CELLS:,} cells" in TEXT
    assert f"{MOST_ROWS:,} rows" in TEXT
