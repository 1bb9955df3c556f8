"""Tables of SAS whose value labels stand in a catalog: files that SAS wrote, as haven reads them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.schema import Kind

GOLDEN = Path(__file__).parents[2] / "golden" / "sas"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Unpack them."""
    for packed in GOLDEN.glob("*.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path


def test_labels_of_numbers_and_texts_come_from_the_catalog(files):
    table = sdp.read(files / "hadley.sas7bdat", files / "formats.sas7bcat")
    frame, schema = table.frame, table.schema
    assert frame.workshop.tolist() == ["R", "SAS"] * 4
    assert frame.gender.astype(object).where(frame.gender.notna(), None).tolist() == [
        *["Female"] * 3,
        None,
        *["Male"] * 4,
    ]
    assert schema["workshop"].labels.codes == ((1, "R"), (2, "SAS"))
    assert schema["gender"].labels.codes == (("f", "Female"), ("m", "Male"))
    assert schema["q1"].labels.label == "The instructor was well prepared"
    assert frame.q3.tolist()[:3] == [5, 4, 4]
    assert frame.q3.isna().tolist() == [False] * 3 + [True] + [False] * 4


def test_labelled_special_missing_values_are_kinds(files):
    table = sdp.read(files / "tagged-na.sas7bdat", files / "tagged-na.sas7bcat")
    assert table.frame.x.isna().sum() == 3
    assert table.kinds("x").tolist()[5:] == ["Apple", ".h", "Zebra"]
    assert table.schema["x"].labels.kinds == (
        Kind(".a", None, "Apple"),
        Kind(".z", None, "Zebra"),
        Kind(".h", None, ""),
    )


def test_without_the_catalog_codes_stay_and_one_column_can_be_read(files):
    assert sdp.read(files / "hadley.sas7bdat").frame.workshop.tolist() == [1, 2] * 4
    one = sdp.read(files / "hadley.sas7bdat", files / "formats.sas7bcat", usecols=["workshop"])
    assert one.frame.workshop.tolist() == ["R", "SAS"] * 4


def test_a_catalog_that_is_not_there_or_damaged_is_named(files):
    with pytest.raises(PlanError, match=r"there is no catalog .*nowhere\.sas7bcat"):
        sdp.read(files / "hadley.sas7bdat", files / "nowhere.sas7bcat")
    (files / "odd.sas7bcat").write_bytes(b"no catalog")
    with pytest.raises(SchemaError, match=r"odd\.sas7bcat is damaged, or no \.sas7bcat file"):
        sdp.read(files / "hadley.sas7bdat", files / "odd.sas7bcat")
