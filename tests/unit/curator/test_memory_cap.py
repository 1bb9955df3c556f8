"""What a fit keeps of the encoded table: more for more rows, up to the cap, and no bit of a result."""

import itertools

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.curator import encoded
from pysynthdp.curator.encoded import EncodedRows

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")


def table(n):
    """Make numbers and levels, some of them missing, so that steps gather copies."""
    rng = np.random.default_rng(7)
    z = rng.standard_normal(n)
    data = pd.DataFrame({"a": z, "b": z + rng.standard_normal(n), "c": rng.standard_normal(n)})
    data["sex"] = np.where(z + rng.standard_normal(n) > 0, "f", "m")
    data["group"] = np.array(list("pqrst"))[np.digitize(z, [-1, -0.3, 0.3, 1])]
    data.loc[rng.random(n) < 0.2, ["b", "group"]] = None
    return data


def fitted(n, cap, monkeypatch, workers=1):
    """Fit under a cap; return the copy and the most bytes that were held at a time."""
    most, real = [0], EncodedRows._takes

    def watched(self, size):
        self.cap = cap
        taken = real(self, size)
        most[0] = max(most[0], self._held)
        bytes_kept = sum(X.nbytes for X in self._kept.values())
        assert bytes_kept <= self._held
        return taken

    monkeypatch.setattr(EncodedRows, "_takes", watched)
    monkeypatch.setattr(EncodedRows, "fits", lambda self, every=1: self._size(every) <= cap)
    monkeypatch.setattr(encoded, "BLOCK_ROWS", 512)
    fit = sdp.Synthesizer(method={"b": "norm", "c": "norm"}, workers=workers, progress=False).fit(table(n))
    return fit.draw(m=1, rng=1)[0], most[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_no_cap_changes_a_bit(workers, monkeypatch):
    n = 6000
    (free, most), *capped = (
        fitted(n, cap, monkeypatch, workers) for cap in (2**28, 0, 50_000, 300_000, 700_000, 1_200_000)
    )
    assert most > 700_000
    for copy, _ in capped:
        pd.testing.assert_frame_equal(copy, free, check_exact=True)


def test_what_is_held_grows_with_the_rows_to_the_cap_and_stays_there(monkeypatch):
    cap = 600_000
    held = [fitted(n, cap, monkeypatch)[1] for n in (1000, 2000, 3000, 4000, 5000, 6000, 8000)]
    block = 512 * 8 * 16  # bytes, about: what one that has no room leaves free
    assert all(later > earlier - block for earlier, later in itertools.pairwise(held))
    assert max(held) <= cap
    assert held[-1] > 0.9 * cap  # where nothing was kept at all before
    assert held[0] < held[1] < held[2]


def test_a_step_gives_its_room_back(monkeypatch):
    given = []
    real = EncodedRows.let_go

    def watched(self, gathered):
        real(self, gathered)
        given.append((gathered.held, self._held - sum(X.nbytes for X in self._kept.values())))

    monkeypatch.setattr(EncodedRows, "let_go", watched)
    fitted(3000, 2**28, monkeypatch)
    assert any(held for held, _ in given)
    assert all(left == 0 for _, left in given)
