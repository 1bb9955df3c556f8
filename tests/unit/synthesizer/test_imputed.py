"""A list of imputed tables: one plan, nests, and the rule that knows them."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import CombiningRuleError, FitError, PrivacyError, PysynthdpWarning, SchemaError
from pysynthdp.curator.rows import ImputedTables
from pysynthdp.protection.none import Unprotected
from pysynthdp.synthesizer import imputing

N = 120
OWN_NAME = "Zaphod"


def table(seed: int) -> pd.DataFrame:
    """Impute a third of the incomes and a few of the regions of the same people."""
    people = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": people.choice(["F", "M"], N),
            "region": people.choice(["north", "south", "west"], N),
            "age": people.integers(18, 90, N),
            "income": people.normal(2000, 300, N).round(1),
        }
    )
    rng = np.random.default_rng(seed)
    frame.loc[: N // 3, "income"] = rng.normal(2000, 300, N // 3 + 1).round(1)
    frame.loc[:5, "region"] = rng.choice(["north", "south", "west"], 6)
    return frame


def tables(m: int = 3) -> list[pd.DataFrame]:
    return [table(seed) for seed in range(1, m + 1)]


def fitted(**settings) -> sdp.FittedSynthesizer:
    return sdp.Synthesizer(progress=False, workers=1, **settings).fit(tables())


def test_copies_stand_in_nests_and_are_pooled_by_them():
    fit = fitted()
    release = fit.draw(m=2, rng=1)
    assert release.nests == ("1", "1", "2", "2", "3", "3")
    assert (release.m, release.tags.nesting, release.tags.kind, fit.imputed_tables) == (
        6,
        "imputed",
        "complete",
        3,
    )
    done = sdp.ols("income ~ age", release)
    assert done.rule == "missing_then_partial_reiter2004"
    assert "m = 3, r = 2" in str(done.summary())
    assert "nests of copies" in str(release)
    assert "imputed tables fitted: 3" in " ".join(str(fit).split())
    assert [one.attrs["pysynthdp"]["nest"] for one in release] == list(release.nests)
    assert [one.attrs["pysynthdp"]["copy_in_nest"] for one in release] == [1, 2] * 3


def test_the_pooled_numbers_are_those_of_the_formula():
    release = fitted().draw(m=4, rng=2)
    done = sdp.ols("income ~ age", release)
    slopes, squares = [], []
    for one in release:
        x, y = one["age"].to_numpy(float), one["income"].to_numpy(float)
        centred = x - x.mean()
        slope = centred @ y / (centred @ centred)
        rest = y - y.mean() - slope * centred
        slopes.append(slope)
        squares.append(rest @ rest / (N - 2) / (centred @ centred))
    q = np.array(slopes).reshape(3, 4)
    T = (1 + 1 / 3) * q.mean(axis=1).var(ddof=1) - q.var(axis=1, ddof=1).mean() / 4 + np.mean(squares)
    assert done.params["age"] == pytest.approx(q.mean())
    assert done.T["age"] == pytest.approx(T)


def test_columns_that_are_kept_are_those_of_their_own_table():
    release = fitted(keep=["income"]).draw(m=2, rng=1)
    assert release.tags.kind == "partial"
    assert sdp.ols("income ~ age", release).rule == "missing_then_partial_reiter2004"
    for one, nest in zip(release, release.nests, strict=True):
        assert one["income"].equals(tables()[int(nest) - 1]["income"])
    with pytest.raises(PrivacyError, match="real values of income"):
        fitted(keep=["income"]).save("never.fit")


def test_each_nest_is_fitted_to_its_own_table():
    both = fitted(method={"income": "norm"})
    for number, (fit, one) in enumerate(zip(both._machine.fits, tables(), strict=True)):
        alone = sdp.Synthesizer(schema=both.schema, method={"income": "norm"}, progress=False).fit(one)
        params = alone._machine.fit.steps[-1].params
        assert np.allclose(fit.steps[-1].params.beta, params.beta), number
    betas = [fit.steps[-1].params.beta for fit in both._machine.fits]
    assert not np.allclose(betas[0], betas[1])


@pytest.mark.parametrize("proper", [False, True])
def test_a_copy_depends_on_seed_nest_and_number_alone(proper):
    fit = fitted(proper=proper)
    more, less = fit.draw(m=3, rng=5), fit.draw(m=1, rng=5)
    assert all(less[nest].equals(more[3 * nest]) for nest in range(3))
    again = sdp.Synthesizer(proper=proper, progress=False, workers=3).fit(tables()).draw(m=3, rng=5)
    assert all(one.equals(other) for one, other in zip(more, again, strict=True))
    assert not any(more[0]["sex"].equals(other["sex"]) for other in more[1:])  # fitted alike in all tables
    same = (
        sdp.Synthesizer(schema=fit.schema, proper=proper, progress=False).fit(tables()[:2]).draw(m=3, rng=5)
    )
    assert all(one.equals(other) for one, other in zip(more, same, strict=False))


def test_files_hold_the_nests(tmp_path):
    fit = fitted()
    release = fit.draw(m=2, rng=3)
    fit.save(tmp_path / "a.fit")
    loaded = sdp.FittedSynthesizer.load(tmp_path / "a.fit")
    assert loaded.account.copies == 6
    for other in (loaded, pickle.loads(pickle.dumps(fit)), copy.deepcopy(fit)):  # noqa: S301 -- our own
        drawn = other.draw(m=2, rng=3)
        assert drawn.tags == release.tags
        assert all(one.equals(two) for one, two in zip(drawn, release, strict=True))
    for folder in (release.save(tmp_path / "r"), fit.draw_to(tmp_path / "s", m=2, rng=3, format="csv")):
        read = sdp.SyntheticRelease.load(folder)
        assert read.tags == release.tags
        assert all(one.equals(two) for one, two in zip(read, release, strict=True))
        assert read[3].attrs["pysynthdp"] | {"privacy": 0} == release[3].attrs["pysynthdp"] | {"privacy": 0}
        assert len(list(folder.glob("synthetic_3_2.*"))) == 1
        assert sdp.verify(folder).exit_code == 10
        text = " ".join((folder / "README.txt").read_text().split())
        assert "3 first-stage files (nests)" in text
        assert "intervals that are too short" in text
        assert "synthetic_3_2" in (folder / "analyse.py").read_text()
    assert "synthetic_3_2" in (folder / "analyse.do").read_text()  # the last one is CSV
    assert "file='synthetic_3_2.csv'" in (folder / "analyse.sps").read_text()


def test_the_statement_counts_every_copy_and_tells_of_imputations():
    privacy = fitted().draw(m=2, rng=1).privacy
    assert "each of 3 imputations" in privacy.reason
    assert "6 copies" in privacy.plain_language()


def test_one_copy_of_each_table_has_no_sure_rule():
    release = fitted().draw(m=1, rng=1)
    with pytest.raises(CombiningRuleError, match="draw m = 5 copies of each"):
        sdp.ols("income ~ age", release)
    wide = sdp.ols("income ~ age", release, rule="missing_then_partial_conservative")
    assert wide.bse.notna().all()


def test_copies_of_another_size_have_a_rule():
    release = fitted().draw(m=3, k=60, rng=1)
    done = sdp.ols("income ~ age", release)
    assert done.rule == "missing_then_partial_size_adjusted"
    plain = sdp.ols("income ~ age", fitted().draw(m=3, rng=1), rule="missing_then_partial_size_adjusted")
    want = sdp.ols("income ~ age", fitted().draw(m=3, rng=1), rule="nested")
    assert np.allclose(plain.bse, want.bse)
    assert np.allclose(plain.df, want.df)


def shuffled(frame):
    return frame.sample(frac=1, random_state=1)


WRONG = {
    "index": ([table(1), shuffled(table(2))], "another index"),
    "order": ([table(1), shuffled(table(2)).reset_index(drop=True)], "not of the same people"),
    "others": (
        [table(1), table(2).sample(N, replace=True, random_state=2).reset_index(drop=True)],
        "same people",
    ),
    "rows": ([table(1), table(2), table(3)[:-1]], "imputed table 3 has another number of rows"),
    "lacking": ([table(1), table(2).drop(columns="age")], "lacks column 'age'"),
    "more": ([table(1), table(2).assign(more=1.5)], "column 'more' more"),
    "columns": ([table(1), table(2)[["age", "sex", "region", "income"]]], "another order"),
    "type": ([table(1), table(2).astype({"age": "float64"})], "age is int64 .* number 2"),
    "equal": ([table(1), table(1)], "equal in every cell"),
    "incomplete": ([table(1), table(2).where(np.arange(N)[:, None] + np.zeros(4) > 5)], "include = FALSE"),
    "gaps": (
        [table(1).assign(income=np.where(np.arange(N) < 9, np.nan, table(1).income)), table(2)],
        "income: cells",
    ),
    "number": ([table(i).assign(imp=i) for i in (1, 2, 3)], r"numbers the imputations.*drop=\['imp'\]"),
    "one": ([table(1)], "the list holds one table"),
    "mixed": ([table(1), "b.csv"], "number 2 is a str"),
    "dict": ({1: table(1), 2: table(2)}, r"list\(tables.values\(\)\)"),
    "generator": ((table(i) for i in (1, 2)), r"list\(tables\)"),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_what_is_no_imputation_is_refused_by_name(name):
    given, says = WRONG[name]
    with pytest.raises(SchemaError, match=says) as caught:
        sdp.Synthesizer(progress=False).fit(given)
    assert not any(value in str(caught.value) for value in ("north", "south", "west", "2000"))


def test_a_column_that_numbers_imputations_can_be_dropped():
    given = [table(i).assign(imp=i) for i in (1, 2)]
    assert sdp.Synthesizer(drop=["imp"], progress=False).fit(given).imputed_tables == 2


@pytest.mark.parametrize("guarantee", [sdp.ZCDP(0.5), sdp.BySampling()])
def test_a_guarantee_refuses_before_a_table_is_looked_at(guarantee):
    schema = fitted().schema
    given = [pd.DataFrame({OWN_NAME: [1]}), pd.DataFrame({"b": [2, 3]})]
    with pytest.raises(PrivacyError, match="spend the budget again") as caught:
        sdp.Synthesizer(schema=schema, guarantee=guarantee).fit(given)
    assert OWN_NAME not in str(caught.value)


def test_one_schema_is_learned_over_all_tables():
    given = tables()
    given[2].loc[0, "region"] = "east"
    given[0].loc[1:5, "income"] = 2000.125  # five records, which a digit needs
    schema = sdp.Synthesizer(progress=False).plan(given).schema
    assert schema["region"].levels == ("east", "north", "south", "west")
    assert schema["income"].decimals == 3
    release = sdp.Synthesizer(progress=False).fit(given).draw(m=2, rng=1)
    assert "east" not in set(release[0]["region"])
    assert {str(one["income"].dtype) for one in release} == {"float64"}


def test_few_distinct_numbers_in_some_tables_only_stay_numbers():
    given = [one.assign(rooms=np.arange(N) % 5 + 1) for one in tables()]
    given[1].loc[:7, "rooms"] = np.arange(8) + 20
    schema = sdp.Synthesizer(progress=False).plan(given).schema
    assert isinstance(sdp.Synthesizer(progress=False).plan(given[0]).schema["rooms"], sdp.CategoricalColumn)
    assert isinstance(schema["rooms"], sdp.NumericColumn)


def test_categoricals_made_by_a_file_get_one_category_set():
    given = tables(2)
    given[0]["region"] = given[0]["region"].replace("west", "north")
    given[1]["region"] = given[0]["region"].where(np.arange(N) > 0, "west")
    given = [one.astype({"region": "category"}) for one in given]
    release = sdp.Synthesizer(progress=False).fit(given).draw(m=2, rng=1)
    assert {tuple(one["region"].cat.categories) for one in release} == {("north", "south", "west")}
    ordered = [
        one.astype({"region": pd.CategoricalDtype(one["region"].cat.categories, ordered=True)})
        for one in given
    ]
    other = pd.Categorical(given[1]["region"], ["west", "north", "south"], ordered=True)
    unlike = ImputedTables((ordered[0], ordered[1].assign(region=other)))
    with pytest.raises(SchemaError, match="region is an ordered categorical") as caught:
        unlike.alike()
    assert "west" not in str(caught.value)


def test_a_warning_of_every_fit_is_said_once(monkeypatch):
    original, calls = Unprotected.fit, []

    def warning_fit(self, plan, request):
        calls.append(1)
        warnings.warn(f"region: {len(calls)} levels are rare", PysynthdpWarning, stacklevel=2)
        return original(self, plan, request)

    monkeypatch.setattr(Unprotected, "fit", warning_fit)
    with pytest.warns(PysynthdpWarning) as said:
        fitted()
    assert len(calls) == 3
    assert [str(each.message) for each in said] == ["region: 1 levels are rare"]


def test_a_fit_that_fails_names_its_table(monkeypatch):
    original, calls = Unprotected.fit, []

    def failing(self, plan, request):
        calls.append(1)
        if len(calls) == 2:
            raise FitError("income: no fit; use 'norm'")
        return original(self, plan, request)

    monkeypatch.setattr(Unprotected, "fit", failing)
    with pytest.raises(FitError, match="in imputed table 2: income"):
        imputing.fit_imputed(
            sdp.Synthesizer(progress=False), ImputedTables(tuple(tables())), block_rows=None, workers=1
        )


def test_missing_cells_that_nobody_imputed_stay_missing():
    given = [one.assign(age=one["age"].where(np.arange(N) % 4 > 0).astype("Int64")) for one in tables()]
    release = sdp.synthesize(given, m=2, rng=1, progress=False)
    assert 0.1 < release[5]["age"].isna().mean() < 0.4
    assert release.nests == ("1", "1", "2", "2", "3", "3")


def test_settings_declared_for_columns_hold_for_all_tables():
    settings = sdp.Synthesizer(schema=fitted().schema, formulas=["income ~ sex * age"], progress=False)
    assert settings.fit(tables()).draw(m=2, k=50, rng=1).nests == ("1", "1", "2", "2", "3", "3")


def test_a_scale_is_told_only_where_all_imputations_agree() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=N)
    skewed = np.exp(x + 0.5 * rng.normal(size=N)).round(3)
    other = (20 + x + 0.5 * rng.normal(size=N)).round(3)
    alone = pd.DataFrame({"x": x, "y": skewed})

    def scale(*given: pd.DataFrame) -> str | None:
        fitted = sdp.Synthesizer(progress=False).fit(list(given) if len(given) > 1 else given[0])
        return next(s for s in fitted.draw(m=1, rng=1).tags.steps if s.columns == ("y",)).linear_on

    twin = alone.assign(y=alone["y"].where(alone.index > 0, alone["y"] + 0.001))
    assert scale(alone) == "log"
    assert scale(alone, twin) == "log"
    assert scale(alone.assign(y=other)) != "log"
    assert scale(alone, alone.assign(y=other)) is None


def parts(n: int = 3) -> list[pd.DataFrame]:
    """Cut one table where a month begins, so that one column is the same in all parts."""
    rng = np.random.default_rng(7)
    one = pd.DataFrame(
        {
            "month": np.tile(np.arange(1, 13), 10 * n),
            "sex": rng.choice(["F", "M"], 120 * n),
            "income": rng.normal(2000, 300, 120 * n).round(1),
        }
    )
    return [one.iloc[start : start + 120].reset_index(drop=True) for start in range(0, 120 * n, 120)]


def test_parts_of_one_table_that_pass_for_imputations_are_warned_of():
    with pytest.warns(PysynthdpWarning, match="2 of 3 columns agree") as said:
        sdp.Synthesizer(progress=False).fit(parts())
    (told,) = (each.message for each in said if each.message.kind == "imputed tables")
    assert "pd.concat(tables)" in str(told)
    assert "one file" in told.said("shell")


@pytest.mark.parametrize("change", ["plain", "index"])
def test_refused_parts_are_told_how_they_go_in(change):
    given = [one.drop(columns="month") for one in parts()]
    if change == "index":
        given[1].index += 120
    with pytest.raises(SchemaError, match="parts of one table go in as one") as caught:
        sdp.Synthesizer(progress=False).fit(given)
    assert "rbind()" in caught.value.said("r")
