"""A method that the user names and that cannot hold a column's shape is said, once, with one that can."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

N = 1200


def shapes(y: np.ndarray, method: str) -> list[str]:
    """Kinds of what is said of y when a method draws it."""
    return [said.kind for said in said_of(y, method)]


def said_of(y: np.ndarray, method: str) -> list[sdp.PysynthdpWarning]:
    """All that is said of y when a method draws it."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"x": rng.normal(size=N).round(3), "y": y})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        sdp.Synthesizer(method={"y": method}, progress=False).fit(table)
    assert all(one.message.column == "y" and one.message.remedy for one in heard)
    return [one.message for one in heard]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize("method", ["norm", "sqrtnorm", "cubertnorm", "lognorm", "poisson", "negbin"])
def test_a_mass_of_zeros_is_said_of_every_method_that_loses_it(method, rng) -> None:
    counts = np.where(rng.random(N) < 0.5, 0, rng.poisson(6, N))
    assert shapes(counts, method) == ["shape"]


@pytest.mark.parametrize("method", ["norm", "sqrtnorm", "cubertnorm", "lognorm"])
def test_a_mass_of_zeros_among_amounts_is_said(method, rng) -> None:
    assert shapes(np.where(rng.random(N) < 0.4, 0, rng.lognormal(1, 0.6, N).round(2)), method) == ["shape"]


@pytest.mark.parametrize("method", ["normrank", "sample"])
def test_methods_that_keep_a_mass_are_not_warned_of(method, rng) -> None:
    assert shapes(np.where(rng.random(N) < 0.4, 0, rng.lognormal(1, 0.6, N).round(2)), method) == []


@pytest.mark.parametrize(
    ("method", "draw"),
    [
        ("norm", lambda rng: rng.normal(5, 2, N).round(1)),
        ("sqrtnorm", lambda rng: np.maximum(rng.normal(1.5, 1, N), 0).round(2) ** 2),
        ("cubertnorm", lambda rng: rng.normal(2, 0.4, N).round(2) ** 3),
        ("lognorm", lambda rng: rng.lognormal(1, 0.5, N).round(2)),
        ("poisson", lambda rng: rng.poisson(3, N)),
        ("negbin", lambda rng: rng.negative_binomial(2, 0.3, N)),
    ],
)
def test_a_shape_that_fits_is_not_warned_of(method, draw, rng) -> None:
    assert shapes(draw(rng), method) == []


def test_a_flat_scale_of_few_numbers_has_no_odd_shape_but_is_not_drawn_as_it_is(rng) -> None:
    (said,) = said_of(rng.integers(1, 6, N), "norm")
    assert said.kind == "drift"
    assert "its distribution" in str(said)
    assert "method={'y': 'cells'}" in str(said)


def test_a_mass_elsewhere_is_said_without_its_value(rng) -> None:
    y = np.where(rng.random(N) < 0.3, 17.25, rng.normal(20, 9, N).round(2))
    table = pd.DataFrame({"y": y})
    with pytest.warns(sdp.PysynthdpWarning, match="29 % of the values are one value") as heard:
        sdp.Synthesizer(method={"y": "norm"}, progress=False).fit(table)
    assert "17" not in str(heard[0].message)
    assert "method={'y': 'normrank'}" in str(heard[0].message)
