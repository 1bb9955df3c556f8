"""What is said of a method that there is none of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pysynthdp.base.errors import PlanError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import Words, meant
from pysynthdp.models.base import COLUMN_MODELS

__all__ = ["no_method"]

_TREES: Final = "of trees there is 'cart', one a column"
_OTHERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("ctree", "rf", "ranger", "bag", "tree", "rpart", "forest", "xgboost", "survctree"), _TREES
    ),
    **dict.fromkeys(("pmm", "midastouch"), "the meant is 'normrank', which keeps the margin"),
    **dict.fromkeys(("logistic", "logit", "binomial"), "it is called 'logreg' here"),
    **dict.fromkeys(("multinomial", "multinom"), "it is called 'polyreg' here"),
    **dict.fromkeys(("ordinal", "probit"), "the meant is 'polr'"),
    **dict.fromkeys(("normal", "linear", "ols"), "it is called 'norm' here"),
    **dict.fromkeys(("bootstrap", "random", "marginal"), "it is called 'sample' here"),
    **dict.fromkeys(("id", "index", "rownumber"), "running numbers are called 'serial' here"),
}
"""What other packages call methods, and what is meant to them here."""


def no_method(method: str, column: str | None) -> PlanError:
    """Make the error of a method that does not exist, with the one that was meant or all there are.

    Examples
    --------
    >>> print(no_method("ranger", "age"))
    age: there is no method 'ranger'; of trees there is 'cart', one a column
    >>> print(no_method("nrom", None))
    there is no method 'nrom'; did you mean 'norm'?
    """
    known = [*COLUMN_MODELS, SERIAL]
    what = Words("there is no method '{method}'", method=method)
    if column is not None:
        what = Words("{column}: {what}", column=column, what=what)
    mend = meant(method, known, f"known are {', '.join(sorted(known))}")
    mend = COLUMN_MODELS.left_out(method) or _OTHERS.get(method.lower(), mend)
    return PlanError(what, column=column, kind="method", remedy=mend)
