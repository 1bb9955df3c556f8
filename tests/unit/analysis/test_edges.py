"""What rules say where they can say nothing, and rounding that is no variance."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.analysis import combine, pool
from pysynthdp.base.errors import PysynthdpWarning


@pytest.mark.parametrize(
    ("q", "u", "said"),
    [
        ([0.4, np.nan, 0.5], [0.1] * 3, "is not known"),
        ([0.4, 0.5, 0.6], [0.1, np.inf, 0.1], "is not known"),
        ([0.4, 0.5, 0.6], [0.1, np.nan, 0.1], "is not known"),
        ([0.4] * 3, [0.0] * 3, "is zero"),
        ([0.1 + 0.2, 0.3, 0.3], [0.0] * 3, "is zero"),
    ],
)
def test_the_reason_is_the_true_one(q, u, said):
    with pytest.warns(PysynthdpWarning, match=said):
        done = combine(q, u, n_syn=50, n_org=50)
    assert said in str(done.reason)
    assert "not positive" not in str(done.reason)
    assert np.isnan(done.se)
    assert np.isnan(done.pvalue())
    assert np.isnan(done.conf_int()).all()


def test_a_rule_does_not_recommend_itself():
    done = combine([0.4, 0.5], [-0.0, 0.0], n_syn=50, n_org=50, rule="full_rrr2003")
    assert done.T != 0
    with pytest.warns(PysynthdpWarning, match="gives no interval and no p-value; make more copies, or name"):
        negative = combine([0.1, 0.2], [5.0, 5.0], n_syn=50, n_org=50, rule="full_rrr2003")
    assert negative.T < 0
    assert "'full_posterior_truncated'" in str(negative.reason)
    instead = combine([0.1, 0.2], [5.0, 5.0], n_syn=50, n_org=50, rule="full_posterior_truncated")
    assert np.isfinite(instead.conf_int()).all()


def test_rounding_between_copies_is_no_variance():
    done = combine([0.1 + 0.2, 0.3, 0.3], [0.01] * 3, n_syn=50, n_org=50)
    assert (done.b, done.df) == (0.0, np.inf)
    assert combine([0.3 + 1e-9, 0.3, 0.3], [0.01] * 3, n_syn=50, n_org=50).b > 0


def test_large_degrees_of_freedom_are_printed_as_inf():
    done = pool([([0.3 + 1e-7], [0.01]), ([0.3], [0.01])], n_syn=50, n_org=50)
    assert done.df.iloc[0] > 1e6
    assert "  inf  " in str(done.summary())
