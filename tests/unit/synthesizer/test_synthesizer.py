from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from pysynthdp import (
    CategoricalColumn,
    FitError,
    NumericColumn,
    PlanError,
    PysynthdpError,
    PysynthdpWarning,
    Schema,
    SchemaError,
    Synthesizer,
    synthesize,
)


def table(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), "sex": rng.choice(["F", "M"], n)})
    frame["wage"] = np.where(rng.random(n) < 0.3, -8.0, np.round(rng.gamma(2.0, 500.0, n)))
    return frame


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize("n", [5, 9, 10, 11, 30])
def test_few_rows(n, proper) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PysynthdpWarning)
        drawn = Synthesizer(progress=False, proper=proper).fit(table().head(n)).draw(m=2, k=50, rng=1)
    assert drawn[0].dtypes.equals(table().dtypes)
    assert drawn[0].notna().all().all()


@pytest.mark.filterwarnings("ignore:the table has")
def test_one_row_a_level() -> None:
    frame = pd.DataFrame({"g": [f"g{i}" for i in range(30)], "x": np.arange(30.0) ** 2})
    copy_ = Synthesizer(progress=False, levels={"g": list(frame["g"])}).fit(frame).draw(m=1, rng=1)[0]
    assert set(copy_["g"]) <= set(frame["g"])


@pytest.mark.filterwarnings("ignore:the table has")
def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(100, 180)), columns=[f"x{i}" for i in range(180)])
    for i in range(20):
        frame[f"g{i}"] = rng.choice(list("abc"), 100)
    drawn = Synthesizer(progress=False, max_predictors=200).fit(frame).draw(m=1, rng=1)[0]
    assert drawn.shape == (100, 200)
    assert drawn.notna().all().all()
    inside = frame.iloc[:, :180].abs().max().max()
    assert drawn.iloc[:, :180].abs().max().max() <= 1.5 * inside  # ends are smooth, not cut at a record


def test_a_factor_of_sixty_levels() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 60, 3000)
    frame = pd.DataFrame({"x": rng.normal(size=3000), "town": [f"t{c:02d}" for c in codes]})
    frame["y"] = codes / 10 + rng.normal(size=3000)
    drawn = Synthesizer(progress=False).fit(frame).draw(m=1, rng=1)[0]
    means = [f.groupby("town")["y"].mean() for f in (frame, drawn)]
    assert np.corrcoef(*means)[0, 1] > 0.9


@pytest.mark.parametrize(("centre", "sd"), [(1e12, 1e11), (0.0, 1e-12), (1e9, 1.0), (-1e6, 1e-2)])
@pytest.mark.parametrize("method", [None, "norm"])
def test_wild_scales_keep_mean_spread_and_dependence(centre, sd, method) -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=2000)
    frame = pd.DataFrame({"z": z, "x": centre + sd * (z + 0.5 * rng.normal(size=2000))})
    drawn = Synthesizer(progress=False, method=method).fit(frame).draw(m=1, rng=1)[0]
    assert abs(drawn["x"].mean() - frame["x"].mean()) < 0.2 * sd
    assert abs(drawn["x"].std() / frame["x"].std() - 1) < 0.1
    assert abs(np.corrcoef(drawn["z"], drawn["x"])[0, 1] - 0.894) < 0.03


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(), table().head(0), pd.DataFrame(index=range(5)), [1], table()["age"]]
)
def test_nothing_to_fit(frame) -> None:
    with pytest.raises((FitError, SchemaError), match=r"nothing to fit|must be a pandas DataFrame"):
        Synthesizer(progress=False).fit(frame)


def test_codes_are_never_between_and_both_kinds_occur() -> None:
    frame = table(500).assign(wage=lambda f: f["wage"].mask(np.arange(500) % 9 == 0))
    wishes = {"missing": {"wage": {-8: "not applicable"}}, "progress": False}
    wage = Synthesizer(**wishes).fit(frame).draw(m=1, rng=1)[0]["wage"]
    assert not ((wage > -8) & (wage < 0)).any()
    assert (wage == -8).any()
    assert wage.isna().any()
    assert (wage.dropna() % 1 == 0).all()


def test_copies_have_their_own_index() -> None:
    frame = table().set_index(pd.Index(list(range(60))[::-1], name="age"))
    drawn = Synthesizer(progress=False, keep=["sex"]).fit(frame).draw(m=1, rng=1)[0]
    assert isinstance(drawn.index, pd.RangeIndex)
    assert drawn["sex"].tolist() == frame["sex"].tolist()


def test_draws_differ_unless_the_seed_is_given() -> None:
    fitted = Synthesizer(progress=False).fit(table())
    first, second = fitted.draw(m=2, rng=5), fitted.draw(m=1, rng=5)
    assert first[0].equals(second[0])
    assert not first[0].equals(first[1])
    assert not fitted.draw(m=1)[0].equals(fitted.draw(m=1)[0])
    generator = np.random.default_rng(1)
    assert not fitted.draw(m=1, rng=generator)[0].equals(fitted.draw(m=1, rng=generator)[0])
    sequence = np.random.SeedSequence(3)
    assert fitted.draw(m=1, rng=sequence)[0].equals(fitted.draw(m=1, rng=sequence)[0])


def test_the_account_counts_every_draw_of_every_copy_of_a_fit() -> None:
    fitted = Synthesizer(progress=False).fit(table())
    fitted.draw(m=2, k=10, rng=1)
    copy.copy(fitted).draw(m=3, k=5, rng=1)
    assert (fitted.account.copies, fitted.account.records) == (5, 35)
    assert [(draw.n_syn, draw.copies) for draw in fitted.account.draws] == [(10, 2), (5, 3)]
    with pytest.raises(PysynthdpError):
        fitted.draw(m=0)
    assert fitted.account.copies == 5


def test_a_pickled_fit_draws_the_same() -> None:
    fitted = Synthesizer(progress=False).fit(table())
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 -- our own bytes
    assert again.draw(m=1, rng=1)[0].equals(fitted.draw(m=1, rng=1)[0])


def test_the_table_is_not_changed() -> None:
    frame, before = table(), table()
    synthesize(frame, m=1, rng=1, missing={"wage": [-8]})
    pd.testing.assert_frame_equal(frame, before)


def test_a_declared_schema_is_kept_to() -> None:
    schema = Schema(
        [
            CategoricalColumn("sex", ["F", "M", "X"], dtype="str", may_be_missing=False),
            NumericColumn("age", 18, 90, 0, dtype="int64", may_be_missing=False),
        ]
    )
    drawn = (
        Synthesizer(schema=schema, progress=False, method={"age": "norm"})
        .fit(table()[["sex", "age"]])
        .draw(m=1, k=5000, rng=1)[0]
    )
    assert list(drawn) == ["sex", "age"]
    assert drawn["age"].between(18, 90).all()
    with pytest.raises(SchemaError, match="does not name 'wage'"):
        Synthesizer(schema=schema).fit(table())
    with pytest.raises(SchemaError, match="no column 'sex'"):
        Synthesizer(schema=schema).fit(table()[["age"]])
    loose = Synthesizer(schema=schema.amend("age", may_be_missing=True))
    gaps = table().assign(age=table()["age"].mask(table()["age"] > 60))
    with pytest.raises(SchemaError, match="'Int64'"):
        loose.fit(gaps[["sex", "age"]])


@pytest.mark.parametrize(
    "settings",
    [
        {"keep": "age"},
        {"drop": "age"},
        {"formulas": "age ~ sex"},
        {"keep": ["age"], "drop": ["age"]},
        {"workers": 0},
    ],
)
def test_settings_that_contradict(settings) -> None:
    with pytest.raises(PlanError):
        Synthesizer(**settings)


def test_kept_columns_fix_the_rows() -> None:
    fitted = Synthesizer(keep=["age"], progress=False).fit(table())
    with pytest.raises(PlanError, match="leave k out"):
        fitted.draw(m=1, k=10)


def test_columns_that_cannot_be_modelled_may_be_kept_or_renumbered() -> None:
    frame = table().assign(what=[[i] for i in range(60)], who=[f"p{i}" for i in range(60)], big=2**60)
    drawn = (
        Synthesizer(keep=["what"], method={"who": "serial", "big": "serial"}, progress=False)
        .fit(frame)
        .draw(m=1)[0]
    )
    assert drawn["what"].tolist() == frame["what"].tolist()
    assert drawn["who"].tolist()[-1] == "p60"
    assert drawn["big"].tolist()[-1] == 60
    assert drawn.dtypes.equals(frame.dtypes)
