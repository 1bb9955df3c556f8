"""The pruned scan finds the same maximum as a full one, also where it lies in the middle."""

import numpy as np
import pytest

from pysynthdp.privacy.prices import binary
from pysynthdp.privacy.prices.binary_curves import bernoulli_renyi
from pysynthdp.privacy.prices.scan import FINITE, certified_maximum


def scan(n, m, a, b, epsilon, *, first, most=10**6, prune=True):
    looked = []

    def exact(ones):
        looked.extend(ones.tolist())
        x, y = ones - 1 + a, n - ones + b
        return np.maximum(binary._more_ones(m, x, y, epsilon), binary._fewer_ones(m, x, y, epsilon))

    def curve(ones):
        p, q = (ones + a) / (n + a + b), (ones - 1 + a) / (n + a + b)
        pair = bernoulli_renyi(p, q, orders=FINITE), bernoulli_renyi(q, p, orders=FINITE)
        return m * np.maximum(*pair) if prune else np.full(FINITE.shape, np.inf)

    found = certified_maximum(n, exact=exact, curve=curve, epsilon=epsilon, first=first, most=most)
    return found, looked


@pytest.mark.parametrize(
    ("n", "m", "a", "b", "epsilon"),
    [(9, 18, 73.347, 97.805, 0.22113), (400, 300, 1.0, 1.0, 0.5), (3000, 3000, 20.0, 5.0, 1.0)],
)
def test_pruned_scan_is_exact(n, m, a, b, epsilon):
    full, everything = scan(n, m, a, b, epsilon, first=n)
    pruned, looked = scan(n, m, a, b, epsilon, first=1)
    assert pruned == full
    assert sorted(everything) == list(range(1, n + 1))
    assert len(looked) == len(set(looked)) <= n


def test_pruning_saves_work():
    assert len(scan(100_000, 100_000, 5.0, 5.0, 1.0, first=16)[1]) < 1000


def test_scan_that_stays_open_returns_a_bound():
    full, _ = scan(400, 300, 1.0, 1.0, 0.5, first=400)
    open_end, _ = scan(400, 300, 1.0, 1.0, 0.5, first=2, most=2, prune=False)
    assert open_end == 1.0 > full
