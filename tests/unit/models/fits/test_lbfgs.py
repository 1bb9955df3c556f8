"""The limited-memory direction is that of the whole BFGS matrix, written out."""

import numpy as np
import pytest

from pysynthdp.models.fits.lbfgs import Curvature, Memory, direction, remember

LEVELS, FEATURES = 3, 4
SIZE = LEVELS * FEATURES
KEPT = 30


def curved(rng, size):
    """A positive definite matrix."""
    root = rng.normal(size=(size, size))
    return root @ root.T + np.eye(size)


@pytest.mark.parametrize("pairs", [0, 1, 7, KEPT + 5])
def test_direction_is_that_of_the_matrix_updated_pair_by_pair(pairs):
    rng = np.random.default_rng(pairs)
    blocks = np.stack([curved(rng, FEATURES) for _ in range(LEVELS)])
    start = Curvature(blocks, None, np.full(LEVELS, 1 / LEVELS))
    whole = np.stack([start.apply(unit.reshape(LEVELS, FEATURES)).ravel() for unit in np.eye(SIZE)], axis=1)
    hessian = curved(rng, SIZE)
    steps = rng.normal(size=(pairs, SIZE))
    memory = Memory()
    for step in steps:
        memory = remember(memory, step.reshape(LEVELS, -1), (hessian @ step).reshape(LEVELS, -1))
    if pairs:
        change = hessian @ steps[-1]
        whole *= (steps[-1] @ change) / (change @ whole @ change)
    for step in steps[-KEPT:]:
        change = hessian @ step
        turn = np.eye(SIZE) - np.outer(step, change) / (step @ change)
        whole = turn @ whole @ turn.T + np.outer(step, step) / (step @ change)
    gradient = rng.normal(size=(LEVELS, FEATURES))
    np.testing.assert_allclose(
        direction(memory, start, gradient).ravel(), -whole @ gradient.ravel(), rtol=1e-6, atol=1e-8
    )


def test_a_pair_without_curvature_is_not_kept():
    step = np.ones((2, 2))
    assert not len(remember(Memory(), step, -step).steps)
