"""Households with a survey's design, with columns that stay real, and with models by stratum."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError
from tests.unit.synthesizer.test_units import asked, people, quietly
from tests.unit.synthesizer.test_units_guaranteed import asked as guaranteed

DESIGN = sdp.Design(weight="w", strata="region")


def sampled(n=400, seed=1):
    """Make households of a sample with two weights a region, the same for all members."""
    table = people(n, seed)
    rng = np.random.default_rng(seed)
    heads = table.drop_duplicates("hid")
    own = np.where(heads.region == "north", 10.0, 25.0) + 2 * rng.integers(0, 2, len(heads))
    return table.assign(w=table.hid.map(pd.Series(own, index=heads.hid)))


@pytest.fixture(scope="module")
def table():
    """Give households of a sample."""
    return sampled()


@pytest.fixture(scope="module")
def kept(table):
    """Fit them with the design kept real."""
    return quietly(asked(design=DESIGN), table)


@pytest.fixture(scope="module")
def release(kept):
    """Draw copies."""
    return kept.draw(m=3, rng=1)


def test_the_design_of_units_stays_real_unit_by_unit_and_sizes_are_drawn(table, kept, release):
    real = table.drop_duplicates("hid").reset_index(drop=True)
    assert not kept.remarks
    for copy in release:
        heads = copy.drop_duplicates("hid").reset_index(drop=True)
        assert copy.groupby("hid").w.nunique().max() == 1
        np.testing.assert_array_equal(heads.w, real.w)
        assert pd.crosstab(heads.region, real.region).gt(0).sum().sum() == 2  # new names, the same groups
        assert set(heads.region) == {"1", "2"}
        assert (copy.groupby("hid").age.transform("size") == copy.hsize).all()
    assert not (release[0].drop_duplicates("hid").hsize.to_numpy() == real.hsize.to_numpy()).all()
    assert release.tags.kept == {"w", "region"}
    assert not release.tags.kept & release.tags.synthesised
    assert "REAL values of w, region" in str(release.privacy).replace("\n               ", " ")
    with pytest.raises(PlanError, match="rows of the confidential table"):
        kept.draw(m=1, k=300)
    with pytest.raises(PrivacyError, match="holds the real values of"):
        kept.save("nowhere.zip")


def test_every_model_of_every_place_has_strata_and_weight_among_its_terms(kept):
    for plan in (kept.plan.first, *(own.plan for own in kept.plan.places)):
        for formula in plan.formulas:
            assert "region" in formula
            assert "log(w)" in formula


def test_the_variance_of_the_design_is_of_units(table, release):
    assert release.tags.details["design"]["columns"] == {"weight": "w", "strata": "region", "psu": "hid"}
    result = sdp.svymean("age", release)
    within = []
    for copy in release:  # an oracle: linearised totals of households in their strata
        mean = np.average(copy.age, weights=copy.w)
        scores = copy.assign(z=copy.w * (copy.age - mean) / copy.w.sum()).groupby(["region", "hid"]).z.sum()
        parts = [own.var(ddof=1) * len(own) for _, own in scores.groupby("region")]
        within.append(sum(parts))
    assert float(result.ubar.iloc[0]) == pytest.approx(np.mean(within), rel=1e-9)
    homes = release.units()
    np.testing.assert_allclose(homes[0].w, table.drop_duplicates("hid").w)
    assert float(sdp.svytotal("rent", homes).qbar.iloc[0]) == pytest.approx(
        np.mean([(copy.rent * copy.w).sum() for copy in homes])
    )


def test_blocks_and_folders_hold_the_same_real_columns(kept, release, tmp_path, monkeypatch):
    monkeypatch.setattr("pysynthdp.draw.unit_machine.BLOCK_ROWS", 128)
    in_blocks = kept.draw(m=1, rng=2)[0].drop_duplicates("hid")
    np.testing.assert_array_equal(in_blocks.w, release[0].drop_duplicates("hid").w)
    folder = kept.draw_to(tmp_path / "out", m=1, rng=2)
    pd.testing.assert_frame_equal(sdp.SyntheticRelease.load(folder)[0], kept.draw(m=1, rng=2)[0])


def test_units_that_stand_out_are_counted_and_not_their_rows(table):
    heads = table.drop_duplicates("hid")
    unique = pd.Series(np.linspace(1, 2, len(heads)), index=heads.hid)
    with pytest.raises(PrivacyError, match=r"100.0 % of the units are alone"):
        asked(design=DESIGN).fit(table.assign(w=table.hid.map(unique)))  # no row of two members is alone
    small = table.assign(region=np.where(table.hid.isin(heads.hid[:4]), "few", "many"))
    assert (small.region == "few").sum() > 4
    fitted = quietly(asked(design=sdp.Design(weight="w", strata="region", accept=1.0)), small)
    assert any("1 stratum has fewer than 5 units" in str(remark.what) for remark in fitted.remarks)


def test_a_weight_of_units_is_drawn_last_and_moved_to_totals(table, tmp_path):
    totals = {"region": {"north": 4000, "south": 6000}}
    fitted = quietly(asked(design=sdp.Design(weight="w", how="synthesise", totals=totals)), table)
    assert fitted.plan.first.visit_sequence[-1] == "w"
    assert not any("w" in own.plan.keep for own in fitted.plan.places)
    release = fitted.draw(m=2, rng=1)
    for copy in release:
        sums = copy.groupby("region").w.sum()
        assert sums.to_dict() == pytest.approx({"north": 4000, "south": 6000})
        assert copy.groupby("hid").w.nunique().max() == 1
    assert "not that of the survey's design" in " ".join(str(sdp.svymean("age", release)).split())
    stored = sdp.SyntheticRelease.load(fitted.draw_to(tmp_path / "out", m=2, rng=1))
    pd.testing.assert_frame_equal(stored[1], release[1])
    again = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit.zip"))
    pd.testing.assert_frame_equal(again.draw(m=2, rng=1)[1], release[1])


def test_replicate_weights_are_made_anew_of_whole_units(table):
    names = [f"r{number}" for number in range(1, 13)]
    few = table[table.hid.isin(table.hid.drop_duplicates()[:12])].assign(**dict.fromkeys(names, 1.0))
    design = sdp.Design(weight="w", replicate_weights=names, replicates="rebuild", rebuild="JK1", accept=1.0)
    copy = quietly(asked(design=design), few).draw(m=1, rng=1)[0]
    zero = copy.assign(**{name: copy[name] == 0 for name in names}).groupby("hid")[names].mean()
    assert (zero.to_numpy() == np.eye(12)).all()  # each leaves one unit out, whole


def test_units_of_odd_weights_are_left_out_whole(table):
    first = table.hid.iloc[0]
    odd = table.assign(w=table.w.where(table.hid != first, 0.0))
    with pytest.raises(PlanError, match="zero"):
        asked(design=DESIGN).fit(odd)
    dropped = sdp.Design(weight="w", strata="region", odd_weights="drop")
    assert quietly(asked(design=dropped), odd).n_org == 399


def test_columns_of_units_stay_real_with_them_also_their_sizes(table):
    real = table.drop_duplicates("hid")
    fitted = quietly(asked(keep=["hsize", "rent"]), table)
    copy = fitted.draw(m=1, rng=1)[0]
    heads = copy.drop_duplicates("hid")
    np.testing.assert_array_equal(heads.hsize, real.hsize)
    np.testing.assert_array_equal(heads.rent, real.rent)
    np.testing.assert_array_equal(copy.groupby("hid").size(), real.hsize)
    declared = sdp.Units(id="hid", size="hsize", order="age desc", member="pid", shared=["region"])
    assert "rent" in quietly(asked(keep=["rent"], units=declared), table).plan.shared


def test_models_are_fitted_apart_by_what_whole_units_have(table):
    shifted = table.assign(age=table.age + np.where(table.region == "south", 20, 0))
    shifted = shifted.drop(columns=["pay", "eqSS", "eqPay", "w", "rent"])
    plain = {"derive": {}, "universe": {}, "strata": "region"}
    fitted = quietly(asked(**plain), shifted)
    assert len(fitted.strata) == 2
    assert all(step.within for own in fitted.plan.places for step in own.plan.steps)
    copy = fitted.draw(m=1, rng=1)[0]
    assert copy[copy.region == "south"].age.min() >= 18
    by_size = quietly(asked(**{**plain, "strata": "hsize"}), shifted)
    assert by_size.plan.first.visit_sequence[0] == "hsize"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"keep": ["sex"]}, "keep names sex, which differs among the rows of"),
        ({"keep": ["age"]}, "keep names age, which differs"),
        ({"strata": "sex"}, "strata names sex, which differs"),
        ({"design": sdp.Design(weight="own")}, "design names own, which differs .* units are sampled whole"),
        (
            {"design": sdp.Design(weight="w", how="synthesise", totals={"sex": {"f": 1, "m": 1}})},
            "totals names sex",
        ),
        ({"keep": ["pid"]}, "keep names pid, of which units themselves are made"),
        ({"strata": "hid"}, "strata names hid, of which"),
        ({"design": sdp.Design(psu="hid")}, "sampling units by themselves"),
        ({"design": sdp.Design(weight="w", how="population")}, "made row by row"),
        ({"keep": ["agee"]}, "keep names 'agee', which is no column; did you mean"),
        ({"design": sdp.Design(weight="ww")}, "design names .ww., which is no column; did you mean"),
        ({"strata": ["regio"]}, "strata names 'regio', which is no column; did you mean"),
    ],
)
def test_what_is_of_rows_is_refused_by_name_where_units_are_asked_for(table, settings, words):
    with pytest.raises((PlanError, SchemaError), match=words):
        asked(**settings).fit(table.assign(own=table.w + table.pid))


def test_the_id_of_units_may_be_named_as_the_sampling_unit(table):
    fitted = quietly(asked(design=sdp.Design(weight="w", strata="region", psu="hid")), table)
    assert fitted.plan.keep == ("w", "region")


def test_replicate_weights_and_weights_among_other_columns_are_told(table):
    heads = table.drop_duplicates("hid")
    rng = np.random.default_rng(3)
    half = rng.integers(0, 2, (len(heads), 8)) * 2.0 * heads.w.to_numpy()[:, None]
    more = pd.DataFrame(half, index=heads.hid, columns=[f"brr{number}" for number in range(1, 9)])
    with pytest.raises(PlanError, match="brr1"):
        asked(design=DESIGN).fit(table.join(more, on="hid"))
    with pytest.warns(sdp.PysynthdpWarning, match="pweight: it looks like a sampling weight"):
        asked().fit(table.rename(columns={"w": "pweight"}))


def test_a_column_of_units_is_drawn_last_in_any_order(table):
    order = ["w", "region", "rent", "age", "sex", "pay"]
    design = sdp.Design(weight="w", how="synthesise", totals=9000)
    fitted = quietly(asked(design=design, visit_sequence=order), table)
    assert fitted.plan.first.visit_sequence[-1] == "w"


@pytest.mark.parametrize(
    "settings",
    [{"keep": ["region"]}, {"design": sdp.Design(weight="age", how="synthesise", totals=100.0)}],
)
def test_a_guarantee_of_whole_units_keeps_nothing_real_and_draws_no_weight(settings):
    with pytest.raises(PlanError, match=f"{next(iter(settings))} does not go with units under a guarantee"):
        guaranteed(**settings)


def test_fits_of_units_take_them_by_weight_unless_asked_not_to(table, release):
    once = quietly(asked(design=sdp.Design(weight="w", strata="region", weighted=False)), table)
    assert not once.draw(m=1, rng=1)[0].age.equals(release[0].age)
    own = quietly(asked(design=DESIGN, method={"pay": "cart"}), table)
    assert [(each.column, each.kind) for each in own.remarks if each.kind == "weights"] == [
        ("pay", "weights")
    ]
