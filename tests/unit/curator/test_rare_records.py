"""No number that a fit holds follows one record that is alone in a level, a kind, a pair or a nesting.

The measure is leverage: one record's response is moved, everything is fitted again, and what the fit now
draws for a record with the same other values is compared. Of five records with the same say each has a fifth;
a saturated coefficient follows wholly (1). Both bounds are asserted: the fit stays below 0.3 (a fifth, and
what the other coefficients add), and the same record follows above 0.6 (0.4 of a probability, which priors
hold back) where levels are not put together and features not left out.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.streams import NumpySampler
from pysynthdp.curator import few_features
from pysynthdp.curator.rows import rows_of
from pysynthdp.protection import exact

ROWS = 400
PERSON = 17
MOST = 0.3
LEAST = 0.6
LEAST_SHARE = 0.4
NUMBERS = ("norm", "normrank", "lognorm", "sqrtnorm", "cubertnorm", "poisson", "negbin")


def people() -> pd.DataFrame:
    """One person alone in a village, in a kind, in a pair of levels, and with a nested missing value."""
    rng = np.random.default_rng(8)
    age = rng.normal(50, 12, ROWS).round(1)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["A", "B", "C"], ROWS),
            "sex": rng.choice(["F", "M"], ROWS),
            "height": rng.normal(170, 9, ROWS).round(),
            "weight": rng.normal(75, 12, ROWS).round(),
            "pay": np.round(np.exp(rng.normal(2.5, 0.3, ROWS))),
        }
    )
    frame["age"] = age
    frame.loc[100:119, "height"] = np.nan
    frame.loc[100:119, "weight"] = np.nan
    return frame


def alone(frame: pd.DataFrame, how: str) -> pd.DataFrame:
    """Make one person the only one of something."""
    frame = frame.copy()
    if how == "level":
        frame.loc[PERSON, "town"] = "Hamlet"
        frame.loc[[30, 31, 32, 33, 34], "town"] = ["v1", "v2", "v3", "v4", "v5"]
    elif how == "ordered":
        frame["town"] = pd.Categorical(frame["town"], ["A", "B", "C", "D"], ordered=True)
        frame.loc[PERSON, "town"] = "D"
    elif how == "kind":
        frame.loc[100:119, ["height", "weight"]] = 170.0
        frame.loc[PERSON, "weight"] = np.nan
    elif how == "nested":
        frame.loc[PERSON, "weight"] = np.nan
    elif how == "pair":
        frame.loc[(frame["town"] == "C") & (frame["sex"] == "M"), "sex"] = "F"
        frame.loc[PERSON, ["town", "sex"]] = ["C", "M"]
    elif how == "subset":  # one of nine villagers has a pay
        frame.loc[[PERSON, *range(30, 38)], "town"] = "Village"
        frame.loc[30:37, "pay"] = np.nan
    elif how == "alike":  # of forty with a pay, one has another height
        frame.loc[40:, "pay"] = np.nan
        frame.loc[:39, "height"] = 170.0
        frame.loc[PERSON, "height"] = 190.0
    return frame


def settings(how: str) -> dict[str, Any]:
    """The pair needs a formula."""
    return {"formulas": ["pay ~ town * sex + height + weight"]} if how == "pair" else {}


def fitted(frame: pd.DataFrame, how: str, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        order = [name for name in frame if name != "pay"] + ["pay"]
        made = sdp.Synthesizer(visit_sequence=order, progress=False, **settings(how), **more)
        return made.fit(frame)


def expected(fit: Any, frame: pd.DataFrame) -> float:
    """What the fit draws, on average, for a record with the person's other values."""
    inner = fit._machine.fit
    table = exact.parts_of_rows(rows_of(frame), fit.plan.schema)
    X = next(iter_encoded(inner.layout, table))[[PERSON]]
    step = inner.steps[-1]
    sampler = NumpySampler(np.random.default_rng(3))
    return float(np.mean(step.draw(step.params, np.repeat(X, 20_000, axis=0), sampler)))


def iter_encoded(layout: Any, table: Any) -> Any:
    rows = exact.EncodedRows(table, layout)
    found: list[Any] = []
    rows.collect(lambda block: found.append(block.X))
    return iter(found)


def leverage(how: str, pay: pd.Series[Any] | None = None, **more: Any) -> float:
    """How much of a move of the person's pay the fit follows."""
    before = alone(people(), how)
    low, high = 12.0, 18.0
    if pay is not None:
        before["pay"] = pay
        low, high = pay.cat.categories[[0, -1]]
    after = before.copy()
    before.loc[PERSON, "pay"], after.loc[PERSON, "pay"] = low, high
    moved = expected(fitted(after, how, **more), after) - expected(fitted(before, how, **more), before)
    return moved / (6.0 if pay is None else len(pay.cat.categories) - 1)


def classes(count: int, *, ordered: bool) -> pd.Series[Any]:
    """A response of levels."""
    codes = np.random.default_rng(9).integers(0, count, ROWS)
    return pd.Series(pd.Categorical.from_codes(codes, list("abcd")[:count], ordered=ordered))


HOWS = ("level", "ordered", "kind", "nested", "pair", "subset", "alike")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("proper", [False, True])
def test_a_fit_does_not_follow_one_record(how: str, proper: bool) -> None:
    assert abs(leverage(how, method={"pay": "norm"}, proper=proper)) < MOST


@pytest.mark.parametrize("method", NUMBERS)
def test_nor_does_any_model_of_numbers(method: str) -> None:
    assert abs(leverage("level", method={"pay": method})) < MOST


LEVELS = [(2, False, "logreg"), (3, False, "polyreg"), (4, True, "polr")]


@pytest.mark.parametrize(("count", "ordered", "method"), LEVELS)
@pytest.mark.parametrize("how", ["level", "nested"])
def test_nor_does_any_model_of_levels(count: int, ordered: bool, method: str, how: str) -> None:
    assert abs(leverage(how, classes(count, ordered=ordered), method={"pay": method})) < MOST


@pytest.mark.parametrize(("count", "ordered", "method"), LEVELS)
def test_the_measure_sees_a_model_of_levels_that_does(
    count: int, ordered: bool, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unguard(monkeypatch)
    assert leverage("level", classes(count, ordered=ordered), method={"pay": method}) > LEAST_SHARE


@pytest.mark.parametrize("proper", [False, True])
def test_a_rare_level_is_drawn_for_anybody(proper: bool) -> None:
    """Drawn last, a village of one tells nothing of who lives there: anybody in its group may get it."""
    frame = alone(people(), "level")
    frame.loc[PERSON, "pay"] = 500.0  # far from everybody: the coefficient of a level of its own would say so
    made = sdp.Synthesizer(visit_sequence=[*frame.columns[1:], "town"], proper=proper, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        fit = made.fit(frame)
    step = fit._machine.fit.steps[-1]
    assert step.groups is not None
    assert step.params.beta.shape[0] == 4  # A, B, C and the six villages
    assert fit.plan.schema["town"].levels[step.groups.codes.argmax()] == "Hamlet"
    own = step.groups.weights[step.groups.codes == step.groups.codes.max()]
    assert own.tolist() == [1.0] * 6


@pytest.mark.parametrize("how", HOWS)
def test_no_stored_matrix_has_a_direction_of_fewer_than_five_records(how: str) -> None:
    """1 over the variance of a dummy's coefficient is what it has beyond all other features, in records."""
    frame = alone(people(), how)
    fit = fitted(frame, how, method={"pay": "norm"}, proper=True)  # else it keeps none
    root = fit._machine.fit.steps[-1].params.root
    layout, design = fit._machine.fit.layout, fit._machine.fit.steps[-1].design
    dummies = [all(layout.dummies[j] for j in design.features[place]) for place in design.used]
    variance = np.sum(root**2, axis=1)[dummies]
    assert np.all(1 / variance[variance > 0] > 4 * (1 - 4 / ROWS))


@pytest.mark.parametrize("how", HOWS)
def test_the_measure_sees_a_fit_that_does(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unguard(monkeypatch)
    assert leverage(how, method={"pay": "norm"}) > LEAST


def unguard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit as if levels were not put together and no feature left out."""
    monkeypatch.setattr(exact, "groups_of", lambda *_: {})
    monkeypatch.setattr(
        exact.few_features, "without_few_features", lambda steps, _: (list(steps), few_features.Grams())
    )
    monkeypatch.setattr(exact.few_records, "without_few", lambda table, *_, **__: (table, ()))


def test_tables_without_rare_levels_are_fitted_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people()
    guarded = fitted(frame, "", terms="main").draw(m=2, rng=4)  # products may have few records
    unguard(monkeypatch)
    for one, other in zip(guarded, fitted(frame, "", terms="main").draw(m=2, rng=4), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_groups_and_left_out_features_survive_a_file(tmp_path: Any) -> None:
    fit = fitted(alone(alone(people(), "level"), "nested"), "", proper=True)
    again = sdp.FittedSynthesizer.load(fit.save(tmp_path / "fit"))
    for one, other in zip(fit.draw(m=2, rng=4), again.draw(m=2, rng=4), strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert any(step.design.without for step in again._machine.fit.steps)
