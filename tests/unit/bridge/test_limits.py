"""R's limits of 31 bits: each is a BridgeError that names it, found before any memory is taken."""

from __future__ import annotations

import struct

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import (
    RCell,
    RPairs,
    RSymbol,
    RVector,
    UndecodedText,
    character,
    dumps,
    loads,
    named_list,
    wire,
    writer,
)
from pysynthdp.bridge.codec.writer import _Writer
from pysynthdp.bridge.dispatch import PROTOCOL, handle
from pysynthdp.bridge.frames import frame_from_r, frame_to_r
from pysynthdp.bridge.plain import plain_to_r
from pysynthdp.bridge.synds import synds_from_release

MANY = 2**31
HEADER = dumps(None)[:23]


def _long(kind=np.float64):
    """Give an array of 2^31 elements that all lie in one place."""
    return np.broadcast_to(kind(0), MANY)


def _asked(verb, **args):
    request = {"protocol": plain_to_r(PROTOCOL), "verb": plain_to_r(verb), "args": named_list(args)}
    return dumps(named_list(request))


def test_a_frame_with_more_rows_than_r_counts_is_refused():
    with pytest.raises(BridgeError, match=r"at most 2\^31 - 1 rows"):
        frame_to_r(pd.DataFrame(index=pd.RangeIndex(MANY)))
    assert len(frame_to_r(pd.DataFrame(index=pd.RangeIndex(MANY - 1)))) == 0


def test_a_frame_that_claims_more_rows_is_refused():
    long = named_list({"x": RVector("double", _long())}, {"class": character(["data.frame"])})
    with pytest.raises(BridgeError, match=r"at most 2\^31 - 1 rows"):
        frame_from_r(long)


@pytest.mark.parametrize("code", [10, 13, 14, 15, 16, 19, 20, 24])
@pytest.mark.parametrize("length", [MANY, 2**40, 2**63])
def test_a_long_vector_without_its_elements_is_damaged(code, length):
    words = struct.pack(">iiII", code, -1, length >> 32, length & 0xFFFFFFFF)
    with pytest.raises(BridgeError, match="damaged or cut off"):
        loads(HEADER + words)


def test_a_long_vector_is_written_with_a_length_of_64_bits(monkeypatch):
    monkeypatch.setattr(writer, "_elements", lambda *_: b"...")
    stream = dumps(RVector("raw", _long(np.uint8)))
    assert stream == HEADER + struct.pack(">iiII", 24, -1, 0, MANY) + b"..."


def test_a_text_beyond_its_length_field_is_refused(monkeypatch):
    monkeypatch.setattr(wire, "MAX_TEXT", 9)
    assert loads(dumps(character(["123456789"]))).texts == ("123456789",)
    for text in ("1234567890", "äääää", UndecodedText("\udcff" * 10, wire.MARK_BYTES)):
        with pytest.raises(BridgeError, match=r"at most 2\^31 - 1 bytes"):
            dumps(character(["a", text]))


def test_names_beyond_the_packed_references_come_back(monkeypatch):
    monkeypatch.setattr(wire, "MAX_PACKED", 1)
    names = ("one", "two", "one", "two")
    call = RPairs(tuple(RCell(RSymbol(name)) for name in names), language=True)
    stream = dumps(call)
    assert struct.pack(">ii", wire.REFERENCE, 2) in stream
    assert tuple(cell.value.name for cell in loads(stream).cells) == names


def test_a_reference_that_cannot_be_packed_is_written_in_full():
    made = _Writer()
    made.symbols["x"] = 2**23
    list(made.item(RSymbol("x")))
    assert made.parts[-1] == struct.pack(">ii", wire.REFERENCE, 2**23)


def test_a_reply_that_the_carrier_cannot_take_is_an_error_of_its_own():
    whole = handle(_asked("echo", x=RVector("raw", np.zeros(5000, np.uint8))))
    assert handle(_asked("echo", x=RVector("raw", np.zeros(5000, np.uint8))), largest=len(whole)) == whole
    reply = loads(handle(_asked("echo", x=RVector("raw", np.zeros(5000, np.uint8))), largest=4999))
    held = dict(zip(reply.names, reply.items, strict=True))
    assert held["class"].texts == ("pysynthdp_bridge_error", "pysynthdp_error")
    assert "worker" in held["message"].texts[0]


@pytest.mark.parametrize("k", [float(MANY), 1e15])
def test_more_rows_asked_for_than_r_counts_are_refused_before_the_fit(k):
    table = frame_to_r(pd.DataFrame({"x": [1.0, 2.0]}))
    reply = loads(handle(_asked("synthesise", data=table, settings=named_list({}), k=plain_to_r(k))))
    held = dict(zip(reply.names, reply.items, strict=True))
    assert held["class"].texts[0] == "pysynthdp_plan_error"
    assert "2^31 - 1 rows" in held["message"].texts[0]


def test_a_confidential_table_longer_than_r_counts_has_its_size_as_a_double():
    release = sdp.synthesize(pd.DataFrame({"x": [1.5, 2.5, 4.0] * 20}), m=1, rng=1, progress=False)
    long = sdp.SyntheticRelease(
        copies=release.copies, tags=type(release.tags).from_dict(release.tags.to_dict() | {"n_org": MANY}),
        **{name: release.parts()[name] for name in ("schema", "privacy", "provenance")},
    )  # fmt: skip
    made = synds_from_release(long)
    n = made.items[made.names.index("n")]
    assert (n.kind, n.array.tolist()) == ("double", [MANY])
