from __future__ import annotations

import re

import numpy as np
import pytest

from pysynthdp.design.encode import Layout, Scale, StepDesign
from pysynthdp.design.parts import Part

INCOME = Part("income", "value", partial=True)
KIND = Part("income", "kind", ("value", "NA", "refused"))
EDU = Part("edu", "value", ("lo", "mid", "hi"), ordered=True)
LAYOUT = Layout((KIND, INCOME, EDU), {INCOME.key: Scale(100.0, 50.0)})


def encoded() -> np.ndarray:
    X = LAYOUT.empty(4)
    kind = np.array([0, 1, 2, 0], dtype=np.int16)
    starts = LAYOUT.starts
    LAYOUT.write(X, KIND, starts[KIND.key], kind, None)
    LAYOUT.write(X, INCOME, starts[INCOME.key], np.array([150.0, 0.0, 0.0, 50.0]), kind)
    LAYOUT.write(X, EDU, starts[EDU.key], np.array([0, 1, 2, 2], dtype=np.int16), None)
    return X


def test_features_are_named_in_order() -> None:
    assert LAYOUT.features == (
        "intercept", "income (kind)[NA]", "income (kind)[refused]", "income", "edu[mid]", "edu[hi]",
    )  # fmt: skip
    assert LAYOUT.n_features == 6
    assert LAYOUT.dummies == (False, True, True, False, True, True)


def test_an_absent_value_stands_at_its_centre_beside_its_kind() -> None:
    assert encoded().tolist() == [
        [1, 0, 0, 1, 0, 0],
        [1, 1, 0, 0, 1, 0],
        [1, 0, 1, 0, 0, 1],
        [1, 0, 0, -1, 0, 1],
    ]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (((0,), (1,)), [[1, 0], [1, 1], [1, 0], [1, 0]]),
        (((0,), (3, 3)), [[1, 1], [1, 0], [1, 0], [1, 1]]),
        (((3, 5),), [[0], [0], [0], [-1]]),
        (((5,), (0,)), [[0, 1], [0, 1], [1, 1], [1, 1]]),
    ],
)
def test_a_step_takes_columns_powers_and_products(features, expected) -> None:
    assert StepDesign(features).take(encoded()).tolist() == expected


def test_a_prefix_is_a_view() -> None:
    X = encoded()
    assert np.shares_memory(StepDesign(((0,), (1,), (2,))).take(X), X)


def test_scales_are_not_shown() -> None:
    shown = re.sub("0x[0-9a-f]+", "", repr(LAYOUT) + repr(LAYOUT.scales[INCOME.key]))
    assert "100" not in shown
