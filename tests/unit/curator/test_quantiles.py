from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.curator.quantiles import coarse_quantiles


@pytest.mark.parametrize("n", [0, 1, 4, 9, 10, 11, 30, 99, 1000, 5000])
def test_every_knot_averages_at_least_five_records(n) -> None:
    values = np.random.default_rng(n).permutation(np.arange(n, dtype=float)) ** 2
    probabilities, knots = coarse_quantiles(values, knots=200, smallest=5)
    assert len(knots) <= max(1, min(200, n // 10) + 2)
    assert (np.diff(probabilities) > 0).all()
    assert (np.diff(knots) >= 0).all()
    if n >= 10:
        ordered = np.sort(values)
        assert knots[0] >= ordered[:5].mean() - 1e-9
        assert knots[-1] <= ordered[-5:].mean() + 1e-9


def test_one_record_cannot_move_an_end_by_more_than_a_fifth() -> None:
    """A sentinel outlier is not among the knots and moves them by a fifth of itself at most."""
    values = np.append(np.zeros(99), 1e6)
    knots = coarse_quantiles(values, knots=200, smallest=5)[1]
    assert knots.max() <= 2e5
