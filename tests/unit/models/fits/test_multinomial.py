"""Multinomial searches on long tables: a sample's curvature gives way to that of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.models.fits import multinomial, newton
from pysynthdp.models.polyreg import PolyReg
from pysynthdp.testing import fitted

N = 12_000


def heavy(tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Features with tails, the more the larger, and four levels that hang on them."""
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((N, 3))
    X = np.column_stack([np.ones(N), np.exp(tail * Z)])
    score = Z @ rng.standard_normal((3, 4)) + rng.gumbel(size=(N, 4))
    return X, score.argmax(axis=1).astype(float)


def of_all_rows(found) -> list[int]:
    """Dimensions of what all rows were asked to add last: three for blocks of curvature."""
    X, y = np.ones((2, 4)), np.zeros(2)
    return [max(a.ndim for a in q.of(X, y)) for q in found.asked if getattr(q, "every", 0) == 1]


@pytest.mark.parametrize(("tail", "rows", "anew"), [(0.8, 4_000, False), (1.7, 1_000, True)])
def test_a_long_search_takes_the_curvature_of_all_rows_where_it_lasts(monkeypatch, tail, rows, anew):
    X, y = heavy(tail)
    exact = fitted(PolyReg(), X, y, levels=4).params
    monkeypatch.setattr(newton, "LONG", 2_000)
    monkeypatch.setattr(newton, "SAMPLE", rows)
    found = fitted(PolyReg(), X, y, levels=4)
    sums = of_all_rows(found)
    assert (3 in sums) == anew
    assert len(sums) <= (
        100 if anew else multinomial.PATIENCE + 2
    )  # refreshed every eight rounds it takes 129
    spread = np.sqrt(np.diag(np.linalg.inv(X.T @ X)))  # of a standard error, or a little less
    np.testing.assert_allclose((found.params.beta - exact.beta) / spread, 0, atol=0.005)
