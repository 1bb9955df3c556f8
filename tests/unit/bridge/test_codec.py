from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import pickle
import struct

import numpy as np
import pytest

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import (
    NA_INTEGER,
    NA_REAL,
    RS4,
    RCell,
    ROpaque,
    RPairs,
    RSymbol,
    RVector,
    UndecodedText,
    character,
    dumps,
    is_na_real,
    load_rdata,
    load_rds,
    loads,
    named_list,
    save_rds,
)

HEADER = 23  # bytes before the object in version 3: mark, three versions, "UTF-8" with its length


def _items(value):
    return dict(zip(value.names, value.items, strict=True))


@pytest.fixture
def values(golden):
    return _items(load_rds(golden / "values.rds"))


@pytest.mark.parametrize("name", ["kinds_v2_xdr", "kinds_v2_little", "kinds_v3_xdr", "kinds_v3_little"])
def test_all_stream_formats_give_the_same_values(golden, differences, name):
    expected = load_rds(golden / "kinds.rds")
    assert differences(loads((golden / f"{name}.bin").read_bytes()), expected) == []


def test_objects_are_written_as_r_writes_them(golden):
    for name in ("values", "recipes_expanded"):
        r_bytes = lzma.decompress((golden / f"{name}.rds").read_bytes())
        assert dumps(loads(r_bytes))[HEADER:] == r_bytes[HEADER:]


def test_values_are_what_r_was_told(values):
    assert values["null"] is None
    assert values["symbol"] == RSymbol("a")
    assert values["missing"].what == "missing argument"
    assert values["global"].what == "global environment"
    assert values["base"].what == "base environment"
    assert values["empty_environment"].what == "empty environment"
    assert values["matrix"].attributes["dim"].array.tolist() == [2, 3]
    assert values["matrix"].array.tolist() == [1, 2, 3, 4, 5, 6]
    assert values["named"].names == ("a", "b")
    assert values["named"].array[0] == 1
    assert is_na_real(values["named"].array).tolist() == [False, True]
    assert values["s4"].attributes["y"].texts == ("a",)
    assert values["s4_data"].s4
    assert values["s4_data"].array.tolist() == [1.5, 2.5, 3.5]
    kinds = [item.kind for item in values["empty"].items]
    assert kinds == ["integer", "character", "double", "logical", "list", "raw", "complex"]
    assert all(len(item) == 0 for item in values["empty"].items)


def test_calls_keep_their_tags(values):
    call = values["call"]
    assert call.language
    assert [cell.tag for cell in call.cells] == [None, None, "y", None]
    assert call.cells[0].value == RSymbol("f")
    assert values["formula_global"].attributes["class"].texts == ("formula",)
    pairs = values["pairlist"]
    assert not pairs.language
    assert [cell.tag for cell in pairs.cells] == ["a", None, "b"]


def test_texts_that_look_like_headers_are_read(values):
    # Nine characters, or a tab after a length of 32, repeat the bytes that announce a text.
    assert values["nine"].texts == ("123456789", "\ttab", "y" * 32, None, "") * 50
    assert values["mixed_utf8"].texts == ("a", "é", "中文", None, "", "😀") * 50
    assert values["long_text"].texts == ("x" * 300_000,)


def test_stored_recipes_are_expanded_as_r_expands_them(golden, differences):
    made, expected = load_rds(golden / "recipes.rds"), load_rds(golden / "recipes_expanded.rds")
    assert differences(made, expected) == []


def test_what_has_no_value_outside_r_is_read_over_and_never_written(golden):
    found = _items(load_rds(golden / "opaque.rds"))
    assert (found["before"].texts, found["after"].texts) == (("b",), ("a",))
    assert found["closure"].what == found["builtin"].what == found["interpreted"].what == "function"
    assert found["environment"] is found["again"]
    assert found["namespace"].what == "namespace"
    assert "coefficients" in found["model"].names
    for name in ("closure", "environment", "namespace", "builtin"):
        with pytest.raises(BridgeError, match="cannot be sent; drop it"):
            dumps(named_list({"x": found[name]}))


def test_rdata_gives_objects_by_name(golden, differences):
    for name in ("two_objects", "two_objects_v2"):
        found = load_rdata(golden / f"{name}.RData")
        assert list(found) == ["kinds", "numbers"]
        assert differences(found["kinds"], load_rds(golden / "kinds.rds")) == []


def test_rdata_and_rds_are_told_apart(golden):
    with pytest.raises(BridgeError, match="use load_rds"):
        load_rdata(golden / "kinds.rds")
    with pytest.raises(BridgeError, match="not an R object"):
        load_rds(golden / "two_objects.RData")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_every_compression_is_read(tmp_path, pack):
    path = tmp_path / "x.rds"
    path.write_bytes(pack(dumps(character(["a"]))))
    assert load_rds(path).texts == ("a",)


def test_gzip_members_in_a_row_are_one_file(tmp_path):
    path, data = tmp_path / "x.rds", dumps(character(["a"]))
    path.write_bytes(gzip.compress(data[:20]) + gzip.compress(data[20:]))
    assert load_rds(path).texts == ("a",)


@pytest.mark.parametrize("compress", ["gzip", "none"])
def test_a_saved_file_is_the_same_each_time(tmp_path, compress):
    for name in ("a", "b"):
        save_rds(character(["x"]), tmp_path / name, compress=compress)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert load_rds(tmp_path / "a").texts == ("x",)


def test_nan_payloads_survive():
    bits = np.array(
        [0x7FF00000000007A2, 0x7FF80000000007A2, 0x7FF8000000000000, 0xFFF800610000007A], np.uint64
    )
    read = loads(dumps(RVector("double", bits.view(np.float64)))).array
    assert read.view(np.uint64).tolist() == bits.tolist()
    both = np.array([complex(0, 1)]) * 1
    both.view(np.float64)[0] = NA_REAL
    assert loads(dumps(RVector("complex", both))).array.view(np.uint64)[0] == 0x7FF00000000007A2


def test_integer_na_is_the_smallest_integer():
    stream = dumps(RVector("integer", np.array([NA_INTEGER, 1], np.int32)))
    assert stream[-8:] == bytes.fromhex("8000000000000001")


def test_undecodable_texts_keep_bytes_and_mark():
    texts = [
        UndecodedText("\udcff", 2 << 12),
        UndecodedText("é\udcff", 8 << 12),
        UndecodedText("\udcff", 0),
        None,
        "b",
    ]
    read = loads(dumps(character(texts))).array.tolist()
    assert read[0].encode("utf-8", "surrogateescape") == b"\xff"
    assert read[1].encode("utf-8", "surrogateescape") == b"\xc3\xa9\xff"
    assert [text.mark for text in read[:3]] == [2 << 12, 8 << 12, 0]
    assert read[3:] == [None, "b"]
    assert pickle.loads(pickle.dumps(read[0])).mark == copy.deepcopy(read[0]).mark == 2 << 12  # noqa: S301  # own


def test_session_encodings_are_decoded():
    one = struct.pack(">iiii", 16, 1, 9, 2) + b"\xc4\xe3"  # two bytes without a mark
    for name, expected in ((b"GBK", "你"), (b"ISO-8859-1", "Äã"), (b"CP1251", "Дг")):
        head = b"X\n" + struct.pack(">iiii", 3, 0x30500, 0x30500, len(name)) + name
        assert loads(head + one).texts == (expected,)


def test_deep_objects_need_no_deep_stack():
    value = None
    for _ in range(20_000):
        value = RVector("list", (value,))
    read, depth = loads(dumps(value)), 0
    while read is not None:
        read, depth = read.items[0], depth + 1
    assert depth == 20_000


def test_long_lengths_take_two_words():
    head = dumps(None)[:HEADER]
    stream = head + struct.pack(">iiIII", 24, -1, 0, 3, 0)[:-4] + b"abc"
    assert loads(stream).array.tobytes() == b"abc"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (character(["a\0b"]), "zero character"),
        (character([1]), "only str and None"),
        (character(["\ud800"]), "half a surrogate pair"),
        (RVector("integer", np.array([1], np.int64)), "flat array of int32"),
        (RVector("double", np.ones((2, 2))), "flat array of float64"),
        (RPairs((RCell(ROpaque("environment")),)), "environment cannot be sent"),
        (RS4({"x": ROpaque("function")}), "function cannot be sent"),
    ],
)
def test_what_r_cannot_hold_is_refused(value, message):
    with pytest.raises(BridgeError, match=message):
        dumps(value)
