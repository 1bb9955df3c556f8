"""The contract suite: what every column model, combining rule and row backend must keep, ready to be run.

It is for authors, of this package or of another. A test file of yours is

>>> from pysynthdp.models import Norm
>>> from pysynthdp.testing import check_column_model
>>> def test_norm_keeps_the_contract():
...     check_column_model(Norm)
>>> test_norm_keeps_the_contract()

or, one test a promise, ``@pytest.mark.parametrize("check", column_model_checks(Norm), ids=str)`` above
``def test_norm(check): check()``. A check raises AssertionError, which says what is broken, why it matters
and how to mend it; no test library is needed.

``check_column_model``, ``check_combining_rule``, ``check_rows``
    Everything of one contract; all faults are told at once.
``column_model_checks``, ``combining_rule_checks``, ``rows_checks``
    The same, one by one.
``fitted``, ``sampler``, ``task_for``
    A fit to arrays, answered by the real curator, and what a model draws with: for tests of your own.
``hard_data``
    Tables on which textbook fits fail.

No check can know whether a model fits what it says, whether a rule's intervals cover, or whether a price is
proved: that is the author's, by an independent program, stored values, or a study with both errors stated.

Notes
-----
Privacy: everything here is tried on made-up data.
"""

from __future__ import annotations

from pysynthdp.testing.arrays import Fitted, fitted, sampler, task_for
from pysynthdp.testing.checks import Check
from pysynthdp.testing.hard import Arrays, hard_data
from pysynthdp.testing.models import check_column_model, column_model_checks
from pysynthdp.testing.rows import check_rows, rows_checks
from pysynthdp.testing.rules import check_combining_rule, combining_rule_checks

__all__ = [
    "Arrays",
    "Check",
    "Fitted",
    "check_column_model",
    "check_combining_rule",
    "check_rows",
    "column_model_checks",
    "combining_rule_checks",
    "fitted",
    "hard_data",
    "rows_checks",
    "sampler",
    "task_for",
]
