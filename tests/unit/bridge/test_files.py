"""A table that R names and does not send is read by the engine, and its rows never travel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp.bridge.codec import character
from pysynthdp.bridge.frames import frame_from_r, frame_to_r
from pysynthdp.bridge.verbs import synthesis

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"score": rng.normal(size=300).round(2), "town": rng.choice(["Ayr", "Bute"], 300)})
    frame.to_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_copies_looks_and_plans_of_a_file_are_those_of_its_rows(path):
    named, sent = character([str(path)]), frame_to_r(pd.read_parquet(path))
    copies = [synthesis.synthesise(data, {}, 1, None, 1) for data in (named, sent)]
    one, other = (
        frame_from_r(dict(zip(made.names, made.items, strict=True))["syn"]).frame for made in copies
    )
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    assert synthesis.plan(named, {})["text"] == synthesis.plan(sent, {})["text"]
    assert "score" in synthesis.look(named, {"drop": ["town"]})["text"]
    assert "Ayr" not in synthesis.look(named, {"drop": ["town"]})["text"]
    assert synthesis.check(named, {})["columns"].keys() == synthesis.check(sent, {})["columns"].keys()
