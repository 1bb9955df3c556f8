"""R and the engine give the same digest of every kind of column."""

from __future__ import annotations

from pathlib import Path

import pytest

from pysynthdp.bridge.codec import load_rds
from pysynthdp.bridge.digests import digests_of

GOLDEN = Path(__file__).parents[1] / "golden" / "r"
FRAMES = ["kinds", "kinds_no_rows", "kinds_row_numbers", "kinds_many_rows", "kinds_tibble"]


@pytest.mark.parametrize("name", FRAMES)
def test_both_sides_compute_the_same(run_r, name):
    path = GOLDEN / f"{name}.rds"
    said = run_r("writeLines(pysynthdp:::copy_digest(readRDS(arguments[1])))", path)
    assert said.split() == list(digests_of([load_rds(path)])[0].texts)
