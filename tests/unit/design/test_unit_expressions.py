"""Expressions over the rows of a unit, held against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import PlanError
from pysynthdp.design.expressions import Values
from pysynthdp.design.unit_expressions import over_units, parsed_over_units

UNIT = np.array([0, 0, 0, 1, 2, 2])
AGE = np.array([40.0, 38.0, 5.0, 70.0, np.nan, 13.0])
PAY = np.array([10.0, np.nan, np.nan, 5.0, np.nan, np.nan])
KNOWN = ("age", "pay", "sex", "count")


def cells():
    """Give the columns of six people in three households."""
    sex = np.array(["f", "m", "f", "m", "m", "f"], dtype=object)
    numbers = {"age": AGE, "pay": PAY}
    made = {name: Values(data, np.isnan(data)) for name, data in numbers.items()}
    return {**made, "sex": Values(sex, np.zeros(6, dtype=bool)), "count": made["age"]}


def value(text):
    """Evaluate an expression."""
    found = parsed_over_units(text, KNOWN, column="made").of(cells(), UNIT).over(6)
    return np.where(found.missing, np.nan, found.data)


@pytest.mark.parametrize("how", ["sum", "mean"])
def test_sums_and_means_are_those_of_pandas_without_what_is_missing(how):
    told = pd.Series(AGE).groupby(UNIT).transform(how)
    np.testing.assert_allclose(value(f"{how}(age)"), told)


def test_the_least_and_the_most_are_missing_where_nothing_is_there():
    by_unit = pd.Series(PAY).groupby(UNIT)
    np.testing.assert_allclose(value("least(pay)"), by_unit.transform("min"))
    np.testing.assert_allclose(value("most(pay)"), by_unit.transform("max"))


def test_counts_are_of_true_conditions_and_of_rows():
    np.testing.assert_array_equal(value("count(age >= 14)"), [2, 2, 2, 1, 0, 0])
    np.testing.assert_array_equal(value("count()"), [3, 3, 3, 1, 2, 2])
    np.testing.assert_array_equal(value("count(sex == 'f')"), [2, 2, 2, 0, 1, 1])


def test_the_rest_of_an_expression_is_one_of_rows():
    np.testing.assert_allclose(
        value("age / sum(age) + count() - 1"), AGE / [83, 83, 83, 70, 13, 13] + [2, 2, 2, 0, 1, 1]
    )
    assert parsed_over_units("age + sum(pay)", KNOWN, column="made").columns == ("age", "pay")


def test_names_and_texts_are_no_functions_over_units():
    assert not over_units("count + discount(1)")
    assert not over_units("'sum(' == sex")
    assert not over_units("`mean(age)` + 1")
    assert over_units("1 + count (age > 3)")


@pytest.mark.parametrize(
    "text", ["sum(mean(age))", "sum(agee)", "sum(age", "mean()", "sum(sex)", "median(age)"]
)
def test_what_cannot_be_is_refused_by_name(text):
    with pytest.raises(PlanError, match="made"):
        value(text)
