"""Blocks of the wide X: only what is used is encoded, in any number of threads."""

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.curator import encoded
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.table import PartTable
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.parts import Part

PARTS = (Part("a", "value"), Part("b", "value", ("x", "y", "z")), Part("c", "value"))


@pytest.fixture
def rows(monkeypatch):
    """Encode 1000 rows in blocks of 64, of which none is kept."""
    monkeypatch.setattr(encoded, "BLOCK_ROWS", 64)
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 1000).astype(np.int16)
    arrays = {PARTS[0].key: rng.standard_normal(1000), PARTS[1].key: codes}
    arrays[PARTS[2].key] = rng.standard_normal(1000)
    scales = {part.key: Scale(0.5, 2.0) for part in PARTS if part.numeric}
    return EncodedRows(PartTable(1000, arrays), Layout(PARTS, scales), cap=0)


def total(block):
    """Cross-products, whose last bits hang on the order of rows and blocks."""
    return (block.X.T @ block.X,)


def test_parts_that_no_one_uses_are_not_read(rows):
    whole = rows.fold(total)[0]
    used = np.array([0, 1, 3])
    del rows.table.parts[PARTS[2].key]
    part = rows.fold(lambda block: (block.X[:, used].T @ block.X[:, used],), used=used)[0]
    np.testing.assert_array_equal(part, whole[np.ix_(used, used)])


def test_a_block_that_is_kept_is_encoded_whole(rows):
    whole = rows.fold(total)[0]
    rows.cap = 2**20
    rows.fold(lambda block: (block.X[:, 1].sum(),), used=np.array([0, 1]), keep=True)
    assert len(rows._kept) == len(list(rows.blocks()))
    np.testing.assert_array_equal(rows.fold(total)[0], whole)


def test_threads_change_no_bit(rows):
    alone = rows.fold(total)[0]
    rows.workers = 3
    np.testing.assert_array_equal(rows.fold(total)[0], alone)
    pool = rows._pool
    rows.fold(total)
    assert rows._pool is pool  # and are started once


def test_after_an_error_nobody_works_on(rows):
    rows.workers = 2
    seen = []

    def fails(block):
        seen.append(block.rows.start)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rows.fold(fails)
    assert len(seen) <= 2 * encoded._AHEAD + 1 < len(list(rows.blocks()))


def test_a_long_table_leaves_room_for_its_samples(rows):
    rows.cap = 5 * 8 * 64 * 8  # half of the table's blocks
    rows.fold(total, keep=True)
    assert rows._held > rows.cap / 2
    rows.fold(total, keep=True, every=50)
    assert (0, 50) in rows._kept


@pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")
def test_features_of_steps_that_have_ended_are_not_encoded_again(monkeypatch):
    read, real = [], EncodedRows._write
    monkeypatch.setattr(EncodedRows, "fits", lambda *_, **__: False)
    monkeypatch.setattr(EncodedRows, "_takes", lambda *_: False)

    def watched(self, X, rows, used):
        read.append(self.layout.n_features if used is None else int(used.sum()))
        real(self, X, rows, used)

    monkeypatch.setattr(EncodedRows, "_write", watched)
    rng = np.random.default_rng(3)
    z = rng.standard_normal(400)
    frame = pd.DataFrame({"a": np.where(z + rng.standard_normal(400) > 0, "f", "m")})
    frame["b"] = np.array(list("pqr"))[np.digitize(z + rng.standard_normal(400), [-0.5, 0.5])]
    frame["c"] = np.array(list("uvw"))[np.digitize(z + rng.standard_normal(400), [-0.2, 0.9])]
    method = {"b": "polyreg", "c": "polyreg"}
    sdp.Synthesizer(method=method, predictor_matrix={"c": ["b"]}, workers=1, progress=False).fit(frame)
    assert 4 in read  # of six, while b is drawn from a, and c from b
    assert {2, 3} & set(read)  # when one of them has ended
