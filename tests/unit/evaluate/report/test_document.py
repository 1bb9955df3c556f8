"""A report says the same whatever it is written as, loads nothing from elsewhere, and keeps to its folder."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.display import Table
from pysynthdp.base.errors import FitError, PlanError
from pysynthdp.evaluate.report.document import Document
from pysynthdp.evaluate.report.parts import Blank, Grid, Picture, Section

FRAME = pd.DataFrame({"cell": ["<b>", "b"] * 20, "share": [np.nan, 0.25] * 20})


def line(figure):
    figure.subplots().plot([0, 1], [0, 1])


def report(mark="INTERNAL"):
    blocks = (
        "A text & more.",
        Table("Card", ("a",), ((1,),), (("n", 3),), ("note",)),
        Grid("cells", "Cells", FRAME),
    )
    more = (Picture("slope", "A slope", line), Blank("contact", "Whom to ask.", "the desk"))
    return Document("board", "Title", mark, ("First.",), (Section("One", blocks), Section("Two", more)))


def test_a_page_needs_nothing_from_elsewhere_and_no_script():
    page = report().to_html()
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert not re.findall(r"url\((?!#)", page)
    assert "<svg" in page
    assert page.count("INTERNAL") >= 3  # the mark, the metadata and the title
    assert "&lt;b&gt;" in page
    assert "15 more rows" in page


def test_a_page_is_the_same_bytes_each_time():
    assert report().to_html() == report().to_html()


def test_json_has_all_rows_and_null_where_there_is_no_number():
    plain = json.loads(report().to_json())
    assert plain["classification"] == "INTERNAL"
    rows = plain["sections"][0]["blocks"][2]["frame"]["rows"]
    assert (len(rows), rows[0]["share"], rows[1]["share"]) == (40, None, 0.25)
    assert plain["sections"][1]["blocks"][1] == {
        "blank": "contact",
        "hint": "Whom to ask.",
        "given": "the desk",
    }


def test_files_say_what_they_are_and_tables_are_whole(tmp_path):
    paths = report().save(tmp_path, formats=("html", "json", "csv", "docx"))
    assert sorted(path.name for path in paths) == [
        "INTERNAL_board.docx", "INTERNAL_board.html", "INTERNAL_board.json", "INTERNAL_board_cells.csv"
    ]  # fmt: skip
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "INTERNAL_board_cells.csv"), FRAME)
    assert [path.name for path in report("public").save(tmp_path, formats=["html"])] == ["board.html"]


def test_a_docx_holds_texts_tables_and_blanks(tmp_path):
    docx = pytest.importorskip("docx")
    (path,) = report().save(tmp_path, formats=["docx"])
    found = docx.Document(str(path))
    texts = [part.text for part in found.paragraphs]
    assert {"INTERNAL", "1. One", "A text & more.", "n: 3", "note", "contact", "the desk"} <= set(texts)
    assert [len(table.rows) for table in found.tables] == [2, 26]


def test_a_board_report_stays_out_of_a_release(tmp_path):
    (tmp_path / "release.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FitError, match="INTERNAL"):
        report().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["release.json"]
    assert report("public").save(tmp_path, formats=["json"])


@pytest.mark.parametrize("formats", ["html", ["pdf"], ("html", "xls")])
def test_another_format_is_refused_before_anything_is_written(tmp_path, formats):
    with pytest.raises(PlanError, match="formats must list"):
        report().save(tmp_path, formats=formats)
    assert not [*tmp_path.iterdir()]


def test_tables_of_an_internal_report_are_marked():
    assert report().tables()["cells"].attrs["classification"] == "INTERNAL"
    assert "INTERNAL" in repr(report())
    assert "INTERNAL" not in repr(report("public"))
