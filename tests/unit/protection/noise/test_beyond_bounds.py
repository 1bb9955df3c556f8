"""That ``norm`` may leave declared bounds under noise is true, and said alike wherever it matters."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from pysynthdp import NumericColumn, Schema, Synthesizer
from pysynthdp.models import Norm, NormRank
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.noise.moments.design import BEYOND_BOUNDS

ROOT = Path(__file__).parents[4]
TABLE = pd.DataFrame(
    {name: np.random.default_rng(place).gamma(1.0, size=1_000) for place, name in enumerate("xyz")}
)
SCHEMA = Schema([NumericColumn(name, lower=0, upper=20, may_be_missing=False, fallback=1) for name in "xyz"])
PLACES = ("R/declare.R", "man/zcdp.Rd", "man/numeric_column.Rd")


def plain(text: str) -> str:
    """Words alone, whatever marks them up."""
    return " ".join(re.sub(r"#'|\\code|[`{}]", " ", text).split()).replace(" ,", ",").lower()


def test_that_norm_may_leave_the_bounds_is_said_alike_everywhere(tmp_path):
    asked = {
        "guarantee": ByNoise(ZCDP(5.0), hints=dict.fromkeys("xyz", (1, 1.2))),
        "method": {"x": NormRank()},
    }
    release = Synthesizer(schema=SCHEMA, **asked, progress=False).fit(TABLE).draw(m=2, rng=1)
    folder = release.save(tmp_path / "out")
    book = pd.read_csv(folder / "codebook.csv").set_index("name")
    assert book.note.y == book.note.z == BEYOND_BOUNDS
    assert pd.isna(book.note.x)  # bent to its margin, it stays inside
    assert Schema.from_codebook(folder / "codebook.csv")["y"].upper == 20
    places = [
        str(release.privacy),
        *(docs.__doc__ for docs in (Norm, Synthesizer, NumericColumn)),
        *((ROOT / "r-bridge" / place).read_text("utf-8") for place in PLACES),
        (ROOT / "docs" / "guarantees.md").read_text("utf-8"),
    ]
    for place in places:
        assert BEYOND_BOUNDS in plain(place)
    for name in "yz":
        assert release[0][name].min() < 0  # and it is true
    assert release[0].x.between(0, 20).all()


def test_without_noise_no_draw_leaves_the_bounds_and_nothing_is_said(tmp_path):
    release = Synthesizer(schema=SCHEMA, method="norm", progress=False).fit(TABLE).draw(m=1, rng=1)
    assert release[0].to_numpy().min() >= 0
    assert release[0].to_numpy().max() <= 20
    assert BEYOND_BOUNDS not in str(release.privacy)
    folder = release.save(tmp_path / "out")
    assert pd.read_csv(folder / "codebook.csv").note.isna().all()
