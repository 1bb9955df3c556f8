"""Score tests: the numbers of auxiliary regressions, and nothing that few records carry."""

import numpy as np
from scipy.stats import chi2, norm

from pysynthdp.models.fits import score_tests
from pysynthdp.models.fits.score_tests import Base, Scores, forward, product_evidence, single_evidence

RNG = np.random.default_rng(4)
N = 400
X = RNG.standard_normal((N, 4))
Y = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + RNG.standard_normal(N)
BASE = Base.of(X)
R = BASE.off(Y[:, None])
SCORES = Scores((R,))


def n_r_squared(y, *columns):
    """Sum of squares of a regression's fit over that of y, times the rows."""
    D = np.column_stack([np.ones(len(y)), *columns])
    fitted = D @ np.linalg.lstsq(D, y, rcond=None)[0]
    return len(y) * (fitted @ fitted) / (y @ y)


def test_evidence_is_no_more_than_that_of_the_auxiliary_regression():
    found = product_evidence(X - X.mean(axis=0), SCORES)
    assert np.unravel_index(np.argmax(found), found.shape) in {(1, 2), (2, 1)}
    for a in range(4):
        for b in range(4):
            exact = n_r_squared(R[:, 0], X, X[:, a] * X[:, b])
            assert chi2.sf(exact, 1) <= norm.sf(found[a, b]) * 1.2


def test_single_candidates_have_the_evidence_of_their_product():
    products = np.stack([X[:, a] * X[:, b] for a, b in [(1, 2), (0, 3)]]).T
    alone = single_evidence(products, SCORES)
    assert alone[0] > 5 > alone[1]


def test_forward_takes_what_is_there_once():
    z = X[:, 1] * X[:, 2]
    Z = np.column_stack([X[:, 0] * X[:, 3], z, z + 1e-9 * X[:, 3], X[:, 0] + X[:, 1]])
    assert forward(BASE, Z, SCORES, level=1e-4, most=9) == [1]


def test_at_the_truth_a_share_of_the_level_is_taken():
    # 600 candidates of tail .05: between 10 and 55 of them but once in 10^5
    taken = 0
    for _ in range(600):
        x, y, z = RNG.standard_normal((3, 200))
        base = Base.of(x[:, None])
        taken += len(forward(base, z[:, None], Scores((base.off(y[:, None]),)), level=0.05, most=1))
    assert 8 <= taken <= 55


def test_a_candidate_of_four_records_is_not_taken_whatever_its_tail(monkeypatch):
    z = np.zeros((N, 1))
    z[:4] = 1.0
    scores = Scores((BASE.off((50 * z[:, 0] + RNG.standard_normal(N))[:, None]),))
    assert forward(BASE, z, scores, level=0.9, most=1) == []
    monkeypatch.setattr(score_tests, "SPREAD", 0.0)
    assert forward(BASE, z, scores, level=0.9, most=1) == [0]


def test_a_few_large_residuals_do_not_make_a_candidate():
    # by the usual variance alone the tail is about 10^-6; eleven rows with residuals of one sign among 400
    # would be 3.3 robust standard errors
    z = RNG.standard_normal((N, 1))
    y = RNG.standard_normal(N)
    y[:2] = 30 * np.sign(z[:2, 0])
    z[:2] *= 3 / np.abs(z[:2])
    scores = Scores((BASE.off(y[:, None]),))
    assert forward(BASE, z, scores, level=1e-3, most=1) == []
