from __future__ import annotations

import pandas as pd
import pytest

from pysynthdp.base.display import Table
from pysynthdp.base.errors import FitError
from pysynthdp.evaluate.internal import Internal, internal_frame


class Result(Internal):
    def to_table(self):
        return Table("INTERNAL: how near & how far", ("x",), ((1.0,),))

    def tables(self):
        return {"near": internal_frame(pd.DataFrame({"x": [1.0]}))}


def test_files_say_internal_in_name_and_head(tmp_path):
    page = Result().save(tmp_path, name="INTERNAL_may")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "INTERNAL_may.html",
        "INTERNAL_may_near.csv",
    ]
    text = page.read_text("utf-8")
    assert '<meta name="classification" content="INTERNAL">' in text
    assert "INTERNAL: how near &amp; how far" in text
    assert Result().tables()["near"].attrs == {"classification": "INTERNAL"}
    assert repr(Result()).startswith("<Result: INTERNAL")


@pytest.mark.parametrize("inside", [".", "data", "data/deeper"])
def test_no_file_goes_into_a_release_nor_into_a_folder_of_one(tmp_path, inside):
    (tmp_path / "release.json").write_text("{}", encoding="utf-8")
    (tmp_path / inside).mkdir(parents=True, exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FitError, match="INTERNAL; choose another folder"):
        Result().save(tmp_path / inside)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FitError, match="is no folder; make it first"):
        Result().save(tmp_path / "later")
