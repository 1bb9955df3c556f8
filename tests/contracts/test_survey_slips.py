"""What a survey file or what is said of it cannot be: one sentence by column, and nothing is written."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpError, PysynthdpWarning

MUST_RUN = os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") == "yes"
needs_pyreadstat = pytest.mark.skipif(
    not MUST_RUN and find_spec("pyreadstat") is None, reason="pyreadstat is not installed"
)
pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
N = 120
RNG = np.random.default_rng(6)
SECRET = "Zyxwvut"  # noqa: S105  # a text that no message may show


def people(**more: object) -> pd.DataFrame:
    """A small table."""
    return pd.DataFrame({
        "age": RNG.integers(10, 90, N),
        "work": RNG.choice(["yes", "no"], N),
        "sex": RNG.choice(["m", "f"], N),
        **more,
    })  # fmt: skip


def told(error: BaseException, column: str) -> None:
    """A message is one sentence that names the column, and shows nothing of a record."""
    said = str(error)
    assert column in said
    assert "\n" not in said
    assert SECRET not in said
    assert error.column == column
    assert error.remedy


DAYS = np.array(["1492-10-12", "1523-06-06", "2001-01-01"], "datetime64[s]")
CELLS = {
    "day": ("sav xpt", RNG.choice(DAYS, N), "days before 1582"),
    "text": ("sav xpt", RNG.choice([SECRET * 5000, "a", "b"], N), "texts longer than 32,767 bytes"),
    "blank": ("sav xpt", RNG.choice([f"{SECRET} ", "a", "b"], N), "texts that end in blanks"),
    "big": ("sav dta xpt", RNG.choice([2**60 + 1, 2**61 + 1, 2**62 + 1], N), "more than 53 bits"),
}


@needs_pyreadstat
@pytest.mark.parametrize("column", CELLS)
def test_values_that_a_format_cannot_hold(column, tmp_path):
    formats, cells, words = CELLS[column]
    release = sdp.synthesize(people(**{column: cells}), m=1, rng=1)
    for ending in formats.split():
        with pytest.raises(PysynthdpError, match=words) as caught:
            release.save(tmp_path / "out", formats=("csv", ending))
        told(caught.value, column)
        assert list(tmp_path.iterdir()) == []


@needs_pyreadstat
def test_names_that_a_format_cannot_hold_are_others_there_and_said(tmp_path):
    frame = people().set_axis(["if", "a b", "A B"], axis=1)
    release = sdp.synthesize(frame, m=1, rng=1)
    with pytest.warns(PysynthdpWarning, match="a b: in .sav files it is called"):
        folder = release.save(tmp_path / "out", formats=("csv", "sav", "dta", "xpt"))
    for ending in ("sav", "dta", "xpt"):
        names = list(sdp.read(folder / f"synthetic_1.{ending}").frame)
        assert len({name if ending == "dta" else name.lower() for name in names}) == 3
    assert "a b" in (folder / "README.txt").read_text()


def test_a_column_without_a_name(tmp_path):
    with pytest.raises(PysynthdpError, match="column 1 has no name"):
        sdp.synthesize(people().rename(columns={"work": ""}), m=1, rng=1).save(tmp_path / "out")


SETTINGS = {
    "a gate on a later column": (
        "work",
        {"universe": {"work": "age >= 16"}, "visit_sequence": ["work", "age", "sex", "older", "young"]},
        "names age, which is drawn after it",
    ),
    "a gate on what is computed of it": (
        "age",
        {"derive": {"older": "age + 1"}, "universe": {"age": "older > 20"}},
        "names older, which is drawn after it",
    ),
    "gates that name one another": (
        "work",
        {"universe": {"work": "sex == 'm'", "sex": "work == 'yes'"}},
        "name one another",
    ),
    "circular derivations": ("age", {"derive": {"age": "older - 1", "older": "age + 1"}}, "from one another"),
    "circular nests": ("work", {"nested": {"work": "sex", "sex": "work"}}, "nested in itself"),
    "circular totals": (
        "age",
        {"must_sum": {"age": ["older", "young"], "older": ["age", "young"]}},
        "from one another",
    ),
    "a rule that nothing can meet": ("age", {"rules": ["age > 400"]}, "cannot be met"),
    "rules that contradict": ("age", {"rules": ["age > 50", "age < 40"]}, "cannot be met"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_cannot_be(name, tmp_path):
    column, settings, words = SETTINGS[name]
    frame = people(young=RNG.integers(0, 9, N))
    frame["older"] = frame["age"] + 1
    with pytest.raises(PysynthdpError, match=words) as caught:
        sdp.synthesize(frame, m=1, rng=1, **settings).save(tmp_path / "out")
    told(caught.value, column)
    assert list(tmp_path.iterdir()) == []


LABELLED = {
    "codes beside labels": ({"1": "Yes", "2": "No"}, ["1", "Yes", "2"], "some of its texts have no label"),
    "labels without codes": ({7.0: "Yes", 8.0: "No"}, [1.0, 2.0, 3.0], "some of its values have no label"),
    "two codes with one label": (
        {1.0: "Yes", 2.0: "Yes"},
        [1.0, 2.0],
        "codes have the same label",
    ),
    "an empty label": ({1.0: "", 2.0: "Yes"}, [1.0, 2.0], "or one has none"),
}


@needs_pyreadstat
@pytest.mark.parametrize("name", LABELLED)
def test_labels_of_a_file_that_do_not_fit_its_cells(name, tmp_path):
    import pyreadstat

    labels, cells, words = LABELLED[name]
    frame = pd.DataFrame({"q": RNG.choice(cells, N), "age": RNG.integers(10, 90, N).astype(float)})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels={"q": labels})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = sdp.read(tmp_path / "t.sav")
    (message,) = [one.message for one in said]
    assert words in str(message)
    assert message.column == "q"
    assert table.frame["q"].nunique() == len(cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        folder = sdp.synthesize(table, m=1, rng=1).save(tmp_path / "out", formats=("csv", "sav"))
        assert sdp.structure_diff(tmp_path / "t.sav", folder / "synthetic_1.sav").empty
        sdp.synthesize(table, m=1, rng=1).save(tmp_path / "other", formats=("csv", "dta", "xpt"))
