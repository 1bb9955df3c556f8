"""Several columns by the noisy counts of their table: what is asked, priced, drawn, refused and said."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from fractions import Fraction
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.io.plans.plan_file import read_plan, write_plan
from pysynthdp.privacy.noise.moment_scales import DIAGONAL, OFF_DIAGONAL

_SPEC = importlib.util.spec_from_file_location("neighbours", Path(__file__).parents[3] / "neighbours.py")
shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = shared
_SPEC.loader.exec_module(shared)
TABLE = ["a", "b", "c"]
JOINT = [(TABLE, "catall")]


def level(name: str, levels: list[str], **facts: object) -> sdp.CategoricalColumn:
    """Declare a column of levels."""
    return sdp.CategoricalColumn(name, levels, other=levels[0], **{"may_be_missing": False} | facts)


SCHEMA = sdp.Schema(
    [
        level("old", ["no", "yes"]),
        level("a", ["0", "1"]),
        level("b", ["0", "1"]),
        level("c", ["0", "1"], may_be_missing=True, missing={"-8": "refused"}),
        level("d", ["0", "1"]),
        sdp.NumericColumn("x", lower=0, upper=10, may_be_missing=False, fallback=5),
    ]
)


def table(n: int = 2_000, seed: int = 1) -> pd.DataFrame:
    """Three columns that are independent two by two, though the third is told by the others."""
    rng = np.random.default_rng(seed)
    old, a, b = (rng.random(n) < share for share in (0.3, 0.5, 0.5))
    a = np.where(rng.random(n) < 0.3, old, a)
    c = (a ^ b).astype(int).astype(str).astype(object)
    c[rng.random(n) < 0.1] = None
    c[(rng.random(n) < 0.3) & old] = "-8"
    d = rng.random(n) < 0.2 + 0.5 * b
    x = (3 + 2 * a + rng.normal(0, 1, n)).clip(0, 10)
    text = {name: cells.astype(int).astype(str) for name, cells in (("a", a), ("b", b), ("d", d))}
    return pd.DataFrame({"old": np.where(old, "yes", "no"), **text, "c": c, "x": x})[list(SCHEMA.names)]


def settings(rho: float = 1.0, **changes: object) -> sdp.Synthesizer:
    """Three columns together, given the one before them."""
    asked = {"schema": SCHEMA, "guarantee": sdp.ZCDP(rho), "joint": JOINT, "progress": False}
    return sdp.Synthesizer(**asked | changes)


def held(frame: pd.DataFrame) -> float:
    """Share of rows whose third column is what the other two say, of those that have one."""
    said = (frame.a.astype(str) == "1") ^ (frame.b.astype(str) == "1")
    there = frame.c.isin(["0", "1"])
    return float((said == (frame.c.astype(str) == "1"))[there].mean())


def test_relations_of_three_columns_are_kept_and_those_with_columns_before_and_after():
    real = table(8_000)
    release = settings(50.0).fit(real).draw(4, rng=1)
    both = pd.concat(release.copies)
    assert held(both) > 0.97
    assert held(settings(50.0, joint=()).fit(real).draw(1, rng=1)[0]) < 0.6  # tables of two do not hold it
    texts = both.astype(dict.fromkeys("abcd", object) | {"old": object})
    for given, name in (("old", "a"), ("old", "c"), ("b", "d")):
        shares = [
            pd.crosstab(frame[given], frame[name].where(frame[name].notna(), "NA"), normalize="index")
            for frame in (texts, real)
        ]
        assert np.abs(shares[0] - shares[1]).to_numpy().max() < 0.02
    gap = [frame.groupby("a", observed=True).x.mean().diff().iloc[-1] for frame in (both, real)]
    assert gap[0] == pytest.approx(gap[1], abs=0.08)


def test_exact_counts_are_drawn_as_they_are_where_nothing_comes_before():
    schema = sdp.Schema([SCHEMA[name] for name in TABLE])
    real = table(5_000)[TABLE]
    release = settings(1e4, schema=schema).fit(real).draw(1, k=50_000, rng=1)
    counts = [frame.astype(object).fillna("NA").value_counts(normalize=True) for frame in (release[0], real)]
    assert counts[0].sub(counts[1], fill_value=0).abs().max() < 0.012


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_the_price_is_that_of_one_count_a_row(relation):
    # two counts move by one under replacement, one otherwise: rho = (2 or 1)/(2 sd^2), whatever the cells
    schema = sdp.Schema([SCHEMA[name] for name in TABLE])
    noise = sdp.ByNoise(sdp.ZCDP(0.3), unit=sdp.PrivacyUnit(relation))
    price = settings(schema=schema, guarantee=noise).plan().price(n=2_000)
    asked = price.questions[-1]
    sd = asked.sd * OFF_DIAGONAL / DIAGONAL
    moved = 2 if relation == "replace_one" else 1
    wanted = moved / (2 * sd**2)
    paid = float(asked.cost(relation))
    assert wanted <= paid <= wanted * 9801 / 9800 * (1 + 1e-9)
    assert price.guarantee.rho <= 0.3


def test_the_price_is_that_of_one_column_with_as_many_levels():
    cells = prod((2, 2, 4))
    one = level("a", [str(number) for number in range(cells)])
    columns = [one, *(column for column in SCHEMA if column.name not in TABLE)]
    plain = settings(schema=sdp.Schema(columns), joint=()).plan()
    got, wanted = settings().plan().price(n=2_000), plain.price(n=2_000)
    assert got.questions == wanted.questions
    apart = settings(joint=()).plan().price(n=2_000)
    assert got.questions[0].sd < apart.questions[0].sd  # a row moves one count instead of three


def test_one_record_moves_what_is_asked_by_what_was_paid_at_most_and_nothing_is_told(monkeypatch):
    usual, asked, most = table(300), settings(2.0), Fraction(0)
    for cells in (("1", "1", "1"), ("0", "0", None), ("0", "1", "-8"), ("1", 7, "what"), (None, None, None)):
        other = usual.astype(object)
        other.loc[7, TABLE] = cells
        other.loc[7, ["old", "d", "x"]] = ["yes" if usual.old[7] == "no" else "no", "1", 9.5]
        with shared.watched(monkeypatch) as one, warnings.catch_warnings():
            warnings.simplefilter("error")
            first = asked.fit(usual).draw(2, rng=1)
        with shared.watched(monkeypatch, one) as two, warnings.catch_warnings():
            warnings.simplefilter("error")
            second = asked.fit(other).draw(2, rng=1)
        lost = shared.loss(one, two)
        assert lost <= Fraction(2)
        assert shared.changed_rows(one, two) <= {7}
        assert all(left.equals(right) for left, right in zip(first, second, strict=True))
        assert first.tags == second.tags
        assert str(first.privacy) == str(second.privacy)
        most = max(most, lost)
    assert most > 1


def test_cells_that_noise_hides_are_said_from_answers_alone():
    flags = settings(0.05).fit(table()).draw(1, rng=1).tags.details["flags"]
    said = next(flag for flag in flags if flag.startswith("hidden cells"))
    assert "cells of the table of a, b, c have fewer than" in said
    assert "combinations that no record has may be drawn" in said
    quiet = settings(1e4).fit(table(20_000)).draw(1, rng=1)
    assert any("hidden cells: about 4 of the 16 cells" in flag for flag in quiet.tags.details["flags"])


def test_the_statement_names_the_columns_and_the_release_is_verified(tmp_path):
    release = settings(2.0).fit(table()).draw(2, rng=1)
    assert "a, b, c" in str(release.privacy)
    step = next(own for own in release.tags.steps if own.columns == tuple(TABLE))
    assert (step.model, step.together) == ("catall", 3)
    release.save(tmp_path / "out", formats=("csv",))
    assert sdp.verify(tmp_path / "out").status == "right"


def test_fresh_noise_for_each_copy_confidential_n_and_answers_on_file(tmp_path):
    noise = sdp.ByNoise(sdp.ZCDP(20.0), fresh=2, unit=sdp.PrivacyUnit("add_remove"))
    file = tmp_path / "answers.json"
    fit = settings(guarantee=noise).fit(table(), answers=file)
    again = settings(guarantee=noise).fit(answers=file)
    left, right = fit.draw(2, rng=3), again.draw(2, rng=3)
    assert all(one.equals(other) for one, other in zip(left, right, strict=True))


def test_a_plan_file_keeps_it(tmp_path):
    asked = {"joint": JOINT, "guarantee": sdp.ZCDP(1.0)}
    back = read_plan(write_plan(asked, tmp_path / "plan.toml"))
    plan = sdp.Synthesizer(schema=SCHEMA, **back).plan()
    assert [step.label for step in plan.steps] == ["old", "a, b, c", "d", "x"]
    assert plan.price(n=500) == settings().plan().price(n=500)


def test_what_has_no_such_counts_is_refused_by_name():
    with pytest.raises(PrivacyError, match="x: noisy counts of cells take columns of levels"):
        settings(joint=[(["a", "x"], "catall")]).plan()
    numbers = sdp.Schema(
        [sdp.NumericColumn(name, lower=0, upper=1, may_be_missing=False, fallback=0) for name in "uv"]
    )
    with pytest.raises(PlanError, match="which noisy cross-products do anyway"):
        settings(schema=numbers, joint=[(["u", "v"], "multivariate_normal")]).plan()
    many = [level(name, [str(number) for number in range(40)]) for name in ("p", "q")]
    with pytest.raises(PrivacyError, match="the table of p, q has 1,600 cells, and one noisy matrix holds"):
        settings(schema=sdp.Schema(many), joint=[(["p", "q"], "catall")]).plan()
    two = sdp.Schema([level("p", ["0", "1"]), level("q", ["0", "1"])])
    with pytest.raises((PrivacyError, PlanError), match=r"joint|catall"):
        settings(schema=two, guarantee=sdp.BySampling(), joint=[(["p", "q"], "catall")]).plan()
