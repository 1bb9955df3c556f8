"""Columns that are functions of others: which are found, how they are written, what is not taken for one."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.curator.relations import found, lookups

N = 600
RNG = np.random.default_rng(20)
BASE = pd.DataFrame(
    {
        "pay": RNG.lognormal(7, 0.6, N).round(),
        "tax": RNG.lognormal(5, 0.5, N).round(),
        "low price": RNG.uniform(5, 40, N).round(1),
        "km": RNG.gamma(3, 40, N).round(1),
        "hours": RNG.uniform(0.5, 9, N).round(2),
        "town": RNG.choice(["A", "B", "C", "D", "E"], N),
    }
)
LAND = {"A": "north", "B": "north", "C": "south", "D": "south", "E": "west"}


def plan_of(table, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdp.Synthesizer(progress=False, **settings).plan(table)


def found_in(table, **settings):
    return {own.column: own.expression for own in plan_of(table, **settings).derived}


FUNCTIONS = {
    "a sum": (lambda t: t.pay + t.tax, "pay + tax"),
    "a difference": (lambda t: t.pay - t.tax - 12, "pay - tax - 12"),
    "a unit": (lambda t: t.km * 1.609344, "1.609344 * km"),
    "a rounded unit": (lambda t: (t.km / 1.609344).round(1), "km / 1.60934"),
    "a mean": (lambda t: (t["low price"] + t.km) / 2, "(`low price` + km) / 2"),
    "a third": (lambda t: (t.pay + t.tax + t.km) / 3, "(pay + tax + km) / 3"),
    "a copy": (lambda t: t.hours, "hours"),
    "a product": (lambda t: t.km * t["low price"], "km * `low price`"),
    "a rounded ratio": (lambda t: (t.km / t.hours).round(2), "km / hours"),
    "a squared denominator": (lambda t: (1e4 * t.pay / t.hours**2).round(1), "10000 * pay / hours ** 2"),
    "a square": (lambda t: t.km**2, "km ** 2"),
    "a root": (lambda t: np.sqrt(t.km), "km ** 0.5"),
    "a logarithm": (lambda t: np.log(t.pay), "log(pay)"),
    "a shifted logarithm": (lambda t: np.log(t.km + 1), "log(km + 1)"),
    "a group": (
        lambda t: pd.cut(t.km, [0, 60, 120, 5000], right=False, labels=["near", "middle", "far"]).astype(str),
        'cut(km, [60, 120], ["near", "middle", "far"])',
    ),
    "a name": (
        lambda t: t.town.map(LAND),
        'recode(town, ["A", "B", "C", "D", "E"], ["north", "north", "south", "south", "west"])',
    ),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_function_is_found_and_written_as_somebody_would(kind):
    of, text = FUNCTIONS[kind]
    table = BASE.assign(made=of(BASE))
    found = found_in(table)
    assert set(found) == {"made"}
    given = {frozenset(part.split(" * ")) for part in (found["made"], text)}
    assert found["made"] == text or len(given) == 1


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_copies_are_as_the_function_says(kind):
    of, _ = FUNCTIONS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sdp.Synthesizer(progress=False).fit(BASE.assign(made=of(BASE)))
    copy = fitted.draw(m=1, rng=1)[0]
    expected = of(copy)
    if expected.dtype.kind in "fi":
        digits = 1 if kind in ("a rounded unit", "a squared denominator") else 2
        assert np.allclose(copy.made, expected, rtol=1e-5, atol=1.01 * 10.0**-digits, equal_nan=True)
    else:
        assert (copy.made == expected).all()


def test_what_has_nothing_to_do_with_it_is_left_alone():
    assert found_in(BASE) == {}
    noisy = BASE.assign(made=BASE.pay + BASE.tax + RNG.normal(0, 30, N).round())
    assert found_in(noisy) == {}
    near = BASE.assign(made=(BASE.town == "A") | (RNG.random(N) < 0.02))
    assert found_in(near) == {}


def test_of_few_rows_nothing_is_a_function():
    small = BASE.head(40)
    assert found_in(small.assign(made=small.pay + small.tax)) == {}


def test_missing_values_go_with_those_of_the_arguments():
    table = BASE.copy()
    table.loc[table.index % 7 == 0, "tax"] = np.nan
    table["made"] = table.pay + table.tax
    assert found_in(table) == {"made": "pay + tax"}
    table.loc[3:9, "made"] = np.nan
    assert found_in(table) == {}


def test_a_column_that_a_user_speaks_of_is_left_to_him():
    table = BASE.assign(made=BASE.pay + BASE.tax)
    refusals = (
        {"derive": "no"},
        {"derive": {"made": None}},
        {"derive": {"made": "no"}},
        {"method": {"made": "norm"}},
        {"method": "normrank", "drop": ["town"]},
        {"formulas": ["made ~ pay"]},
        {"predictor_matrix": {"made": ["pay"]}},
        {"keep": ["made"]},
    )
    for refusal in refusals:
        assert "made" not in found_in(table, **refusal), refusal


def test_a_users_order_says_what_may_depend_on_what():
    table = BASE.assign(made=BASE.pay + BASE.tax)
    first = ["made", *BASE.columns]
    assert found_in(table, visit_sequence=first) == {"tax": "made - pay"}
    assert plan_of(table, visit_sequence=first).visit_sequence.index("made") == 0


def test_with_a_schema_of_ones_own_nothing_is_looked_for():
    table = BASE.assign(made=BASE.pay + BASE.tax)[["pay", "tax", "made"]]
    schema = sdp.Schema(tuple(sdp.NumericColumn(name, decimals=0) for name in table))
    assert plan_of(table, schema=schema).derived == ()


def test_a_table_of_codes_rests_on_five_records_each():
    """A town of three inhabitants is in no table; it gets what most records have."""
    table = pd.concat([BASE, BASE.head(3).assign(town="Z")], ignore_index=True)
    table["land"] = table.town.map({**LAND, "Z": "islands"})
    text = found_in(table)["land"]
    assert '"Z"' not in text
    assert "islands" not in text


def test_an_identifier_of_persons_has_no_table():
    person = np.repeat(np.arange(150), 4)
    table = pd.DataFrame({"person": person, "born": RNG.integers(1940, 2000, 150)[person], "x": BASE.km})
    assert "born" not in found_in(table)


def test_what_holds_but_for_a_few_rows_is_offered_with_what_to_type():
    table = BASE.assign(made=BASE.pay + BASE.tax)
    table.loc[5:11, "made"] += 777
    with pytest.warns(PysynthdpWarning, match="made: but for fewer than ten rows it is pay") as caught:
        fitted = sdp.Synthesizer(progress=False).fit(table)
    (offered,) = [each.message for each in caught if each.message.kind == "near function"]
    assert "derive={'made': 'pay + tax'}" in offered.remedy
    assert "777" not in str(offered)
    assert fitted.plan.derived == ()


def test_exceptions_of_fewer_than_five_records_are_said_and_in_no_copy():
    table = BASE.assign(made=BASE.pay + BASE.tax)
    table.loc[5:8, "made"] += 777
    with pytest.warns(PysynthdpWarning, match="made: fewer than five records are not pay . tax") as caught:
        fitted = sdp.Synthesizer(progress=False).fit(table)
    (said,) = [each.message for each in caught if each.message.kind == "few exceptions"]
    assert "derive={'made': None}" in said.remedy
    assert "777" not in str(said)
    copy = fitted.draw(m=1, rng=1)[0]
    assert (copy.made == copy.pay + copy.tax).all()
    assert "made" not in found_in(table, derive={"made": None})


def test_a_found_function_may_be_asked_for_as_a_predictor():
    table = BASE.assign(made=BASE.pay + BASE.tax)
    order = plan_of(table, predictor_matrix={"town": ["made"]}).visit_sequence
    assert order.index("town") > max(order.index(name) for name in ("pay", "tax", "made"))


def followed(n=1500, seed=4):
    """Half have left, and their last day is the day on which they left; the others were seen later."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(1990, 2005, n)
    left = np.where(rng.random(n) < 0.5, start + rng.exponential(4, n), np.nan)
    seen = np.where(np.isnan(left), rng.normal(2012, 1, n), left)
    return pd.DataFrame({"start": start, "left": left, "seen": seen}).round(3)


def test_a_number_that_repeats_another_wherever_that_is_there_repeats_it_in_copies():
    table = followed()
    assert found_in(table) == {"seen": "where(is_missing(left), seen, left)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy = sdp.Synthesizer(progress=False).fit(table).draw(m=1, rng=1)[0]
    gone = copy.left.notna()
    assert (copy.seen[gone] == copy.left[gone]).all()
    # means of 750 records: standard errors .037 and .037; six of them, so that one run in 10^8 fails
    assert abs(copy.seen[~gone].mean() - table.seen[table.left.isna()].mean()) < 6 * 0.06


def test_a_number_that_repeats_another_in_most_rows_alone_is_none_of_it():
    table = followed()
    table.loc[table.index % 9 == 0, "seen"] += 0.5
    assert found_in(table) == {}
    few = followed()
    few["left"] = few.left.where(few.left.notna().cumsum() <= 49)
    few["seen"] = few.left.fillna(few.seen)
    assert found_in(few) == {}
    coarse = pd.DataFrame({"a": [1.0, np.nan] * 300, "b": [1.0, 3.0] * 300, "c": RNG.normal(size=600)})
    assert "b" not in found_in(coarse) or "is_missing" not in found_in(coarse)["b"]


def test_what_was_found_is_said_and_saved(tmp_path):
    fitted = sdp.Synthesizer(progress=False).fit(BASE.assign(made=BASE.pay + BASE.tax))
    assert any(
        "made, which is computed, that it is pay + tax" in fact for fact in fitted.draw(m=1).privacy.learned
    )
    fitted.save(tmp_path / "a.fit")
    assert sdp.FittedSynthesizer.load(tmp_path / "a.fit").plan.derived == fitted.plan.derived


def test_imputed_tables_share_the_functions_that_hold_in_all():
    tables = [BASE.assign(made=BASE.pay + BASE.tax, more=BASE.km * 2) for _ in range(2)]
    tables[1]["more"] = BASE.km * 2 + np.where(BASE.index < 6, 5.0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sdp.Synthesizer(progress=False).fit(tables)
    assert [own.column for own in fitted.plan.derived] == ["made"]


def pupils(seed=8, schools=60):
    """Pupils in schools of eight to twenty, which have money and a kind; results go with the money."""
    rng = np.random.default_rng(seed)
    school = np.repeat(np.arange(schools) + 101, rng.integers(8, 21, schools))
    money, kind = (
        rng.integers(1, 15, schools)[school - 101],
        rng.choice(["p", "q", "r"], schools)[school - 101],
    )
    result = (3 * money + rng.normal(0, 12, len(school))).round(1)
    table = pd.DataFrame({"result": result, "money": money, "kind": kind, "school": school})
    return table.sample(frac=1, random_state=1, ignore_index=True)


def test_what_a_code_tells_is_looked_up_and_the_code_drawn_first():
    table = pupils()
    plan = plan_of(table)
    assert plan.visit_sequence[0] == "school"
    assert set(plan.visit_sequence[1:3]) == {"money", "kind"}
    assert "codes" in plan.order
    assert all(own.expression.startswith("cut(school, [") for own in plan.derived)
    assert plan_of(table, derive="no").visit_sequence[0] != "school"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copies = sdp.Synthesizer(progress=False).fit(table).draw(m=5, rng=3)
    real = table.groupby("school")[["money", "kind"]].first()
    for copy in copies:
        assert (real.loc[copy.school].to_numpy() == copy[["money", "kind"]].to_numpy()).all()
    # its standard error is .1; six of them, so that one run in 10^8 fails, and 3 is thirty from none
    slope = np.mean([np.polyfit(copy.money, copy.result, 1)[0] for copy in copies])
    assert abs(slope - np.polyfit(table.money, table.result, 1)[0]) < 6 * 0.1


def test_a_rare_code_is_told_as_the_nearest():
    table = pupils()
    table["school"] = 3 * table.school
    four = (table.school == 312) & (table.groupby("school").cumcount() < 4)
    table = table[(table.school != 312) | four].reset_index(drop=True)
    table.loc[table.school == 312, ["money", "kind"]] = [77, "rare"]
    assert "77" not in found_in(table)["money"]
    plan = plan_of(table)
    assert "rare" not in next(own.expression for own in plan.derived if own.column == "kind")


def test_a_code_that_may_be_a_persons_has_no_table():
    table = pupils().rename(columns={"school": "patient_id"})
    assert found_in(table) == {}
    for of in (lambda t: t.school + 0.5, lambda t: t.groupby("school").cumcount() // 3 + 100 * t.school):
        other = pupils()
        other["school"] = of(other)
        assert found_in(other) == {}


def test_groups_of_a_long_number_are_looked_for_in_a_sample_first(monkeypatch):
    rng = np.random.default_rng(4)
    n = 20_000
    x = rng.normal(size=n).round(3)
    table = pd.DataFrame({"x": x, "z": rng.normal(size=n)})
    table["fifth"] = np.array(["a", "b", "c", "d", "e"])[np.digitize(x, [-0.8, -0.2, 0.3, 0.9])]
    table["free"] = rng.choice(["p", "q", "r"], n)
    judged = []
    plain = found.cut_of
    monkeypatch.setattr(
        found, "cut_of", lambda y, x: judged.append((y.column.name, x.column.name)) or plain(y, x)
    )
    plan = plan_of(table)
    assert [own.column for own in plan.derived] == ["fifth"]
    assert judged == [("fifth", "x")]  # of all rows; of every other pair a sample says that it cannot be


def test_a_sample_leaves_groups_of_few_records_open():
    rng = np.random.default_rng(5)
    n = 50_000
    codes = rng.permutation(n) // 2  # each value twice
    small = (codes < n // 24) & (codes % 2 == 0)  # groups of two records, of a twelfth of the rows
    few = np.where(small, 2, (codes > n // 4).astype(int))
    x = lookups.Coded(sdp.NumericColumn("x"), codes, range(n // 2))
    levels = ["low", "high", "odd"]
    y = lookups.Coded(sdp.CategoricalColumn("y", levels), few, levels)
    assert lookups.may_cut(y, x)
    assert lookups.cut_of(y, x) is not None
    free = lookups.Coded(y.column, rng.integers(0, 3, n), levels)
    assert not lookups.may_cut(free, x)
    assert lookups.cut_of(free, x) is None


def test_groups_that_fewer_than_five_records_lack_are_computed_all_the_same():
    rng = np.random.default_rng(12)
    age = rng.integers(16, 90, 1_500)
    band = pd.cut(age, [0, 29, 44, 59, 99], labels=["young", "middle", "older", "old"]).astype(str)
    for lacking, computed in ((4, ["band"]), (5, [])):
        table = pd.DataFrame({"age": age, "band": np.array(band, dtype=object)})
        table.loc[: lacking - 1, "band"] = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = sdp.Synthesizer(progress=False).fit(table)
        assert [own.column for own in fitted.plan.derived] == computed
        if computed:
            said = [remark.what for remark in fitted.remarks if remark.kind == "few exceptions"]
            assert len(said) == 1
            assert "groups of age" in str(said[0])
            assert not any(label in str(said[0]) for label in ("young", "middle", "30", "45", "60"))
            assert fitted.plan.derived[0].expression.startswith("cut(age, [")
            copy = fitted.draw(m=1, rng=1)[0]
            assert copy.band.notna().all()
            assert (copy.age[copy.band == "old"] >= 60).all()
