from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from pysynthdp.base.display import Printable, PValue, Table, number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0.000"),
        (-0.5, "-0.5000"),
        (1.0, "1.000"),
        (123.456, "123.5"),
        (99999.5, "100,000"),
        (1e7, "1.000e+07"),
        (1e-4, "0.0001000"),
        (9.9e-5, "9.900e-05"),
        (1e300, "1.000e+300"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (float("nan"), "."),
        (True, "yes"),
        (False, "no"),
        (12345678, "12,345,678"),
        ("<b>", "<b>"),
        (None, ""),
    ],
)
def test_a_cell_is_written_for_people(value, written):
    assert number(value) == written


def test_digits_are_significant_digits():
    assert number(3.14159265, digits=7) == "3.141593"


TABLE = Table(
    "Title <1>",
    ("name", "x"),
    (("a", 1.5), ("long name", None), ("<i> & c", -20.25)),
    facts=(("rows", 1200), ("why", "because")),
    notes=("a note <of care>",),
)


def test_text_aligns_words_left_and_numbers_right():
    lines = TABLE.to_text().splitlines()
    assert lines[:2] == ["Title <1>", "========="]
    assert lines[2:4] == ["rows: 1,200", "why:  because"]
    assert lines[4] == ""
    assert lines[5:] == [
        "name            x",
        "---------  ------",
        "a           1.500",
        "long name",
        "<i> & c    -20.25",
        "* a note <of care>",
    ]


def test_no_line_of_text_ends_in_blanks():
    assert all(line == line.rstrip() for line in TABLE.to_text().splitlines())


def test_a_table_without_rows_or_facts_is_its_title():
    assert Table("Nothing").to_text() == "Nothing\n======="
    assert "<table" not in Table("Nothing").to_html()
    assert Table("Nothing", ("name", "x")).to_text() == "Nothing\n======="
    assert "<table" not in Table("Nothing", ("name", "x")).to_html()


class Reader(HTMLParser):
    """Collect tags that open and close, and the text between."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_well_formed_static_and_escaped():
    reader = Reader()
    reader.feed(TABLE.to_html())
    assert not reader.open
    assert not {"script", "style", "link", "img"} & set(reader.tags)
    assert {"Title <1>", "<i> & c", "a note <of care>", "1,200", "-20.25"} <= set(reader.text)


def test_text_and_html_show_the_same_cells():
    reader = Reader()
    reader.feed(TABLE.to_html())
    for row in TABLE.rows:
        for cell in filter(None, map(number, row)):
            assert cell in reader.text
            assert cell in TABLE.to_text()


class Card(Printable):
    def to_table(self):
        return TABLE


def test_a_printable_has_text_html_and_a_short_repr():
    card = Card()
    assert str(card) == TABLE.to_text()
    assert card._repr_html_() == TABLE.to_html()
    assert repr(card) == "<Card: Title <1>; rows: 1,200; why: because>"


@pytest.mark.parametrize(
    ("value", "written"),
    [(3.618e-35, "<0.001"), (0.00099, "<0.001"), (0.001, "0.001"), (0.5, "0.500"), (float("nan"), ".")],
)
def test_a_small_p_value_says_only_that_it_is_small(value, written):
    assert number(PValue(value)) == written
    table = Table("P", ("p",), ((PValue(value),), (PValue(0.25),)))
    assert table.to_text().splitlines()[-2] == written.rjust(max(5, len(written)))


def cells(html, tag):
    """Text and alignment of every cell of a kind."""
    return re.findall(rf'<{tag} style="text-align:(\w+)[^"]*">([^<]*)</{tag}>', html)


def test_heads_stand_over_their_columns_in_html():
    html = TABLE.to_html()
    assert cells(html, "th")[-2:] == [("left", "name"), ("right", "x")]
    assert cells(html, "td")[2:] == [
        ("left", "a"), ("right", "1.500"), ("left", "long name"), ("right", ""),
        ("left", "&lt;i&gt; &amp; c"), ("right", "-20.25"),
    ]  # fmt: skip


def test_a_column_of_numbers_and_words_is_one_column_of_words():
    table = Table("Grain", ("decimals",), ((2,), ("steps of 5",)))
    assert cells(table.to_html(), "td") == [("left", "2"), ("left", "steps of 5")]


def test_facts_stand_beside_their_labels():
    html = TABLE.to_html()
    assert cells(html, "th")[:2] == [("left", "rows"), ("left", "why")]
    assert cells(html, "td")[:2] == [("left", "1,200"), ("left", "because")]


def test_what_few_want_is_folded_in_html_and_not_in_text():
    table = Table("Title", folded=(("why", "a < b\nand more"),))
    assert "<details" in table.to_html()
    assert "<summary>why</summary><p>a &lt; b<br>and more</p>" in table.to_html()
    assert "why" not in table.to_text()
