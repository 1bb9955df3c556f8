"""The curator watches who is handed rows, and what a model raises reaches the user with its column."""
# ruff: noqa: ARG002, PD011 -- models have the arguments of their protocol; values is no frame's

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.models.ask import Counts, WholeRows

AGE = sdp.NumericColumn("age", lower=18, upper=90, fallback=40, may_be_missing=False, dtype="int64")
SEX = sdp.CategoricalColumn("sex", ["f", "m"], other="f", may_be_missing=False)
LEAVE = {"outside": ("donor", "mine", "half", "clumsy")}


@dataclass(frozen=True, slots=True)
class Kept:
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class Number:
    beta: np.ndarray
    sigma: float
    df: float


@dataclass(frozen=True, slots=True)
class Donor:
    """A model that keeps the rows and says that it does not."""

    name: ClassVar[str] = "donor"
    reason: ClassVar[str] = "it repeats the values of records"
    real_values: ClassVar[bool] = False

    def accepts(self, target):
        return target.name.partition(" ")[0] in ("age", "sex")

    def fit(self, task):
        return Kept((yield WholeRows()).value[1])

    def redraw(self, params, rng):
        raise KeyError(params.values[0])

    def draw(self, params, X, sampler):
        return params.values[(sampler.uniform(len(X)) * params.values.size).astype(int)]

    def mechanism(self, task):
        return "plug_in_mean", {"n": task.n, "lower": 18, "upper": 90, "sigma": 1e9}


@dataclass(frozen=True, slots=True)
class Mine(Donor):
    """Fitted from moments, with parameters that nobody after it can read."""

    name: ClassVar[str] = "mine"

    def fit_from_moments(self, task, given):
        return Kept(np.zeros(1))


@dataclass(frozen=True, slots=True)
class Half(Mine):
    """Right for numbers; its shares of levels sum to one half."""

    name: ClassVar[str] = "half"

    def fit_from_moments(self, task, given):
        return Number(np.zeros(len(task.features)), 1.0, 10.0)

    def level_shares(self, params, X):
        return np.full((len(X), 2), 0.25)


@dataclass(frozen=True, slots=True)
class Clumsy(Half):
    """Fails where it is told to, with a value of a record in its words."""

    where: str = "draw"
    name: ClassVar[str] = "clumsy"

    def fit(self, task):
        yield Counts() if task.target.kind == "categorical" else WholeRows()
        if self.where == "fit":
            raise TypeError("4711")
        return Kept(np.zeros(1))

    def fit_from_moments(self, task, given):
        if self.where == "moments" and given.n != 100:  # not in the trial
            raise IndexError("4711")
        return Number(np.zeros(len(task.features)), 1.0, 10.0)

    def draw(self, params, X, sampler):
        raise ZeroDivisionError("4711")

    def redraw(self, params, rng):
        raise AttributeError("4711")


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(18, 90, 500), "sex": ["f", "m"] * 250})


def test_whole_rows_mark_the_fit_whatever_the_model_says(table, tmp_path):
    fitted = sdp.Synthesizer(method={"age": Donor()}, bounds={"age": (0, 120)}, progress=False).fit(table)
    assert fitted.confidential
    assert "REAL values of age" in fitted.holds
    with pytest.raises(sdp.PrivacyError, match="real records in age"):
        fitted.save(tmp_path / "fit")
    assert not list(tmp_path.iterdir())
    statement = fitted.draw(m=1).privacy
    assert "models of age were handed whole rows" in statement.reason
    assert any("handed whole rows" in column.reason for column in statement.columns if column.column == "age")
    honest = sdp.Synthesizer(progress=False).fit(table)
    assert not honest.confidential
    assert "whole rows" not in honest.draw(m=1).privacy.reason


def test_whole_rows_are_refused_under_a_guarantee_even_with_a_price(table):
    asked = sdp.BySampling(**LEAVE)
    settings = sdp.Synthesizer(schema=sdp.Schema([AGE]), method={"age": Donor()}, guarantee=asked)
    with pytest.raises(sdp.PrivacyError, match=r"age: .*whole rows.*no guarantee"):
        settings.fit(table[["age"]])
    with pytest.raises(sdp.PrivacyError, match="is code of the package"):
        replace(settings, guarantee=sdp.BySampling()).plan()


@pytest.mark.parametrize(
    ("column", "model", "words"),
    [
        (AGE, Mine(), r"age: .*it lacks beta, sigma, df"),
        (SEX, Mine(), r"sex: .*level_shares"),
        (SEX, Half(), r"sex: .*sum to one"),
        (AGE, Donor(), "not fitted from noisy cross-products"),
    ],
)
def test_what_a_noised_model_lacks_is_said_before_anything_is_asked(column, model, words):
    asked = sdp.ByNoise(sdp.ZCDP(1.0), **LEAVE)
    settings = sdp.Synthesizer(
        schema=sdp.Schema([column]), method={column.name: model}, guarantee=asked, progress=False
    )
    with pytest.raises(sdp.PrivacyError, match=words):
        settings.plan()


def test_an_outside_model_that_has_all_that_is_needed_runs_with_noise(table):
    @dataclass(frozen=True, slots=True)
    class Good(Half):
        name: ClassVar[str] = "half"

        def draw(self, params, X, sampler):
            return sampler.normal(X @ params.beta, params.sigma)

    asked = sdp.ByNoise(sdp.ZCDP(1.0), **LEAVE)
    settings = sdp.Synthesizer(
        schema=sdp.Schema([AGE]), method={"age": Good()}, guarantee=asked, progress=False
    )
    statement = settings.fit(table[["age"]]).draw(m=2).privacy
    assert statement.status == "implemented"
    assert "outside code, which sees the noised answers only" in statement.reason
    assert statement.verify().ok


def failing(table, where: str):
    """Make the call in which the model fails."""
    if where == "moments":
        asked = sdp.ByNoise(sdp.ZCDP(1.0), **LEAVE)
        settings = sdp.Synthesizer(
            schema=sdp.Schema([AGE]), method={"age": Clumsy(where)}, guarantee=asked, progress=False
        )
        return lambda: settings.fit(table[["age"]])
    settings = sdp.Synthesizer(
        method={"age": Clumsy(where)}, bounds={"age": (0, 99)}, proper=where == "redraw", progress=False
    )
    return (lambda: settings.fit(table)) if where == "fit" else (lambda: settings.fit(table).draw(m=1))


@pytest.mark.parametrize("where", ["fit", "draw", "redraw", "moments"])
def test_what_a_model_raises_has_its_column_and_no_value(table, where):
    with pytest.raises(sdp.FitError, match=r"^age: the 'clumsy' model could not") as caught:
        failing(table, where)()
    assert "4711" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("model", ["ridge", "logridge", "multivariate_normal"])
def test_a_penalty_too_small_to_compute_with_is_refused_from_the_settings(model):
    from pysynthdp.models.base import COLUMN_MODELS

    setting = "ridge" if model == "multivariate_normal" else "penalty"
    more = {"sigma": 1.0} if model == "ridge" else {}
    made = COLUMN_MODELS[model](**{setting: 1e-200, **more})
    pay = sdp.NumericColumn("pay", lower=0, upper=9, fallback=4, may_be_missing=False)
    joint = [(["age", "pay"], made)] if model == "multivariate_normal" else []
    method = {} if joint else {"sex" if model == "logridge" else "age": made}
    columns = [AGE, pay] if joint else [SEX if model == "logridge" else AGE]
    settings = sdp.Synthesizer(
        schema=sdp.Schema(columns), method=method, joint=joint, guarantee=sdp.BySampling()
    )
    with pytest.raises(sdp.PrivacyError, match="too small to compute with"):
        settings.plan().price(n=100)
