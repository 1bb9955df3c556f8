"""Models by sums over blocks of rows: those of statsmodels, to 1e-10 and less, or statsmodels itself."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

import pysynthdp as sdp
from pysynthdp.analysis import sums

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")
ROBUST = [{}, *({"cov_type": f"HC{number}"} for number in range(4))]
LINEAR = (
    "affairs ~ age + C(educ) * religious",
    "np.log1p(affairs) ~ age + I(age ** 2) + children - 1",
    "affairs ~ bs(age, df=5) + rate_marriage",
    "affairs ~ 1",
)
COUNTED = ("visits ~ age + children", "visits ~ C(religious) + age:children")


@pytest.fixture(scope="module")
def release():
    table = sm.datasets.fair.load_pandas().data.sample(900, random_state=1).reset_index(drop=True)
    table["visits"] = np.random.default_rng(1).poisson(1 + table["children"])
    table["any"] = (table["affairs"] > 0).astype(int)
    return sdp.Synthesizer(terms="main", workers=1, progress=False).fit(table).draw(m=2, rng=1)


def both(monkeypatch, fit):
    """Fit by statsmodels and by sums, and say how many copies the sums took."""
    taken = []
    real = sums._fit
    monkeypatch.setattr(sums, "_fit", lambda *args: taken.append(real(*args)) or taken[-1])
    monkeypatch.setattr(sums, "FROM_ROWS", 10**9)
    plain = fit()
    monkeypatch.setattr(sums, "FROM_ROWS", 0)
    return plain, fit(), sum(found is not None for found in taken)


def alike(plain, by_sums):
    """Compare everything that is pooled."""
    assert list(by_sums.params.index) == list(plain.params.index)
    scale = np.asarray(plain.bse)
    assert np.abs((by_sums.params - plain.params).to_numpy() / scale).max() < 1e-8
    np.testing.assert_allclose(by_sums.params, plain.params, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(by_sums.cov_params(), plain.cov_params(), rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("kwds", ROBUST)
@pytest.mark.parametrize("formula", LINEAR)
def test_least_squares(monkeypatch, release, formula, kwds):
    plain, by_sums, taken = both(monkeypatch, lambda: sdp.ols(formula, release, **kwds))
    alike(plain, by_sums)
    assert taken == 2


def test_least_squares_by_groups(monkeypatch, release):
    kwds = {"cov_type": "cluster", "cov_kwds": {"groups": "occupation"}}
    plain, by_sums, _ = both(monkeypatch, lambda: sdp.ols("affairs ~ age + educ", release, **kwds))
    alike(plain, by_sums)


@pytest.mark.parametrize("kwds", ROBUST[:2])
@pytest.mark.parametrize("formula", COUNTED)
def test_counts(monkeypatch, release, formula, kwds):
    family = sm.families.Poisson()
    plain, by_sums, taken = both(monkeypatch, lambda: sdp.glm(formula, release, family=family, **kwds))
    alike(plain, by_sums)
    assert taken == 2


@pytest.mark.parametrize("kwds", ROBUST[:2])
def test_logits(monkeypatch, release, kwds):
    formula = "any ~ age + rate_marriage + C(religious)"
    plain, by_sums, taken = both(monkeypatch, lambda: sdp.logit(formula, release, **kwds))
    alike(plain, by_sums)
    assert taken == 2


def test_columns_that_nearly_depend_on_each_other(monkeypatch, release):
    """Whoever fits them, the table is the one of statsmodels."""
    for formula in ("affairs ~ age + I(age + 1e-9 * educ)", "affairs ~ I(1990 + age) + I((1990 + age) ** 2)"):
        plain, by_sums, _ = both(monkeypatch, lambda formula=formula: sdp.ols(formula, release))
        np.testing.assert_allclose(by_sums.params, plain.params, rtol=1e-5, atol=1e-7)


def test_blocks_change_nothing(monkeypatch, release):
    """Blocks of other lengths: the same numbers, to what adding in another order rounds."""
    from pysynthdp.analysis.sums import design

    monkeypatch.setattr(sums, "FROM_ROWS", 0)
    one = sdp.ols(LINEAR[0], release)
    names = [name for name in vars(design) if "ROWS" in name or name == "BLOCK"]
    assert names
    for name in names:
        monkeypatch.setattr(design, name, 37)
    alike(one, sdp.ols(LINEAR[0], release))
