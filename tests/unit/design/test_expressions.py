"""The language of expressions: what it makes, what is missing, what it refuses and where."""

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import PlanError
from pysynthdp.design.expression_cells import cells_of, parts_from
from pysynthdp.design.expressions import Values, parsed, quoted
from pysynthdp.design.parts import join, split
from pysynthdp.schema import CategoricalColumn, NumericColumn

GAP = None
COLUMNS = {
    "x": [4.0, -1.0, 0.0, GAP],
    "net income": [10.0, 20.0, GAP, 40.0],
    "Min.Price": [1.0, 2.0, 3.0, 4.0],
    "sex": ["f", "m", GAP, "f"],
    "old": [True, False, GAP, True],
}


def values(cells):
    lost = np.array([cell is None for cell in cells])
    fill = next(cell for cell in cells if cell is not None)
    kind = object if isinstance(fill, str) else bool if isinstance(fill, bool) else float
    return Values(np.array([fill if cell is None else cell for cell in cells], dtype=kind), lost)


CELLS = {name: values(cells) for name, cells in COLUMNS.items()}


def made(text):
    found = parsed(text, tuple(COLUMNS), column="y").of(CELLS).over(4)
    return [None if gap else cell for cell, gap in zip(found.data.tolist(), found.missing, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "x + `net income` * 2": [24, 39, None, None],
        "Min.Price ** 2 - -1": [2, 5, 10, 17],
        "-x ** 2": [-16, -1, 0, None],
        "x / x": [1, 1, None, None],
        "log(x)": [np.log(4), None, None, None],
        "sqrt(x)": [2, None, 0, None],
        "exp(x) > 1 and x > 2": [True, False, False, None],
        "abs(x) + floor(0.5) + ceil(0.5) + round(2.345, 1)": [7.3, 4.3, 3.3, None],
        "min(x, Min.Price, 2)": [1, -1, 0, None],
        "max(x, Min.Price)": [4, 2, 3, None],
        "0 <= x < 4": [False, False, True, None],
        "x in (0, -1)": [False, True, True, None],
        "sex not in ('m', 'd')": [True, False, None, True],
        "not old": [False, True, None, False],
        "old or x == 4 or Min.Price == 3": [True, False, True, True],
        "old and Min.Price == 1": [True, False, False, False],
        "where(sex == 'f', x, missing)": [4, None, None, None],
        "where(is_missing(sex), 'unknown', sex)": ["f", "m", "unknown", "f"],
        "where(is_missing(x), 0, x)": [4, -1, 0, 0],
        "cut(x, [0, 4], ['low', 'middle', 'high'])": ["high", "low", "middle", None],
        "cut(x, [-1, 0, 9], [1, 2])": [2, 1, 2, None],
        "cut(x, [0, 4], [1])": [None, None, 1, None],
        "recode(sex, ['f'], [1])": [1, None, None, 1],
        "recode(x, [4, 0], ['a', 'b'])": ["a", None, "b", None],
        "old * 2": [2, 0, None, 2],
        "missing": [None] * 4,
        "'it`s'": ["it`s"] * 4,
    }.items(),
)
def test_it_means_what_it_says(text, expected):
    found = made(text)
    pairs = zip(found, expected, strict=True)
    assert all(a == b or a == pytest.approx(b, rel=1e-12) for a, b in pairs), found


@pytest.mark.parametrize(
    ("text", "said"),
    {
        "(x + 1": "cannot be read",
        "x + Sex": "letter 5 .*did you mean 'sex'",
        "`net income` + incme": "letter 16 ",
        "x ^ 2": r"write \*\* for powers",
        "lag(x)": "did you mean 'log'",
        "log(x, 2)": r"write log\(x\)",
        "cut(x, 3, ['a'])": "write cut",
        "cut(x, [2, 1], [1, 2, 3])": "rising",
        "cut(x, [1, 2], ['a', 'b'])": "a label for each group",
        "cut(x, [1], ['a', 2])": "mixes texts and numbers",
        "recode(x, [1, 1], [2, 3])": "twice",
        "recode(sex, [1], [2])": "numbers in the list for texts",
        "x in sex": "in brackets",
        "x if old else 0": r"write where",
        "sex > 'a'": "only == and !=",
        "sex == 1": "write texts in quotes",
        "sex + 1": "letter 1 holds texts",
        "where(x, 1, 2)": "letter 1 must be true or false",
        "where(old, 'a', 2)": "a text on one side",
        "'é' == sex and nobody": "letter 16 ",
        "1e300": "too large",
        "": "must be a text",
    }.items(),
)
def test_what_is_wrong_is_said_with_its_place(text, said):
    with pytest.raises(PlanError, match=said) as caught:
        made(text)
    assert caught.value.column == "y"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "x.__class__",
        "(lambda: 1)()",
        "[c for c in (1,)]",
        "f'{x}'",
        "x := 1",
        "exec('1')",
        "x[0]",
        "{1: 2}",
        "b'a'",
        "1j",
        "...",
        "log(*x)",
        "log(x=1)",
        "True",
        "1; 2",
        "x\x00",
        "(" * 400 + "x" + ")" * 400,
        "-" * 60 + "x",
    ],
)
def test_nothing_else_gets_through(text):
    if text == "True":
        assert made(text) == [1.0] * 4
        return
    with pytest.raises(PlanError):
        made(text)


def test_a_name_is_written_so_that_it_is_read_again():
    odd = ("age", "Min.Price", "net income", "1st", "in", "log", "a-b", "größe", "missing", "x.log")
    cells = {name: Values.constant(float(place)) for place, name in enumerate(odd)}
    for place, name in enumerate(odd):
        assert parsed(quoted(name), odd, column="y").of(cells).data == place


CELL_CASES = [
    (NumericColumn("a", missing={-8: "refused"}, spikes=[0], decimals=1), [1.5, -8, 0, None]),
    (CategoricalColumn("a", levels=(1, 2)), [1, 2, None, 2]),
    (CategoricalColumn("a", levels=(False, True)), [True, False, None, True]),
    (CategoricalColumn("a", levels=("x", "y"), absence="level"), ["x", None, "y", "y"]),
]


@pytest.mark.parametrize(("column", "cells"), CELL_CASES)
def test_a_column_is_written_as_it_was_read(column, cells):
    """A code stays the code that it was, though it is missing to whoever computes with it."""
    series = pd.Series(cells, dtype=object if not isinstance(column, NumericColumn) else float)
    parts = split(series, column)
    read = cells_of(column, parts)
    assert read.missing.tolist() == [cell is None or cell == -8 for cell in cells]
    again = parts_from(read, column, len(cells))
    assert {key: array.tolist() for key, array in again.items()} == {
        key: array.tolist() for key, array in parts.items()
    }
    pd.testing.assert_series_equal(join(again, column), join(split(series, column), column))
