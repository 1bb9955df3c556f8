"""Damaged and malicious bytes: a value or a BridgeError, in bounded memory and time, and nothing else."""

from __future__ import annotations

import gzip
import lzma
import struct
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysynthdp.base.errors import BridgeError, PysynthdpWarning
from pysynthdp.bridge.codec import RVector, dumps, load_rds, loads
from pysynthdp.bridge.frames import frame_from_r, frame_to_r

HEADER = dumps(None)[:23]
WORDS = st.sampled_from(
    [*range(26), *range(238, 256), 0x20D, 0x313, 0x402, 0x40009, 0x8009, 0x1FF, -1, -2, 2**31 - 1, 1000]
).map(lambda word: struct.pack(">i", word))


@pytest.fixture(scope="module")
def streams(golden):
    packed = [
        lzma.decompress((golden / f"{name}.rds").read_bytes()) for name in ("values", "opaque", "recipes")
    ]
    return [*packed, *((golden / f"kinds_v{v}.bin").read_bytes() for v in ("2_little", "3_xdr"))]


def _use(data):
    """Read bytes as far as they go: to a value, to pandas, back to R, back to bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        try:
            value = loads(data, max_bytes=2**26)
            came = frame_from_r(value)
            dumps(frame_to_r(came.frame, came.facts))
        except BridgeError:
            return


def test_damaged_streams_give_bridge_errors(streams):
    rng = np.random.default_rng(11)
    for stream in streams:
        for _ in range(150):
            damaged = np.frombuffer(stream, np.uint8).copy()
            at = rng.integers(0, len(damaged), rng.integers(1, 4))
            damaged[at] = rng.choice([0, 1, 2, 9, 13, 16, 19, 238, 254, 255, rng.integers(256)], len(at))
            _use(damaged.tobytes())


def test_cut_streams_give_bridge_errors(streams):
    for stream in streams:
        for size in np.unique(np.linspace(0, len(stream) - 1, 100).astype(int)):
            with pytest.raises(BridgeError):
                loads(stream[:size])


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS | st.binary(max_size=9), max_size=40).map(b"".join))
def test_made_up_streams_give_values_or_bridge_errors(body):
    _use(HEADER + body)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_give_bridge_errors(data):
    _use(data)


def _int(*words):
    return HEADER + struct.pack(f">{len(words)}i", *words)


def _sequence(length):
    words = struct.pack(">iiiii", 238, 2, 1, 0x40009, 14) + b"compact_intseq" + struct.pack(">i", 254)
    state = struct.pack(">iiddd", 14, 3, length, 1.0, 1.0)
    return words + state + struct.pack(">i", 254)


@pytest.mark.parametrize(
    "data",
    [
        _int(14, 2**31 - 1),
        _int(16, 2**31 - 1),
        _int(19, 2**31 - 1),
        _int(16, -1, 2**30, 0),
        HEADER + _sequence(2.0**31 - 2),
        HEADER + struct.pack(">ii", 19, 200) + 200 * _sequence(1e6),
        HEADER + struct.pack(">ii", 19, 1) * 101_000,
        HEADER + struct.pack(">ii", 2, 0xFE) * 100_000,
        HEADER + struct.pack(">i", 6) * 200_000,
        HEADER + struct.pack(">ii", 16, 1_000_000) + struct.pack(">ii", 9, 0) * 1_000_000,
    ],
    ids=[
        "doubles",
        "texts",
        "list",
        "wide",
        "sequence",
        "sequences",
        "deep",
        "pairs",
        "calls",
        "empty texts",
    ],
)
def test_small_bytes_cannot_ask_for_much_memory(data):
    tracemalloc.start()
    with pytest.raises(BridgeError):
        loads(data, max_bytes=2**25)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**27


def test_a_compression_bomb_is_stopped(tmp_path):
    zeros = bytes(2**20)
    squeezed = zlib.compressobj(9, wbits=31)
    bomb = b"".join([squeezed.compress(zeros) for _ in range(100)]) + squeezed.flush()
    (tmp_path / "x.rds").write_bytes(bomb)
    tracemalloc.start()
    with pytest.raises(BridgeError, match="raise max_bytes"):
        load_rds(tmp_path / "x.rds", max_bytes=2**24)
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


def test_damaged_compression_is_a_bridge_error(tmp_path):
    path = tmp_path / "x.rds"
    good = gzip.compress(dumps(RVector("double", np.arange(1000.0))))
    for data in (
        good[:-20],
        good[:40],
        good[:30] + b"\xff" * 10 + good[40:],
        b"\xfd7zXZ\x00abc",
        b"BZh9abc",
        b"\x5d\0\0abc",
    ):
        path.write_bytes(data)
        with pytest.raises(BridgeError):
            load_rds(path)


def test_a_cut_file_is_told_from_a_damaged_one(tmp_path):
    path = tmp_path / "x.rds"
    path.write_bytes(gzip.compress(dumps(RVector("double", np.arange(1000.0))))[:-20])
    with pytest.raises(BridgeError, match="compressed file is cut off"):
        load_rds(path)


def test_many_gzip_members_are_read_in_linear_time(tmp_path):
    path = tmp_path / "x.rds"
    path.write_bytes(gzip.compress(b"") * 5_000)
    with pytest.raises(BridgeError):
        load_rds(path)


def test_unknown_forms_say_what_to_do():
    with pytest.raises(BridgeError, match="ascii = FALSE"):
        loads(b"A\n3\n262146\n")
    with pytest.raises(BridgeError, match="version 4 is not known"):
        loads(b"X\n" + struct.pack(">iii", 4, 0, 0))
    with pytest.raises(BridgeError, match="not an R object"):
        loads(b"PK\x03\x04")
