"""Whitening is the same arithmetic for a row, whatever stands beside it."""

import numpy as np
import pytest

from pysynthdp.curator.noised.whitening import Whitening


def by_hand(white, numbers, codes):
    """Add products in the order of the columns, one number at a time."""
    made = np.zeros_like(numbers)
    for at in range(numbers.shape[1]):
        rest = numbers[:, at] - sum(white.effects[levels[at]] for levels in codes)
        for row in range(len(numbers)):
            total = 0.0
            for column in range(len(numbers)):
                if white.root[row, column]:
                    total += rest[column] * white.root[row, column]
            made[row, at] = total
    return made


@pytest.mark.parametrize("kind", ["lower", "upper", "empty row", "identity"])
def test_whitening_is_its_formula_to_the_last_bit(kind):
    rng = np.random.default_rng(4)
    root = np.tril(rng.standard_normal((4, 4)))
    root = {"lower": root, "upper": root.T, "empty row": np.diag([1.0, 0, 2, 3]), "identity": np.eye(4)}[kind]
    white = Whitening(rng.standard_normal((3, 4)), root, np.eye(4))
    numbers, codes = rng.standard_normal((4, 50)), [rng.integers(0, 3, 50)]
    made = white.apply(numbers, codes)
    np.testing.assert_array_equal(made, by_hand(white, numbers, codes))
    np.testing.assert_array_equal(white.apply(numbers[:, 7:8], [codes[0][7:8]]), made[:, 7:8])


def test_what_leaves_numbers_alone_gives_a_copy():
    numbers = np.ones((2, 3))
    made = Whitening.none(1, 2).apply(numbers, [np.zeros(3, dtype=np.int64)])
    made[:] = 9.0  # clipped in place afterwards
    assert (numbers == 1.0).all()
