"""Predictors of wide tables: chosen by what they add, said, and never against the user."""

from __future__ import annotations

import io
import re
import sys
import time

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PysynthdpWarning
from pysynthdp.curator import Curator
from pysynthdp.curator.learn import screening
from pysynthdp.curator.learn.predictors import forward
from pysynthdp.curator.look import size, slow_plan
from pysynthdp.design.encode import Layout
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.terms import MOST

WIDE = 40


def items(n: int = 600, columns: int = WIDE, *, seed: int = 1) -> pd.DataFrame:
    """Items of five levels that hang on three latent numbers."""
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 3)) @ rng.standard_normal((3, columns))
    cut = np.digitize(latent + rng.standard_normal((n, columns)), [-2, -0.7, 0.7, 2])
    return pd.DataFrame(cut, columns=[f"q{place}" for place in range(columns)])


def fitted_plan(table: pd.DataFrame, **settings: object) -> SynthesisPlan:
    """The plan of a fit that has more columns than predictors."""
    with pytest.warns(
        PysynthdpWarning,
        match=r"(models are|one model is) given the \d+ columns that tell",
    ):
        return sdp.Synthesizer(progress=False, terms="main", workers=1, **settings).fit(table).plan


def terms(plan: SynthesisPlan) -> dict[str, list[str]]:
    """Predictors of each column."""
    return {step.targets[0].column: [name for (name,) in step.terms] for step in plan.steps}


def test_what_stands_alone_is_taken_before_what_says_the_same_again():
    # five readings of one number, each far nearer to y than the one other cause: by correlations alone, that
    # one would come last
    rng = np.random.default_rng(0)
    cause, other = rng.standard_normal((2, 2000))
    near = [cause + 0.1 * rng.standard_normal(2000) for _ in range(5)]
    y = cause + 0.4 * other
    R = np.corrcoef([*near, other, y])
    groups = [np.array([place]) for place in range(6)]
    assert set(np.argsort(-np.abs(R[:-1, -1]))[:5]) == {0, 1, 2, 3, 4}
    assert 5 in forward(R[:6, :6], R[:6, 6:], groups, most=2, n=2000)


def test_forward_is_forward_selection_by_least_squares():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 12)) @ rng.standard_normal((12, 12))
    y = X @ rng.standard_normal(12) + 3 * rng.standard_normal(300)
    R = np.corrcoef([*X.T, y])
    found = forward(R[:12, :12], R[:12, 12:], [np.array([j]) for j in range(12)], most=6, n=300)
    taken: list[int] = []
    X, y = X - X.mean(axis=0), y - y.mean()
    while len(taken) < 6:
        left = [j for j in range(12) if j not in taken]
        loss = [np.linalg.lstsq(X[:, [*taken, j]], y, rcond=None)[1][0] for j in left]
        taken.append(left[int(np.argmin(loss))])
    assert found == taken


def test_the_columns_behind_a_column_are_chosen():
    table = items()
    rng = np.random.default_rng(5)
    causes = ["q3", "q17", "q30"]
    table["y"] = table[causes].sum(axis=1) * 10.0 + rng.standard_normal(len(table)).round(2)
    plan = fitted_plan(table)
    assert set(causes) <= set(terms(plan)["y"])


def test_as_many_as_asked_for_in_the_order_of_drawing():
    plan = fitted_plan(items(), max_predictors=4)
    order = list(plan.visit_sequence)
    for place, name in enumerate(order):
        chosen = terms(plan)[name]
        assert len(chosen) == min(place, 4)
        assert chosen == sorted(chosen, key=order.index)
        assert all(order.index(each) < place for each in chosen)


def test_a_narrow_table_keeps_all_and_says_nothing():
    table = items(columns=MOST + 1)
    plan = sdp.Synthesizer(progress=False, terms="main", workers=1).fit(table).plan
    assert all(len(step.terms) == place for place, step in enumerate(plan.steps))
    everything = (
        sdp.Synthesizer(progress=False, terms="main", workers=1, max_predictors=WIDE).fit(items()).plan
    )
    assert len(everything.steps[-1].terms) == WIDE - 1


def test_a_predictor_matrix_and_a_formula_win():
    names = [f"q{place}" for place in range(30)]
    asked = {"q35": names, "q36": []}
    plan = fitted_plan(items(), predictor_matrix=asked, formulas=[f"q37 ~ {' + '.join(names)}"])
    found = terms(plan)
    assert found["q35"] == names
    assert found["q36"] == []
    assert found["q37"] == names
    assert len(found["q34"]) == MOST


def test_neither_workers_nor_blocks_change_the_choice():
    table = items(n=1500)
    with pytest.warns(PysynthdpWarning):
        one, two = (
            sdp.Synthesizer(progress=False, terms="main", workers=workers).fit(table, block_rows=blocks).plan
            for workers, blocks in ((1, None), (2, 311))
        )
    assert terms(one) == terms(two)


def test_all_imputed_tables_have_the_choice_of_the_first():
    table = items()
    other = table.mask(np.random.default_rng(2).random(table.shape) < 0.05).ffill().bfill().astype(int)
    first = fitted_plan(table)
    assert terms(first) != terms(fitted_plan(other))
    with pytest.warns(PysynthdpWarning):
        both = sdp.Synthesizer(progress=False, terms="main", workers=1).fit([table, other])
    assert terms(both.plan) == terms(first)
    assert len(both.draw(m=1, rng=1)) == 2


def test_plan_tags_and_statement_tell_the_choice():
    with pytest.warns(PysynthdpWarning):
        fitted = sdp.Synthesizer(progress=False, terms="main", workers=1).fit(items())
    release = fitted.draw(m=1, rng=1)
    last = release.tags.steps[-1]
    assert last.terms == fitted.plan.steps[-1].terms
    assert len(last.terms) == MOST
    assert f"{MOST} of {WIDE - 1} columns: " in str(fitted.plan)
    (told,) = [fact for fact in release.privacy.learned if fact.startswith("which columns tell most of")]
    assert told == "which columns tell most of " + ", ".join(f"q{j}" for j in range(MOST + 1, WIDE))


@pytest.mark.parametrize("wrong", [0, -3, 2.5, True, "15"])
def test_what_is_no_number_of_predictors_is_refused(wrong: object):
    with pytest.raises(PlanError, match="max_predictors must be a whole number"):
        sdp.Synthesizer(max_predictors=wrong)


def test_under_a_guarantee_the_nearest_earlier_columns_are_taken():
    columns = [sdp.CategoricalColumn(f"q{place}", levels=(0, 1, 2, 3, 4), other=0) for place in range(WIDE)]
    schema = sdp.Schema(tuple(columns))
    asked = {"schema": schema, "guarantee": sdp.ZCDP(1.0)}
    plan = sdp.Synthesizer(**asked, max_predictors=3).plan()
    for place, given in enumerate(plan.protection.given(plan)):
        assert [name for (name,) in given] == [f"q{each}" for each in range(max(0, place - 3), place)]
    every = sdp.Synthesizer(**asked).plan()
    assert len(every.protection.given(every)[-1]) == WIDE - 1


def test_a_guarantee_takes_no_choice_from_rows():
    from pysynthdp.curator.learn.steps import learned_steps

    schema = sdp.Schema((sdp.CategoricalColumn("a", levels=(0, 1), other=0),))
    plan = sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(1.0)).plan()
    with pytest.raises(TypeError, match="guarantee"):
        learned_steps(plan, None, {}, {})  # type: ignore[arg-type]


def test_names_of_features_are_built_once(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    plain = Layout.feature_names
    monkeypatch.setattr(
        Layout, "feature_names", lambda own, part: asked.append(part.column) or plain(own, part)
    )
    table = pd.DataFrame(np.random.default_rng(1).standard_normal((200, 60))).add_prefix("x")
    sdp.Synthesizer(method="norm", progress=False, workers=1, max_predictors=60).fit(table)
    assert 60 <= len(asked) <= 3 * 60  # of two layouts at most, however many steps have them as features


def test_a_plan_is_judged_slow_in_one_look_at_each_column(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    plain = size.parts_of
    monkeypatch.setattr(size, "parts_of", lambda column: asked.append(column.name) or plain(column))
    plan = sdp.Synthesizer().plan(items())
    slow_plan(plan)
    assert len(asked) == WIDE


def test_a_bar_tells_how_long_a_wide_fit_takes_before_the_first_column_is_fitted(
    monkeypatch: pytest.MonkeyPatch,
):
    screen, seen = io.StringIO(), []
    screen.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", screen)
    slow = lambda step, _: time.sleep(0.02) or (step, False)  # noqa: E731 -- as a long table's
    monkeypatch.setattr(screening, "_screened", slow)
    plain = Curator.fit_all
    monkeypatch.setattr(Curator, "fit_all", lambda *given: seen.append(screen.getvalue()) or plain(*given))
    table = items(200, 24)
    with pytest.warns(PysynthdpWarning):
        sdp.Synthesizer(workers=1).fit(table)
    assert re.search(r"\d+/48 \[\d\d:\d\d<\d\d:\d\d", seen[0])  # done, of all, elapsed < left
