"""Whole units under a guarantee: declared, clipped, priced for all rows that a unit may have, and drawn."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, SchemaError
from pysynthdp.curator.noised.asked import Asked
from pysynthdp.curator.noised.rows import NoisedRows
from pysynthdp.curator.noised.whitening import Whitening
from pysynthdp.curator.rows import rows_of
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.mechanism import mechanism_from_dict, price_of
from pysynthdp.privacy.mechanisms.gaussian import PlugInMean
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.privacy.statements.verification import shares_of, verified
from pysynthdp.privacy.unit import unit_to_dict
from pysynthdp.protection.noise.held import held_rows
from pysynthdp.protection.noise.moments.asking import frame_of
from pysynthdp.protection.noise.moments.design import moment_layout, moment_part, moment_shape
from pysynthdp.protection.noise.price import budget_of
from pysynthdp.protection.noise.tables import tables_of

SCALE = "1 + 0.5 * (count(age >= 14) - 1) + 0.3 * count(age < 14)"
UNITS = {
    "id": "hid",
    "size": "hsize",
    "member": "pid",
    "max_size": 4,
    "larger": "truncate",
    "order": "age desc",
    "shared": ["region"],
}
SCHEMA = sdp.Schema(
    (
        sdp.CategoricalColumn("region", ("north", "south"), other="south", may_be_missing=False),
        sdp.NumericColumn("age", lower=0, upper=100, decimals=0, fallback=40, may_be_missing=False),
        sdp.CategoricalColumn("sex", ("f", "m"), other="f", may_be_missing=False),
        sdp.NumericColumn("eqSS", lower=0.5, upper=5, decimals=1, may_be_missing=False),
    )
)


def people(n=600, seed=1):
    """Make households of one to six, with couples and children."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4, 6], p=[0.3, 0.3, 0.2, 0.15, 0.05], size=n)
    house = np.repeat(np.arange(n), size)
    line = np.arange(len(house)) - np.repeat(np.cumsum(size) - size, size)
    head = rng.integers(25, 80, n)
    age = np.where(line == 0, head[house], np.where(line == 1, head[house] - 3, head[house] // 4))
    frame = pd.DataFrame(
        {
            "hid": house + 1,
            "pid": np.arange(len(house)) + 1,
            "hsize": size[house],
            "region": rng.choice(["north", "south"], n)[house],
            "age": age,
            "sex": rng.choice(["f", "m"], len(house)),
        }
    )
    old = (frame.age >= 14).groupby(frame.hid).transform("sum")
    return frame.assign(eqSS=1 + 0.5 * (old - 1) + 0.3 * (frame.hsize - old))


def asked(*, rho=50.0, units=None, relation="replace_one", noise=None, **settings):
    """Say what the households are, and how they are protected."""
    unit = sdp.PrivacyUnit(relation, name="household")
    own = {
        "schema": SCHEMA,
        "units": sdp.Units(**{**UNITS, **(units or {})}),
        "derive": {"eqSS": SCALE},
        "guarantee": sdp.ByNoise(sdp.ZCDP(rho), unit=unit, **(noise or {})),
        "progress": False,
        "workers": 1,
    }
    return sdp.Synthesizer(**{**own, **settings})


@pytest.fixture(scope="module")
def fitted():
    """Fit households, with nothing said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return asked().fit(people())


# -- copies ----------------------------------------------------------------------------------------------


def test_sizes_shared_and_derived_columns_are_exact_in_every_copy(fitted):
    release = fitted.draw(m=3, rng=1)
    assert (release.n_org, release.tags.n_syn, release.tags.unit) == (600, 600, "hid")
    for copy in release:
        unit = copy.groupby("hid", sort=False)
        assert unit.ngroups == 600
        assert (unit.age.transform("size") == copy.hsize).all()
        assert copy.hsize.max() <= 4
        assert unit[["region", "hsize", "eqSS"]].nunique().max().max() == 1
        old = (copy.age >= 14).groupby(copy.hid).transform("sum")
        np.testing.assert_allclose(copy.eqSS, 1 + 0.5 * (old - 1) + 0.3 * (copy.hsize - old))


def test_members_are_drawn_from_their_head(fitted):
    table, copy = people(), fitted.draw(m=1, rng=2)[0]
    for frame in (table, copy):
        head = frame.groupby("hid").age.transform("first")
        place = frame.groupby("hid").cumcount()
        gap = (head - frame.age)[place == 1]
        children = (head - frame.age)[place >= 2]
        assert abs(gap.median() - 3) < 4
        assert children.median() > 25


def test_what_is_drawn_piece_by_piece_or_from_a_saved_fit_is_the_same(fitted, tmp_path):
    release = fitted.draw(m=2, rng=5)
    folder = fitted.draw_to(tmp_path / "release", m=2, rng=5)
    again = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit")).draw(m=2, rng=5)
    for number, copy in enumerate(sdp.SyntheticRelease.load(folder)):
        pd.testing.assert_frame_equal(copy, release[number])
        pd.testing.assert_frame_equal(again[number], release[number])
    assert sdp.verify(folder).ok


def test_copies_of_one_fit_say_that_they_share_it(fitted):
    assert fitted.draw(m=2, rng=5).tags.parameters == "drawn"
    assert fitted.draw(m=2, rng=5, parameters="fitted").tags.parameters == "fitted"


def test_a_panel_is_drawn_at_its_declared_places():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"pid": np.repeat(np.arange(500), 3), "wave": np.tile([1, 2, 3], 500)})
    rows["pay"] = (np.repeat(rng.normal(50, 10, 500), 3) + rng.normal(0, 2, 1500)).clip(0, 100)
    rows = rows[(rows.wave == 1) | (rng.random(1500) < 0.8)]
    schema = sdp.Schema(
        (
            sdp.CategoricalColumn("wave", (1, 2, 3), other=1, may_be_missing=False),
            sdp.NumericColumn("pay", lower=0, upper=100, fallback=50, may_be_missing=False),
        )
    )
    units = sdp.Units(id="pid", order="wave", shared=[])
    synthesizer = asked(schema=schema, units=None, derive={}, guarantee=sdp.ZCDP(40.0))
    object.__setattr__(synthesizer, "units", units)
    copy = synthesizer.fit(rows).draw(m=1, rng=1)[0]
    assert not copy.duplicated(["pid", "wave"]).any()
    assert abs((copy.wave == 3).mean() - (rows.wave == 3).mean()) < 0.05
    both = copy[copy.wave == 2].merge(copy[copy.wave == 3], on="pid")
    assert both.pay_x.corr(both.pay_y) > 0.7


# -- the guarantee ---------------------------------------------------------------------------------------


def test_the_statement_is_for_whole_units_and_can_be_checked(fitted):
    statement = fitted.draw(m=1, rng=1).privacy
    assert statement.guarantee.rho <= 50.0
    assert verified(statement).ok
    assert "two tables that differ in one household, in its values and in how many rows" in str(statement)
    assert "at most 4 rows a household: enforced by hid" in str(statement)
    assert any("A person in several units" in each for each in statement.not_covered)
    assert [part.constants["rows"] for part in statement.columns] == [1, 3]
    again = sdp.PrivacyStatement.from_dict(json.loads(json.dumps(statement.to_dict())))
    assert again.unit == statement.unit
    assert again.unit.whole
    assert verified(again).ok


def test_an_understated_number_of_rows_is_seen_by_who_checks():
    statement = asked(rho=1.0).fit(people(3000)).draw(m=1).privacy.to_dict()
    for part in statement["columns"]:
        part["constants"]["rows"] = 1
    assert not verified(sdp.PrivacyStatement.from_dict(statement)).ok


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_the_price_is_that_of_all_questions_for_all_rows_of_a_unit(relation):
    plan = asked(rho=0.7, relation=relation).plan()
    price = plan.price(n=5000)
    by_hand = 0.0
    for table, rows in zip(tables_of(plan, plan.protection), (1, 3), strict=True):
        budget = budget_of(table, n=5000)
        by_hand += sum(
            float(each.square(relation)) * rows**2 / (2 * each.scale**2) for each in budget.questions
        )
    assert price.guarantee.rho == pytest.approx(by_hand, rel=1e-9)
    assert 0.69 < by_hand <= 0.7
    assert "further rows" in str(price)
    assert "Of further rows one a unit is assumed" in str(plan.expected_precision(n=5000))


def odd_households():
    """Give rows of one household, as its neighbour may have them."""
    base = {"hid": 7, "pid": 1, "hsize": 1, "region": "north", "age": 50, "sex": "f", "eqSS": 1.0}
    yield "one", [base]
    yield "four alike at the bounds", [{**base, "age": 100, "sex": "m", "region": "south"}] * 4
    yield "four at the other bound", [{**base, "age": 0}] * 4
    yield "forty", [{**base, "age": age, "hsize": 40} for age in range(40)]
    yield "odd cells", [{**base, "age": "old", "sex": None, "region": 3}, {**base, "age": np.nan}]
    yield "wrong sizes and regions", [{**base, "hsize": -3}, {**base, "region": "south"}, base]


def sums(asked_table, held):
    """Give the exact answers to every question about one table, in grid steps."""
    plan = asked_table.plan
    layout = moment_layout(plan, asked_table.hints)
    frame = frame_of(moment_shape([moment_part(step) for step in plan.steps]))
    rng = np.random.default_rng(1)
    root = np.eye(frame.numbers) + rng.standard_normal((frame.numbers,) * 2) / 5
    whitening = Whitening(rng.standard_normal((frame.levels, frame.numbers)), root, np.linalg.inv(root))
    rows = NoisedRows(held.opened(asked_table), layout)
    found = {}
    for question in budget_of(asked_table, n=600).questions:
        if question.crossed:
            gram, clipped = rows.sums(Asked(question, frame, whitening))
            found[question] = gram
    counted = {"rows": np.array([rows.table.n]), "clipped": np.array([clipped])}
    return found, counted


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_no_household_moves_an_answer_by_more_than_is_paid_for(relation):
    plan = asked(relation=relation).plan()
    base = people(200, seed=3)
    rest = base[base.hid != 7]
    others = [rest] if relation == "add_remove" else []
    others += [pd.concat([rest, pd.DataFrame(rows)], ignore_index=True) for _, rows in odd_households()]
    for table in tables_of(plan, plan.protection):
        answers = [sums(table, held_rows(rows_of(own), plan, plan.protection.unit)) for own in others]
        pairs = [(0, at) for at in range(1, len(others))]
        pairs += [] if relation == "add_remove" else [(1, at) for at in range(2, len(others))]
        largest = 0.0
        for one, two in pairs:
            for question, own in answers[one][0].items():
                gap = answers[two][0][question] - own
                moved = sum(int(step) ** 2 for step in gap)
                assert moved <= question.square(relation) * table.rows**2
                largest = max(largest, moved / float(question.square(relation) * table.rows**2))
            for what, own in answers[one][1].items():
                assert abs(int(answers[two][1][what][0] - own[0])) <= table.rows
        assert largest > 0.02  # the households are not far from the worst


def test_what_a_household_holds_moves_no_other_and_is_not_told():
    said, plans = [], []
    for _, rows in odd_households():
        base = people(150, seed=3)
        table = pd.concat([base[base.hid != 7], pd.DataFrame(rows)], ignore_index=True)
        synthesizer = asked(rho=900.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            release = synthesizer.fit(table).draw(m=1, rng=1)
        details = {name: kind for name, kind in release.tags.details.items() if name != "flags"}
        plans.append(str(synthesizer.plan(table)))
        said.append((release.schema, release.tags.n_org, sorted(details), release.provenance))
    assert all(one == said[0] for one in said)
    assert len({*plans}) == 1


def test_rows_without_an_id_take_no_part_and_a_reader_of_files_changes_no_unit():
    plan = asked().plan()
    base = people(100, seed=5)
    lost = pd.concat([base, base.head(3).assign(hid=None)], ignore_index=True)
    texts = base.assign(hid=[f" 0{one}.0" for one in base.hid], age=base.age.astype(str))
    for table in (lost, texts):
        held, other = (held_rows(rows_of(own), plan, plan.protection.unit) for own in (base, table))
        assert held.n == other.n == 100
        for own in tables_of(plan, plan.protection):
            for key, values in held.opened(own).parts.items():
                np.testing.assert_array_equal(values, other.opened(own).parts[key])


def test_rows_beyond_the_largest_size_are_cut_by_order_and_counted_as_changed():
    plan = asked().plan()
    rows = pd.DataFrame(
        {"hid": 1, "pid": range(6), "hsize": 6, "region": "north", "age": [5, 60, 7, 58, 9, 11], "sex": "f"}
    )
    held = held_rows(rows_of(rows.assign(eqSS=1.0)), plan, plan.protection.unit)
    first, further = (held.opened(own) for own in tables_of(plan, plan.protection))
    assert first.parts["age", "value"].tolist() == [60]
    assert first.changed.tolist() == [True]
    assert further.parts["age", "value"].tolist() == [58, 11, 9]


def test_answers_on_file_are_paid_once_and_a_begun_file_is_gone_on_with(tmp_path):
    path = tmp_path / "answers.json"
    first = asked().fit(people(), answers=path)
    again = asked().fit(answers=path)
    assert len(first.ledger.entries) == len(again.ledger.entries) == 7
    assert first.ledger.total().rho <= 50.0
    for one, two in zip(first.draw(m=1, rng=3), again.draw(m=1, rng=3), strict=True):
        pd.testing.assert_frame_equal(one, two)
    with pytest.raises(PrivacyError, match="another plan"):
        asked(rho=49.0).fit(people(), answers=path)
    with pytest.raises(PrivacyError, match="another plan"):
        asked(units={"max_size": 3}).fit(people(), answers=path)


PAY = sdp.NumericColumn("pay", lower=0, upper=100, fallback=50, may_be_missing=False)


def waves(levels=(1, 2, 3), **own):
    """Declare the places of a panel."""
    return sdp.CategoricalColumn("wave", levels, may_be_missing=False, **{"other": levels[0], **own})


def panel(column, **own):
    """Ask for a protected panel."""
    return sdp.Synthesizer(
        schema=sdp.Schema((column, PAY)),
        units=sdp.Units(id="pid", order="wave", shared=[], **own),
        guarantee=sdp.ByNoise(sdp.ZCDP(100.0)),
        progress=False,
        workers=1,
    )


def in_waves():
    """Give persons who are there in three waves."""
    return pd.DataFrame({"pid": np.repeat(np.arange(300), 3), "wave": np.tile([1, 2, 3], 300), "pay": 50.0})


def test_a_panel_has_as_many_rows_a_unit_as_places():
    assert panel(waves()).plan().protection.unit.rows_per_unit == 3
    with pytest.raises(PlanError, match="max_size and larger do not apply"):
        panel(waves(), max_size=2).plan()


def test_answers_of_another_order_head_or_other_waves_are_not_taken(tmp_path):
    asked().fit(people(), answers=tmp_path / "a")
    panel(waves()).fit(in_waves(), answers=tmp_path / "p")
    for units in ({"order": "age asc"}, {"head": ("sex", "f")}):
        with pytest.raises(PrivacyError, match="another plan"):
            asked(units=units).fit(answers=tmp_path / "a")
    with pytest.raises(PrivacyError, match="another plan"):
        panel(waves((1, 20, 30))).fit(answers=tmp_path / "p")


def test_a_statement_of_whole_units_that_is_priced_for_one_row_is_found_out():
    statement = asked(rho=3.0).fit(people()).draw(m=1).privacy
    assert "600 units in all" in str(statement)
    columns = []
    for part in statement.columns:
        constants = {**part.constants, "rows": 1}
        mechanism = mechanism_from_dict(part.mechanism, constants)
        cost = price_of(mechanism, Draw(1, 1), unit=statement.unit)
        columns.append(replace(part, constants=constants, cost=cost))
    costs = [part.cost for part in columns]
    shares = shares_of(costs, statement.deltas[0])
    columns = tuple(replace(part, share=share) for part, share in zip(columns, shares, strict=True))
    forged = replace(statement, columns=columns, guarantee=compose(costs))
    found = verified(sdp.PrivacyStatement.from_dict(forged.to_dict()))
    assert [check.what for check in found.checks if not check.agrees] == ["rows of a unit"]


def test_no_other_mechanism_has_a_price_for_whole_units_and_an_account_takes_them():
    unit = asked().protection.unit
    mean = PlugInMean(n=1000, lower=-4, upper=4, sigma=1)
    with pytest.raises(PrivacyError, match="no price for whole units"):
        price_of(mean, Draw(1000, 1), unit=unit)
    account = sdp.PrivacyAccount(unit=unit)
    account.charge(asked(rho=3.0).fit(people()).draw(m=1).privacy)
    assert account.total().guarantee.rho <= 3.0


CLASS = sdp.CategoricalColumn("kind", ("a", "b"), may_be_missing=False)
MADE = {
    "schema": sdp.Schema((*SCHEMA.without(["eqSS"]), CLASS)),
    "derive": {"kind": "where(count(age >= 14) > 1, 'a', 'b')"},
}
UNSORTED = {
    "wave without other": lambda: panel(sdp.CategoricalColumn("wave", (1, 2, 3), may_be_missing=False)),
    "order without other": lambda: asked(**MADE, units={"order": "kind asc"}),
    "dropped head": lambda: asked(units={"head": ("sex", "f")}, drop=["sex"]),
    "computed head": lambda: asked(**MADE, units={"head": ("kind", "a")}),
}


@pytest.mark.parametrize("make", UNSORTED.values(), ids=UNSORTED)
def test_what_cannot_be_sorted_is_refused_before_the_budget_is_reserved(make, tmp_path):
    synthesizer = make()
    ledger = sdp.SpendingLedger(tmp_path / "ledger.db")
    limit = sdp.SourceLimit(rho=1000.0, unit=synthesizer.protection.unit.name)
    ledger.init("R", limit, approval="x")
    with pytest.raises(PysynthdpError, match=r"kind|wave|sex"):
        synthesizer.fit(people().assign(kind="a", wave=1, pay=1.0), ledger=ledger, source="R")
    assert ledger.remaining("R") == 1000.0


# -- what is refused -------------------------------------------------------------------------------------

LACKING = {
    "max_size": ({"max_size": None}, "max_size"),
    "shared": ({"shared": None}, "shared"),
    "order": ({"order": None}, "order"),
    "larger refused": ({"larger": "refuse"}, "larger='truncate'"),
    "larger dropped": ({"larger": "drop"}, "larger='truncate'"),
}


@pytest.mark.parametrize(("units", "named"), LACKING.values(), ids=LACKING)
def test_what_would_be_learned_of_units_must_be_declared(units, named):
    with pytest.raises(PrivacyError, match=f"need {named}.*declare them, as in units=Units"):
        asked(units=units).plan()


WRONG = {
    "shared": ({"shared": ["regoin"]}, "did you mean 'region'"),
    "order": ({"order": "agee desc"}, "did you mean 'age'"),
    "head": ({"head": ("sex", "x")}, "no declared level"),
    "one row": ({"max_size": 1}, "max_size is 1"),
    "panel": ({"order": "age", "max_size": None}, "must be declared levels"),
    "nothing of rows": ({"shared": ["region", "age", "sex"], "order": "pid asc"}, "do not differ"),
}


def test_further_ids_are_refused_by_name():
    with pytest.raises(PlanError, match=r"sex is a further id.*member='sex'.*drop=\['sex'\]"):
        asked(method={"sex": "serial"}).plan()


@pytest.mark.parametrize(("units", "said"), WRONG.values(), ids=WRONG)
def test_wrong_units_are_named(units, said):
    with pytest.raises(PlanError, match=said):
        asked(units=units).plan()


def test_protections_without_a_price_for_whole_units_refuse_them():
    with pytest.raises(PrivacyError, match=r"by_sampling.*protects no whole units.*ZCDP"):
        asked(guarantee=sdp.BySampling())
    with pytest.raises(PrivacyError, match="a key or rows_per_unit of its own"):
        asked(guarantee=sdp.ByNoise(sdp.ZCDP(1), unit=sdp.PrivacyUnit(key="hid", rows_per_unit=2)))
    schema = SCHEMA.without(["eqSS"])
    whole = sdp.PrivacyUnit(key="hid", rows_per_unit=4, whole=True)
    with pytest.raises(PrivacyError, match="whole is for plans of units"):
        sdp.Synthesizer(schema=schema, guarantee=sdp.ByNoise(sdp.ZCDP(1), unit=whole)).plan().price(n=9)
    with pytest.raises(PrivacyError, match="protected by noise in the answers"):
        sdp.BySampling(unit=whole)
    with pytest.raises(PrivacyError, match="whole is for units with a key"):
        sdp.PrivacyUnit(whole=True)


def test_a_table_with_other_columns_or_too_few_units_is_refused_by_name():
    with pytest.raises(SchemaError, match="'shoe'"):
        asked().fit(people().assign(shoe=1))
    with pytest.raises(SchemaError, match="no column sex"):
        asked().fit(people().drop(columns="sex"))
    with pytest.raises(PrivacyError, match=r"further rows.*or a smaller max_size"):
        asked(rho=0.005).fit(people())
    assert unit_to_dict(asked().protection.unit)["whole"]
