"""Formulas take curves and single levels, plans print them, and what a plan prints gives the plan again."""

import numpy as np
import pandas as pd
import pytest

from pysynthdp import ZCDP, FittedSynthesizer, NumericColumn, PlanError, PrivacyError, Schema, Synthesizer
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.plan import Factor
from pysynthdp.protection.sampling.by_sampling import BySampling

RNG = np.random.default_rng(5)
N = 1500
TABLE = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], N),
        "my town": RNG.choice(["A", "B ]", "no answer"], N),
        "age": RNG.integers(18, 90, N).astype(float),
        "pay": np.where(RNG.random(N) < 0.2, np.nan, RNG.lognormal(3, 1, N).round(1)),
    }
)
TABLE["work"] = np.where(RNG.random(N) < np.where(TABLE["age"].between(30, 60), 0.9, 0.1), "yes", "no")
PRICED = {"a": COLUMN_MODELS["gaussian"](sigma=2.0), "b": COLUMN_MODELS["ridge"](penalty=50.0, sigma=2.0)}
FORMULAS = [
    "pay ~ sex * cr(age, 4) + `my town`[no answer] + I(age ** 2)",
    "pay (kind) ~ cut(age, 4) + `my town`[B ]]:sex[M]",
    "work ~ bs(age, 5) + log(pay) + hinge(age, 2):sex[M] + step(age, 3, 9) + pay[NA]:age",
]


def fit(formulas, **more):
    return Synthesizer(formulas=formulas, progress=False, **more).fit(TABLE)


def test_a_formula_is_read_into_factors() -> None:
    plan = Synthesizer(formulas=FORMULAS).plan(TABLE)
    kind, pay, work = plan.steps[-3:]
    town = Factor("my town", "level", ("B ]",))
    assert kind.terms == ((Factor("age", "cut", (4,)),), (town, Factor("sex", "level", ("M",))))
    assert (Factor("my town", "level", ("no answer",)),) in pay.terms
    assert ("age", "age") in pay.terms
    assert (Factor("age", "step", (3, 9)),) in work.terms
    assert "cut(age, 4)" in str(plan)
    assert plan.predictor_matrix.loc["work", ["pay", "age", "sex"]].all()


def test_what_a_plan_prints_gives_its_terms_and_copies_again(tmp_path) -> None:
    first = fit(FORMULAS)
    again = fit(first.plan.formulas)
    assert [step.terms for step in again.plan.steps] == [step.terms for step in first.plan.steps]
    copies = first.draw(m=1, rng=1).copies
    pd.testing.assert_frame_equal(copies[0], again.draw(m=1, rng=1).copies[0])
    first.save(tmp_path / "fit")
    saved = FittedSynthesizer.load(tmp_path / "fit")
    assert saved.plan.formulas == first.plan.formulas
    pd.testing.assert_frame_equal(copies[0], saved.draw(m=1, rng=1).copies[0])


@pytest.mark.parametrize("curve", ["cr(age, 4)", "bs(age, 5)", "cut(age, 8)"])
def test_a_curve_that_is_named_is_kept_and_lost_without(curve) -> None:
    # 1,500 rows of 0.9 or 0.1: the standard error of a share is below .02, and the straight line's is .5
    held = fit([f"work ~ {curve}"]).draw(m=1, rng=2).copies[0]
    lost = fit(["work ~ age"]).draw(m=1, rng=2).copies[0]
    share = [(c["work"][c["age"].between(38, 52)] == "yes").mean() for c in (held, lost)]
    assert share[0] > 0.75
    assert share[1] < 0.65


def test_a_logarithm_of_a_number_that_is_not_above_zero_in_copies_is_finite() -> None:
    table = TABLE.assign(pay=TABLE["pay"].fillna(1.0) - 5.0)
    fitted = Synthesizer(formulas=["work ~ log(pay)"], method={"pay": "norm"}, progress=False).fit(table)
    assert fitted.draw(m=1, rng=1).copies[0]["work"].notna().all()


def test_no_curve_under_noise_and_none_without_bounds_under_sampling() -> None:
    number = {"lower": 0.0, "upper": 9.0, "fallback": 0.0, "may_be_missing": False}
    schema = Schema((NumericColumn("a", **number), NumericColumn("b", **number)))
    with pytest.raises(PrivacyError, match=r"no curve or single level such as bs\(a, 4\)"):
        Synthesizer(schema=schema, formulas=["b ~ bs(a, 4)"], guarantee=ZCDP(1.0)).plan()
    sampling = {"schema": schema, "method": PRICED, "guarantee": BySampling()}
    with pytest.raises(PrivacyError, match=r"use bs\(a, 4\) in its place"):
        Synthesizer(formulas=["b ~ cr(a, 4)"], **sampling).plan()
    with pytest.raises(PrivacyError, match="lower bound above zero"):
        Synthesizer(formulas=["b ~ log(a)"], **sampling).plan()


def test_curves_under_sampling_have_their_places_by_declared_bounds() -> None:
    number = {"lower": 0.0, "upper": 9.0, "fallback": 0.0, "may_be_missing": False}
    schema = Schema((NumericColumn("a", **number), NumericColumn("b", **number)))
    asked = Synthesizer(
        schema=schema,
        method=PRICED,
        guarantee=BySampling(),
        formulas=["b ~ bs(a, 4)"],
        progress=False,
    )
    rows = pd.DataFrame({"a": RNG.uniform(0, 9, 200), "b": RNG.uniform(0, 9, 200)})
    first, second = asked.fit(rows), asked.fit(rows.assign(a=[*rows["a"][1:], 9.0]))
    assert first.plan.price(n=200).to_table() is not None
    one, other = (each._machine.fit.layout.curves for each in (first, second))
    assert one == other
    assert one[0].knots == (0.0, 4.5, 9.0)
    assert first.plan.formulas == second.plan.formulas
    steps = [each.draw(m=1, k=5).tags.steps for each in (first, second)]
    assert steps[0] == steps[1]
    assert not any(step.tested for step in steps[0])


def test_a_product_of_fewer_than_five_records_is_left_out() -> None:
    table = TABLE.assign(rare=["yes"] * 8 + ["no"] * (N - 8))
    table.loc[4:7, "sex"], table.loc[0:3, "sex"] = "M", "F"
    order = [*table.columns.drop("work"), "work"]
    with pytest.warns(match="rests on fewer than five records"):
        Synthesizer(formulas=["work ~ rare[yes]:sex[M] + age"], visit_sequence=order, progress=False).fit(
            table
        )


def test_slips_are_named() -> None:
    with pytest.raises(PlanError, match="cr takes a column and a number from 2"):
        Synthesizer(formulas=["work ~ cr(age, 99)"]).plan(TABLE)
    with pytest.raises(PlanError, match="hinge takes a column and which of 4 places"):
        Synthesizer(formulas=["work ~ hinge(age, 7)"]).plan(TABLE)
