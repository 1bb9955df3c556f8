"""What an evaluation of risk computes, against numbers by hand; what it refuses, and what is not there."""

from __future__ import annotations

import json
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import FitError, PysynthdpError, SchemaError, SettingError
from pysynthdp.evaluate.risk.asked import asked
from pysynthdp.evaluate.risk.bound import most_true_positives
from pysynthdp.evaluate.risk.cells import attribute, identity, intruders
from pysynthdp.evaluate.risk.coding import Files
from pysynthdp.evaluate.risk.records import shared_rare
from pysynthdp.evaluate.sealed import sealed_copies
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(20, 40, n),
            "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
        }
    )


def measured(real, copies, **more):
    return sdp.disclosure_risk(
        real, copies, **{"keys": {"k": ["sex", "age"]}, "targets": ["ill"], "attacks": 20, **more}
    )


def test_over_all_copies_somebody_is_at_risk_who_is_in_one_of_them():
    real = pd.DataFrame({"a": ["x", "y", "z", "w"], "t": ["1", "1", "2", "2"]})
    first = pd.DataFrame({"a": ["x", "x", "y", "v"], "t": ["1", "2", "1", "1"]})
    second = pd.DataFrame({"a": ["x", "z", "z", "v"], "t": ["1", "2", "2", "1"]})
    found = sdp.disclosure_risk(real, [first, second], keys=["a"], targets=["t"], attacks=5).tables()
    repu = found["identity"].set_index("of")["RepU"]
    assert repu.to_dict() == {"copy 1": 25.0, "copy 2": 25.0, "any copy": 50.0}
    disco = found["attribute"].set_index("of")["DiSCO"]
    assert disco.to_dict() == {"copy 1": 25.0, "copy 2": 50.0, "any copy": 75.0, "stacked": 50.0}
    growth = found["growth"].query("measure == 'RepU'")
    assert growth["value"].tolist() == [25.0, 50.0]


def test_people_never_used_are_judged_as_if_each_had_joined_the_table():
    real = pd.DataFrame({"a": ["x", "x", "y"], "t": ["1", "1", "2"]})
    fresh = pd.DataFrame({"a": ["x", "z", "u", "y"], "t": ["1", "1", "2", "1"]})
    copy = pd.DataFrame({"a": ["z", "x", "x"], "t": ["1", "1", "1"]})
    found = sdp.disclosure_risk(real, copy, keys=["a"], targets=["t"], holdout=fresh, attacks=3)
    row = found.table("RepU").query("of == 'any copy'").iloc[0]
    assert (row["RepU"], row["control"]) == (0.0, 25.0)  # z would be alone, and is alone in the copy
    row = found.table("DiSCO").query("of == 'any copy'").iloc[0]
    assert row["DiSCO"] == pytest.approx(200 / 3)
    assert row["control"] == 50.0  # x and z


def test_people_of_refits_are_unique_as_they_are_in_the_whole_table():
    """The table itself stands for each fit's copies, so that the control of RepU is UiO."""
    real, copies = table(90), table(90)
    want = asked(["sex", "age", "ill"], keys=["sex", "age"], targets=["ill"])
    files = Files(real.iloc[:60], (copies,), real.iloc[60:], left_out=True)
    cells = want.cells(files, want.coded(files), "keys", "ill")
    shown = identity(cells, intruders(cells)[0], fresh=True)
    alone = ~real.duplicated(["sex", "age"], keep=False)
    assert shown["RepU"] == pytest.approx(100 * alone.iloc[60:].mean())
    fixed = real.groupby(["sex", "age"])["ill"].transform("nunique") == 1
    found = attribute(cells, intruders(cells)[0], fresh=True)
    assert found["Dorig"] == pytest.approx(100 * fixed.iloc[60:].mean())


def test_earlier_releases_count_in_the_growth():
    real = table()
    copies = [table(seed=seed) for seed in (1, 2, 3)]
    found = measured(real, copies[2], earlier=[copies[:2]])
    growth = found.table("growth").query("measure == 'RepU'")
    assert growth["release"].tolist() == [1, 1, 2]
    assert growth["value"].is_monotonic_increasing
    together = measured(real, copies).table("RepU").query("of == 'any copy'")["RepU"].iloc[0]
    assert growth["value"].iloc[-1] == pytest.approx(together)
    assert ("earlier releases of this source, counted in growth", 1) in found.facts


def test_match_risk_is_that_of_reiter_and_mitra():
    """By hand: keys (sex kept, age synthetic), two copies of four rows."""
    real = pd.DataFrame(
        {"sex": ["F", "F", "M", "M"], "age": [1.0, 2.0, 1.0, 2.0] * 1, "x": [0.0, 1.0, 0.0, 1.0]}
    )
    syn = sdp.synthesize(pd.concat([real] * 5, ignore_index=True), m=2, keep=["sex"], rng=1)
    copies = [
        pd.DataFrame({"sex": real["sex"], "age": age, "x": real["x"]})
        for age in ([1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 1.0, 1.0])
    ]
    release = _Stand(copies, syn.tags, syn.privacy)
    row = sdp.disclosure_risk(real, release, keys=["sex", "age"], attacks=2).table("match_risk").iloc[0]
    # record 0: copy 1 fits rows 0, 1 by 1/2 each, copy 2 row 0 alone -> row 0 best, right
    # record 1: copy 2 row 1 alone -> right; record 2: copy 2 rows 2, 3 -> one of two, right with 1/2
    # record 3: copy 1 rows 2, 3 -> right with 1/2
    assert row["expected"] == pytest.approx(3.0)
    assert row["true"] == 50.0
    assert row["false"] == 0.0
    assert row["unique"] == 50.0


class _Stand:
    def __init__(self, copies, tags, privacy):
        self.copies, self.tags, self.privacy = tuple(copies), tags, privacy


def test_rare_values_together_are_counted_by_brute_force():
    rng = np.random.default_rng(5)
    frames = [pd.DataFrame(rng.integers(0, 25, (35, 3)), columns=list("abc")) for _ in range(2)]
    own, copy = shared_rare(Files(frames[0], (frames[1],)), list("abc"))

    def brute(rows, itself):
        best = []
        for at, row in frames[rows].iterrows():
            most = 0
            for other, record in frames[0].iterrows():
                if itself and at == other:
                    continue
                shared = 0
                for name in "abc":
                    held = int((frames[0][name] == record[name]).sum()) - itself
                    shared += row[name] == record[name] and 1 <= held < 5
                most = max(most, shared)
            best.append(most)
        return [sum(each >= g for each in best) for g in (1, 2, 3)]

    assert own.rows.tolist() == brute(0, True)
    assert copy.rows.tolist() == brute(1, False)


def test_refits_are_a_control_and_leave_nothing_behind():
    real = table(200)
    settings = sdp.Synthesizer(terms="main")
    found = measured(real, settings.fit(real).draw(m=2, rng=1), refit=settings, folds=2)
    assert found.control == "refits"
    assert found.table("RepU")["control"].notna().all()
    assert found.table("inference")["control"].notna().all()
    held = [getattr(found, name) for name in found.__dataclass_fields__]
    assert not any(isinstance(each, sdp.SyntheticRelease | sdp.FittedSynthesizer) for each in held)
    assert max(len(frame) for frame in found.tables().values()) < 60


def test_shadow_fits_find_a_model_that_remembers_and_not_one_that_does_not():
    rng = np.random.default_rng(1)
    real = pd.DataFrame(rng.normal(0, 1, (60, 3)).round(2), columns=list("abc"))
    real.iloc[0] = [9.0, 9.0, 9.0]
    shadows = {"shadow_fits": 16, "shadow_records": 4, "keys": ["a"], "targets": (), "attacks": 5}
    remembers = sdp.Synthesizer(method="cart", emit_original=True, terms="main")
    plain = sdp.Synthesizer(method="norm", terms="main", draws="independent")
    rates = {}
    for name, settings, rows in (("remembers", remembers, real), ("plain", plain, real.iloc[1:])):
        copies = sealed_copies(settings, rows, m=1, k=None, rng=np.random.default_rng(1))
        found = sdp.disclosure_risk(rows, list(copies), refit=settings, folds=2, **shadows)
        rates[name] = found.table("membership").set_index("what")["value"]
    assert rates["remembers"]["area under the curve"] > 75
    assert rates["plain"]["area under the curve"] < 75


def test_the_curve_of_a_guarantee_bounds_every_test():
    rates = np.array([0.001, 0.01, 0.2, 0.5])
    pure = most_true_positives(PureDP(1.0), rates)
    np.testing.assert_allclose(pure, np.minimum(np.e * rates, 1 - np.exp(-1) * (1 - rates)), rtol=2e-2)
    normal = NormalDist()
    exact = np.array([normal.cdf(normal.inv_cdf(rate) + 1.0) for rate in rates])
    bound = most_true_positives(GDP(1.0), rates)
    assert (bound >= exact - 1e-9).all()
    np.testing.assert_allclose(bound, exact, rtol=0.02)
    assert (most_true_positives(ZCDP(0.5), rates) >= exact - 1e-9).all()


def test_under_a_guarantee_the_bound_stands_beside_the_measured_attack():
    real = table(200)
    schema = sdp.Schema(
        [
            sdp.CategoricalColumn("sex", ["F", "M"], other="M"),
            sdp.NumericColumn("age", lower=20, upper=40, decimals=0),
            sdp.CategoricalColumn("ill", ["no", "yes"], other="no"),
        ]
    )
    settings = sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(0.05))
    fitted = settings.fit(real)
    release = fitted.draw(m=2)
    before = fitted.account.copies
    shadows = {"refit": settings, "shadow_fits": 8, "shadow_records": 3}
    found = measured(real, release, holdout=table(100, seed=9), **shadows)
    assert fitted.account.copies == before, "nothing is charged"
    shown = found.table("membership")
    assert shown["at_most"].iloc[:2].between(1, 100).all()
    bound = found.table("bound").set_index("what")
    even = bound.loc["right guesses whether somebody took part", "at_most"]
    assert even == pytest.approx(50 * (1 + sdp.ZCDP(0.05).delta(0.0)))
    assert bound.loc["certainty that somebody took part"].shape[0] >= 3
    assert "may not leave" in str(found)
    assert found.table("trade_off")["most_true_positives"].is_monotonic_increasing


def test_it_is_internal_wherever_it_goes(tmp_path):
    real = table()
    found = measured(real, table(seed=1))
    assert str(found).startswith("INTERNAL")
    assert "INTERNAL" in repr(found)
    assert all(frame.attrs["classification"] == "INTERNAL" for frame in found.tables().values())
    found.save(tmp_path, name="risk")
    assert all(path.name.startswith("INTERNAL") for path in tmp_path.iterdir())
    released = sdp.synthesize(real, m=1, rng=1).save(tmp_path / "out")
    with pytest.raises(FitError, match="INTERNAL"):
        found.save(released)
    with pytest.raises(FitError, match="INTERNAL"):
        measured(real, table(seed=1), log=released)


def test_attempts_are_counted_by_table(tmp_path):
    for _ in range(2):
        found = measured(table(), table(seed=1), log=tmp_path)
    assert ("evaluations of this table so far", 2) in found.facts
    other = measured(table(seed=7), table(seed=1), log=tmp_path)
    assert ("evaluations of this table so far", 1) in other.facts
    lines = (tmp_path / "INTERNAL_attempts.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["keys"] == {"k": ["sex", "age"]}
    assert len(lines) == 3


def test_what_is_not_computed_says_why_and_is_in_no_summary():
    real, copy = table(), table(50, seed=1)
    found = measured(real, copy)
    reasons = dict(found.not_computed)
    assert "another number of rows" in reasons["rank_matches"]
    assert "no statement" in reasons["bound"]
    assert "kept real" in reasons["match_risk"]
    assert not {*reasons} & {*found.tables()}
    assert "DiSCO" not in set(measured(real, copy, targets=()).worst(50)["measure"])
    with pytest.raises(FitError, match="another number of rows"):
        found.table("row_by_row")
    assert found.table("RepU")["control"].isna().all(), "no control is no zero"
    assert found.worst(50)["baseline"].isna().sum() >= 1


def test_a_target_that_copies_never_settle_has_no_tcap():
    real = pd.DataFrame({"a": ["x"] * 20, "t": ["1", "2"] * 10})
    found = sdp.disclosure_risk(real, real, keys=["a"], targets=["t"], attacks=5)
    assert found.table("attribute")["TCAP"].isna().all()


SECRET = "Wolfenbuettel-77"  # noqa: S105 -- a value of a record


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"keys": {}}, SettingError, "at least one key set"),
        ({"keys": {"k": []}}, SettingError, "names no column"),
        ({"keys": ["sez"]}, SchemaError, "did you mean 'sex'"),
        ({"targets": ["illness", "nothing"]}, SchemaError, "2 faults"),
        ({"known_by_all": {"ill": [SECRET]}}, SchemaError, "names a level of ill"),
        ({"ngroups": {"age": 1}}, SettingError, "at least 2"),
        ({"ngroups": {"sex": 4}}, SchemaError, "no numbers"),
        ({"holdout": pd.DataFrame()}, SettingError, "at least one row"),
        ({"holdout": table().drop(columns="ill")}, SchemaError, "lacks the column ill"),
        ({"holdout": table()}, SettingError, "the table itself"),
        ({"shadow_fits": 16}, SettingError, "settings of the release"),
        ({"attacks": 0}, SettingError, "at least 1"),
        ({"keyes": ["sex"]}, SettingError, "did you mean"),
    ],
)
def test_a_slip_is_answered_without_a_value(change, error, says):
    with pytest.raises(error) as found:
        measured(table(), table(seed=1), **change)
    assert says in str(found.value)
    assert SECRET not in str(found.value)


def test_columns_of_different_types_are_named():
    wrong = table(seed=1).assign(age="n/a")
    with pytest.raises(SchemaError, match="age holds numbers") as found:
        measured(table(), wrong)
    assert "n/a" not in str(found.value)


def test_texts_of_numbers_are_numbers():
    real, copy = table(), table(seed=1)
    as_text = copy.assign(age=copy["age"].astype(str))
    found = measured(real, as_text)
    assert found.table("RepU").equals(measured(real, copy).table("RepU"))
    assert found.table("differences")["column"].tolist() == ["age"]


def test_no_message_holds_a_value(tmp_path):
    real = table().assign(sex=lambda frame: frame["sex"].where(frame.index > 0, SECRET))
    found = measured(real, real.sample(frac=1, random_state=1), log=tmp_path)
    shown = str(found) + "".join(frame.to_csv() for frame in found.tables().values())
    assert SECRET not in shown
    assert SECRET not in (tmp_path / "INTERNAL_attempts.jsonl").read_text()


def test_a_table_without_a_row_or_columns_in_common_is_refused():
    for real, copy in (
        (table().iloc[:0], table()),
        (table(), pd.DataFrame({"z": [1]})),
        (5, table()),
        (table(), 5),
    ):
        with pytest.raises(PysynthdpError):
            measured(real, copy)


def test_pictures_give_their_axes_back():
    pytest.importorskip("matplotlib").use("Agg")
    found = measured(table(), table(seed=1))
    axes = found.plot()
    assert axes.get_title().startswith("INTERNAL")
    assert found.plot(ax=axes) is axes
    with pytest.raises(FitError, match="neither"):
        found.plot_trade_off()
