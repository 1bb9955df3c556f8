from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, SchemaError
from pysynthdp.design.parts import join, kinds_of, parts_of, settle, split

INCOME = NumericColumn("income", 0, None, 0, {-8: "not applicable", -9: "refused"}, [0], dtype="Int64")
EDU = CategoricalColumn("edu", ["lo", "hi"], ordered=True, missing={"dk": "don't know"})


def test_every_way_of_being_absent_is_a_kind() -> None:
    assert kinds_of(INCOME) == ("value", "NA", "not applicable", "refused", "= 0")
    assert kinds_of(EDU) == ("value", "NA", "don't know")
    assert [part.role for part in parts_of(INCOME)] == ["kind", "value"]
    assert [part.role for part in parts_of(NumericColumn("x", may_be_missing=False))] == ["value"]
    assert [part.role for part in parts_of(CategoricalColumn("x", []))] == ["kind"]


def test_cells_split_into_kind_and_value() -> None:
    cells = pd.Series([5, None, -8, -9, 0], dtype="Int64")
    parts = split(cells, INCOME)
    assert parts["income", "kind"].tolist() == [0, 1, 2, 3, 4]
    assert parts["income", "value"].tolist() == [5, 0, 0, 0, 0]
    pd.testing.assert_series_equal(join(parts, INCOME), cells)


def test_levels_split_into_kind_and_value() -> None:
    cells = pd.Series(
        pd.Categorical(["hi", None, "dk", "lo"], dtype=pd.CategoricalDtype(["lo", "hi", "dk"], ordered=True))
    )
    parts = split(cells, EDU)
    assert parts["edu", "kind"].tolist() == [0, 1, 2, 0]
    pd.testing.assert_series_equal(join(parts, EDU), cells)


@pytest.mark.parametrize(
    ("cells", "column", "rule"),
    [
        ([12_345.0], NumericColumn("x", 0, 9), "outside its declared bounds"),
        ([None], NumericColumn("x", may_be_missing=False), "may_be_missing=True"),
        ([12_345.0, None], NumericColumn("x", dtype="int64"), "'Int64'"),
        (["secret"], CategoricalColumn("x", ["a"]), "not among its levels"),
        ([None], CategoricalColumn("x", ["a"], may_be_missing=False), "may_be_missing=True"),
        ([1, None], CategoricalColumn("x", [0, 1], dtype="int64"), "'Int64'"),
    ],
)
def test_a_cell_that_does_not_fit_is_refused_unquoted(cells, column, rule) -> None:
    with pytest.raises(SchemaError, match=rule) as caught:
        split(pd.Series(cells), column)
    assert "secret" not in str(caught.value)
    assert "12345" not in str(caught.value).replace(",", "").replace("_", "")


def test_unlisted_levels_go_to_other() -> None:
    column = CategoricalColumn("x", ["a", "rest"], other="rest")
    assert join(split(pd.Series(["a", "b", None]), column), column).tolist()[:2] == ["a", "rest"]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (NumericColumn("x", 0, 1, 1), [0.0, 0.3, 1.0]),
        (NumericColumn("x", 0.05, 0.95, 1), [0.1, 0.3, 0.9]),  # 0 and 1 would lie outside
        (NumericColumn("x", 0.5, dtype="int64"), [1.0, 1.0, 7.0]),
        (NumericColumn("x"), [-3.0, 0.2999, 7.0]),
    ],
)
def test_drawn_numbers_settle_on_the_grid_inside_the_bounds(column, expected) -> None:
    assert settle(np.array([-3.0, 0.2999, 7.0]), column).tolist() == expected


def test_wild_draws_stay_numbers() -> None:
    settled = settle(np.array([-np.inf, 1.0, 1e305]), NumericColumn("x", decimals=6))
    assert settled.tolist() == [-1e150, 1.0, 1e150]
