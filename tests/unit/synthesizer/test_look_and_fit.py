"""What ``look`` finds, a fit warns of: the same kinds of the same columns, and no value of a record."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from statsmodels.datasets import anes96, ccard, fair, heart, modechoice, statecrime

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.remarks import SHARED
from pysynthdp.curator.look import slow_plan
from pysynthdp.models.ask import RowSum
from pysynthdp.plan.terms import MOST
from pysynthdp.protection.none import Unprotected

N = 600
DRAWN = ("drift", "near-function")  # what only a fit can see, which looks at rows that it draws
FILES = {
    data.__name__.rsplit(".", 1)[-1]: data for data in (anes96, ccard, fair, heart, modechoice, statecrime)
}


def heard_by(table: pd.DataFrame, **settings: Any) -> tuple[sdp.FittedSynthesizer, list[PysynthdpWarning]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = sdp.Synthesizer(progress=False, **settings).fit(table)
    return fitted, [one.message for one in heard if isinstance(one.message, PysynthdpWarning)]


def shown_by(table: pd.DataFrame, **settings: Any) -> set[tuple[str, str]]:
    seen = sdp.look(table, **settings)
    of_columns = {(remark.column, remark.kind) for column in seen.columns for remark in column.remarks}
    return of_columns | {(remark.column, remark.kind) for remark in seen.remarks}


def odd() -> pd.DataFrame:
    """One column for each kind of oddity that does not stop a fit."""
    rng = np.random.default_rng(4)
    town = rng.choice(["A", "B"], N).astype(object)
    town[:3] = ["Xanadu", "Ys", "Zion"]
    wage = np.where(rng.random(N) < 0.8, 100 * rng.integers(5, 60, N), rng.integers(500, 6000, N))
    return pd.DataFrame(
        {
            "coded": np.where(rng.random(N) < 0.1, -8, rng.integers(0, 90, N)),
            "scale": np.where(rng.random(N) < 0.1, 9, rng.integers(1, 6, N)),
            "text": rng.choice(["yes", "no", "-8"], N),
            "same": ["x"] * N,
            "nearly": np.where(np.arange(N) < 5, 1, 0),
            "town": town,
            "wage": wage,
            "digits": rng.choice(["1.5", "2", "17"], N),
            "day": rng.choice(["2020-01-01", "2020-01-02", "2021-01-02"], N),
            "none": [None] * N,
            "band": np.where(np.arange(N) == 7, 17.25, rng.choice([22.5, 31.5, 47.5], N)),
            "many": [f"l{i % 70}" for i in range(N)],
        }
    )


@pytest.mark.parametrize("name", FILES)
def test_real_files_are_said_alike(name: str) -> None:
    table = FILES[name].load_pandas().data.reset_index(drop=True)
    dropped = [
        column.name for column in sdp.look(table).columns if column.kind in ("identifier", "not usable")
    ]
    table = table.drop(columns=dropped)
    fitted, heard = heard_by(table)
    said = {(one.column or "", one.kind) for whole in heard for one in whole.faults}
    computed = {own.column for own in fitted.plan.derived}  # of these a fit has nothing to say
    shown = {(column, kind) for column, kind in shown_by(table) if column not in computed}
    assert {one for one in said if one[1] not in DRAWN} == shown
    assert said == {(remark.column, remark.kind) for remark in fitted.remarks}


def test_every_kind_is_said_alike_and_has_a_way_out() -> None:
    _, heard = heard_by(odd())
    assert {(one.column or "", one.kind) for one in heard} == shown_by(odd())
    assert {one.kind for one in heard} >= {
        "codes", "constant", "nearly constant", "rare levels", "heaps", "numbers as text", "dates as text",
        "empty", "few values", "many levels",
    }  # fmt: skip
    assert all(one.remedy for one in heard)


def test_a_fit_names_no_value_that_it_learned_and_look_does() -> None:
    fitted, heard = heard_by(odd())
    said = " / ".join([*map(str, heard), *map(str, fitted.remarks), *(one.said("shell") for one in heard)])
    assert not re.search(r"-8|Xanadu|Ys|Zion|17\.25|22\.5|2020", said)
    seen = sdp.look(odd())
    assert "missing={'coded': {-8: '...'}}" in str(seen)
    assert "levels={'band': [17.25, 22.5, 31.5, 47.5]}" in str(seen)
    assert 'missing = { coded = { -8 = "..." } }' in " ".join(seen.said("shell").split())


def test_what_look_says_to_type_works() -> None:
    table = odd()
    declared = {"missing": {"coded": {-8: "no"}, "scale": {9: "no"}, "text": {"-8": "no"}}}
    _, heard = heard_by(table, levels={"band": [17.25, 22.5, 31.5, 47.5]}, **declared)
    kinds = {(one.column, one.kind) for one in heard}
    assert "codes" not in {kind for _, kind in kinds}
    assert ("band", "few values") not in kinds


def test_counts_below_ten_stay_vague() -> None:
    rng = np.random.default_rng(1)
    few = np.where(np.arange(N) < 7, -8, rng.integers(0, 90, N))
    _, heard = heard_by(pd.DataFrame({"few": few, "x": rng.normal(size=N)}))
    (one,) = heard
    assert one.what == "few: fewer than ten values look like missing codes"
    assert one.remedy == "if so, missing={'few': {...: 'label'}}, else they are drawn as numbers"


def test_kept_columns_and_schemas_of_ones_own_are_not_spoken_of() -> None:
    table = odd()[["coded", "wage"]]
    _, heard = heard_by(table, keep=["coded"])
    assert {one.column for one in heard} == {"wage"}
    schema = sdp.Schema([sdp.NumericColumn("coded", decimals=0), sdp.NumericColumn("wage", decimals=0)])
    assert not heard_by(table, schema=schema)[1]


def test_nothing_learned_is_said_under_a_guarantee() -> None:
    table = odd()[["same", "nearly"]]
    columns = [
        sdp.CategoricalColumn("same", ["x", "y"], other="y", may_be_missing=False),
        sdp.CategoricalColumn("nearly", [0, 1], other=0, may_be_missing=False),
    ]
    fitted, heard = heard_by(table, schema=sdp.Schema(columns), guarantee=sdp.ZCDP(rho=2.0))
    assert not heard
    assert fitted.remarks == ()


def test_many_columns_alike_have_one_warning_that_names_them() -> None:
    rng = np.random.default_rng(2)
    names = [f"q{i}" for i in range(SHARED + 1)]
    table = pd.DataFrame({name: np.where(rng.random(N) < 0.1, 99, rng.integers(1, 6, N)) for name in names})
    fitted, heard = heard_by(table)
    (one,) = heard
    assert one.column is None
    assert one.kind == "codes"
    assert ", ".join(names) in str(one)
    assert [fault.column for fault in one.faults] == names
    assert [remark.column for remark in fitted.remarks] == names
    assert len(heard_by(table[names[:SHARED]])[1]) == SHARED


def test_a_wide_table_is_said_before_the_fit_with_a_way_out(monkeypatch) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 5, (300, 250)).astype(str)).rename(columns="q{}".format)
    (remark,) = [one for one in sdp.look(table).remarks if one.kind == "wide table"]
    assert f"250 columns: a fit draws each from the {MOST} columns before it" in remark.what
    assert not slow_plan(sdp.Synthesizer().plan(table))
    every = sdp.Synthesizer(progress=False, max_predictors=250)
    (remark,) = slow_plan(every.plan(table))
    assert re.search("[0-9]+ columns have [0-9,]+ coefficients: the fit may take [0-9]+ minutes", remark.what)
    monkeypatch.setattr(Unprotected, "fit", lambda *_: pytest.fail("it was not said before"))
    with pytest.raises(PysynthdpWarning, match="may take"):  # warnings are errors here
        every.fit(table)
    assert not slow_plan(sdp.Synthesizer().plan(table), 2_000)
    assert slow_plan(sdp.Synthesizer().plan(table), 1_000_000)  # rows count too
    few = {name: [] for name in table.columns[5:]}
    assert not slow_plan(sdp.Synthesizer(predictor_matrix=few).plan(table))
    assert not slow_plan(sdp.Synthesizer(method="sample").plan(table))
    assert "wide table" not in {one.kind for one in sdp.look(table.iloc[:, : MOST + 1]).remarks}


def test_the_size_of_a_table_is_judged_alike_where_levels_are_rare() -> None:
    rng = np.random.default_rng(5)
    town = [f"t{i // 2}" for i in range(80)] + ["A"] * 60 + ["B"] * 60
    table = pd.DataFrame({"town": town, "x": rng.normal(size=200)}).assign(y=rng.normal(size=200))
    for rows in (200, 60):  # 42 levels are 3 groups, so 200 rows are enough for them
        fitted, _ = heard_by(table.head(rows))
        assert {(remark.column, remark.kind) for remark in fitted.remarks} == shown_by(table.head(rows))


def test_draw_and_load_say_nothing_again(tmp_path) -> None:
    fitted, _ = heard_by(odd())
    with warnings.catch_warnings():
        warnings.simplefilter("error", PysynthdpWarning)
        release = fitted.draw(m=1, rng=1)
        sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit")).draw(m=1, rng=1)
        release.save(tmp_path / "release")
        sdp.SyntheticRelease.load(tmp_path / "release")


@dataclass(frozen=True)
class Thirds:
    """A third of zeros, and else a uniform number."""

    name: ClassVar[str] = "thirds_toy"
    reason: ClassVar[str] = "one record can move the largest value of a column without limit"
    real_values: ClassVar[bool] = False

    def accepts(self, target):
        return target.kind == "numeric"

    def fit(self, task):
        return (yield RowSum(lambda X, y: (y.sum(),))).value[0] / task.n  # noqa: ARG005

    def redraw(self, params, rng):
        return params + rng.standard_normal()

    def draw(self, params, X, sampler):
        return np.where(sampler.uniform(len(X)) < 1 / 3, 0.0, 3 * params * sampler.uniform(len(X)))


@dataclass(frozen=True)
class KeptThirds(Thirds):
    """The same, which says so."""

    keeps_masses: ClassVar[bool] = True


@pytest.mark.parametrize(("model", "told"), [(Thirds(), 1), (KeptThirds(), 0), ("negbin", 0), ("lognorm", 1)])
def test_no_mass_is_to_be_kept_apart_that_its_model_draws(model, told):
    rng = np.random.default_rng(2)
    least = 0.0 if model != "lognorm" else 0.5
    x = np.where(rng.random(N) < 1 / 3, least, rng.integers(1, 400, N))
    _, heard = heard_by(pd.DataFrame({"age": rng.integers(18, 90, N), "x": x}), method={"x": model})
    assert [(one.column, one.kind) for one in heard].count(("x", "spikes")) == told
