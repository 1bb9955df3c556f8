from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysynthdp.bridge.codec import texts
from pysynthdp.bridge.codec.source import Source

TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def _written_plainly(values, order):
    """Write texts one after the other, straight from the format's definition."""
    out = b""
    for text in values:
        raw = b"" if text is None else text.encode()
        mark = 0 if text is None else (64 if raw.isascii() else 8) << 12
        out += struct.pack(f"{order}ii", 9 | mark, -1 if text is None else len(raw)) + raw
    return out


def _as_objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, max_size=80), st.sampled_from("<>"))
def test_texts_are_written_by_the_definition_and_read_back(values, order):
    data = texts.write_many(_as_objects(values), order)
    assert data == _written_plainly(values, order)
    source = Source((b"X\n" if order == ">" else b"B\n") + data + b"\x09\0\0\0" * 40, 10**6)
    assert texts.read_many(source, len(values)).tolist() == values
    assert source.position == 2 + len(data)


@pytest.mark.parametrize("window", [300, 1000, 4096])
def test_texts_longer_than_a_window_are_read(monkeypatch, window):
    monkeypatch.setattr(texts, "_WINDOW", window)
    rng = np.random.default_rng(5)
    values = ["\tx" * int(size) for size in rng.integers(0, 60, 500)] + ["é" * 2000, None, "end"]
    source = Source(b"X\n" + texts.write_many(_as_objects(values), ">"), 10**7)
    assert texts.read_many(source, len(values)).tolist() == values


def test_many_texts_do_not_take_the_loop(monkeypatch):
    values = [f"id{at}" for at in range(5000)]
    source = Source(b"B\n" + texts.write_many(_as_objects(values), "<"), 10**7)
    monkeypatch.setattr(texts, "_one_by_one", lambda *_: pytest.fail("read one by one"))
    assert texts.read_many(source, len(values)).tolist() == values


def test_a_character_split_over_two_texts_is_not_joined():
    # 0xC3 ends one text and 0xA9 begins the next: together they would be one valid character.
    one = struct.pack(">ii", 9 | 8 << 12, 1)
    source = Source(b"X\n" + (one + b"\xc3" + one + b"\xa9") * 50, 10**6)
    read = texts.read_many(source, 100).tolist()
    assert [text.encode("utf-8", "surrogateescape") for text in read] == [b"\xc3", b"\xa9"] * 50


def test_latin1_is_windows_superset_as_in_r():
    one = struct.pack(">ii", 9 | 4 << 12, 2) + b"\x80\xe9"
    assert texts.read_many(Source(b"X\n" + one * 50, 10**6), 50).tolist() == ["€é"] * 50


def test_a_header_inside_a_text_is_not_taken_for_one():
    # R never writes a zero byte in a text; a forged one may repeat a whole header.
    forged = struct.pack(">ii", 9 | 64 << 12, 1) + b"A"
    one = struct.pack(">ii", 9 | 64 << 12, len(forged)) + forged
    read = texts.read_many(Source(b"X\n" + one * 50, 10**6), 50).tolist()
    assert read == [forged.decode()] * 50
