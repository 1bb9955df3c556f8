"""Steps side by side in threads, or all in one pass over rows that do not fit: never another bit."""

import threading

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.curator import encoded
from pysynthdp.curator.drive import Curator, StepFit
from pysynthdp.curator.encoded import EncodedRows

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")
METHOD = {"b": "polyreg", "c": "polyreg", "d": "poisson", "e": "logreg"}


@pytest.fixture(scope="module")
def table():
    """Levels, a count and two numbers of 3000 people, some of them missing."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal((3000, 5)) + rng.standard_normal((3000, 1))
    frame = pd.DataFrame({"a": z[:, 0], "b": np.array(list("pqr"))[np.digitize(z[:, 1], [-0.5, 0.5])]})
    frame["c"] = np.array(list("uvwx"))[np.digitize(z[:, 2], [-1, 0.2, 0.9])]
    frame["d"] = rng.poisson(np.exp(0.3 * z[:, 3]))
    frame["e"] = np.where(z[:, 4] > 0.3, "yes", "no")
    frame.loc[rng.random(3000) < 0.1, "c"] = None
    return frame


def drawn(table, workers):
    """Fit and draw one copy."""
    settings = sdp.Synthesizer(method=METHOD, workers=workers, progress=False)
    return settings.fit(table).draw(m=1, rng=1)[0]


@pytest.mark.parametrize("fits", [True, False])
def test_workers_change_no_bit(table, monkeypatch, fits):
    monkeypatch.setattr(encoded, "BLOCK_ROWS", 256)
    monkeypatch.setattr(EncodedRows, "fits", lambda self, every=1: fits)  # noqa: ARG005
    alone = drawn(table, 1)
    for workers in (2, 3):
        pd.testing.assert_frame_equal(drawn(table, workers), alone, check_exact=True)


def test_steps_of_a_table_that_fits_go_side_by_side(table, monkeypatch):
    real, seen, both = EncodedRows.gather, set(), threading.Barrier(2, timeout=20)

    def watched(self, ask, *, every=1):
        if len(seen) < 2:
            seen.add(threading.get_ident())
            both.wait()  # for another step that gathers while this one does
        return real(self, ask, every=every)

    monkeypatch.setattr(EncodedRows, "gather", watched)
    drawn(table, 2)
    assert len(seen) == 2


def test_progress_tells_of_every_step_once(table):
    for workers in (1, 2):
        told = []
        real = Curator.fit_all

        def watched(self, fits, progress=None, real=real, told=told):
            real(self, fits, lambda name: (told.append(name), progress and progress(name)))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Curator, "fit_all", watched)
            drawn(table, workers)
        assert len(told) == len(table.columns) + 1  # and which of c are missing


def test_the_first_step_that_fails_is_named_whatever_the_workers(table, monkeypatch):
    real = StepFit.advance

    def fails(self, answer):
        if answer is not None and self.task.target.name in {"b", "c"}:
            self._fail(ZeroDivisionError())
        real(self, answer)

    monkeypatch.setattr(StepFit, "advance", fails)
    said = set()
    for workers in (1, 3):
        with pytest.raises(sdp.FitError) as found:
            drawn(table, workers)
        said.add(str(found.value))
    assert len(said) == 1


def passes(table, monkeypatch):
    """Count passes over all rows while models are fitted."""
    count, real, fit_all = [0], EncodedRows.blocks, Curator.fit_all

    def inside(self, *given):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(EncodedRows, "blocks", counted)
            fit_all(self, *given)

    def counted(self, every=1):
        count[0] += every == 1
        return real(self, every)

    monkeypatch.setattr(Curator, "fit_all", inside)
    monkeypatch.setattr(EncodedRows, "fits", lambda self, every=1: False)  # noqa: ARG005
    drawn(table, 1)
    return count[0]


def test_moments_and_sums_of_several_steps_share_a_pass(table, monkeypatch):
    asked, real = [], StepFit.advance

    def watched(self, answer):
        real(self, answer)
        if self.query is not None and getattr(self.query, "every", 1) == 1:
            asked.append(self.task.target.name)

    monkeypatch.setattr(StepFit, "advance", watched)
    made = passes(table, monkeypatch)
    assert made <= max(map(asked.count, set(asked)))  # as many as the step that asks most
