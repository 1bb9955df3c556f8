"""At most so many rows of a unit take part, by its key, whatever else the table holds."""

from __future__ import annotations

import json
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysynthdp import (
    ApproxDP,
    BySampling,
    CategoricalColumn,
    NumericColumn,
    PrivacyUnit,
    Schema,
    Synthesizer,
    SyntheticRelease,
)
from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.bridge.settings import settings_from_r
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.rows import rows_of
from pysynthdp.design.unit_keys import unit_codes, unit_key, unit_keys
from pysynthdp.io.plans.plan_file import read_plan, write_plan
from pysynthdp.models import Dirichlet, Gaussian
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.protection.noise.by_noise import ByNoise

SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["f", "m"], other="m", may_be_missing=False),
        CategoricalColumn("wave", [1, 2], other=2, missing={-1: "refused"}),
        NumericColumn("age", lower=0, upper=100, may_be_missing=False, fallback=44),
        NumericColumn("pay", lower=0, upper=10, missing={-8: "not asked"}, spikes=[0]),
    ]
)
RELATIONS = ("replace_one", "add_remove")
Table = list[tuple[object, tuple[object, ...]]]


def household(relation: str = "replace_one", most: int = 2) -> PrivacyUnit:
    return PrivacyUnit(relation, rows_per_unit=most, name="household", key="hid")


def frame(rows: Table) -> pd.DataFrame:
    """A table of keys and cells, every column of objects, so that no cell bends another."""
    columns = {"hid": [key for key, _ in rows]}
    columns |= {name: [cells[place] for _, cells in rows] for place, name in enumerate(SCHEMA.names)}
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def taken(rows: Table, unit: PrivacyUnit) -> list[tuple[float, ...]]:
    """What takes part of a table, row by row."""
    table = bounded_rows(rows_of(frame(rows)), SCHEMA, unit)
    parts = [table.parts[key] for key in sorted(table.parts)] + [table.changed]
    return [tuple(float(part[row]) for part in parts) for row in range(table.n)]


CELLS = st.tuples(
    st.sampled_from(["f", "m", "?", None]),
    st.sampled_from([1, 2, -1, 7, None]),
    st.sampled_from([3, 50.5, 400, None, "x"]),
    st.sampled_from([0, -8, 5, 99, None]),
)
ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", 7, "07", None]), CELLS), max_size=12)
OWN = st.lists(st.tuples(st.integers(0, 12), CELLS, CELLS), max_size=9)  # place, and cells in both tables


def with_unit(others: Table, own: list[tuple[int, tuple, tuple]], which: int) -> Table:
    """Put the rows of one more unit among those of the others, in places that do not depend on its cells."""
    rows = list(others)
    for entry in own:
        rows.insert(min(entry[0], len(rows)), ("own", entry[which]))
    return rows


@settings(max_examples=150, deadline=None)
@given(others=ROWS, own=OWN, most=st.integers(1, 3))
def test_replaced_units_differ_in_at_most_so_many_rows_and_n_stays(others, own, most):
    unit = household(most=most)
    first, second = (taken(with_unit(others, own, which), unit) for which in (1, 2))
    assert len(first) == len(second) == len(others) + len(own)
    assert sum(a != b for a, b in zip(first, second, strict=True)) <= most


@settings(max_examples=150, deadline=None)
@given(others=ROWS, own=OWN, most=st.integers(1, 3))
def test_a_unit_that_comes_or_goes_brings_at_most_so_many_rows(others, own, most):
    unit = household("add_remove", most)
    first, second = taken(with_unit(others, own, 1), unit), taken(others, unit)
    rest = list(first)
    for row in second:  # every row of the others is there, as it was
        rest.remove(row)
    assert len(rest) == min(len(own), most)


@pytest.mark.parametrize("relation", RELATIONS)
def test_rows_beyond_the_limit_and_rows_without_a_key_take_no_part(relation):
    cells = ("f", 1, 20, 5)
    rows: Table = [("a", cells), (None, cells), ("a", cells), ("", cells), ("a", cells), ("b", cells)]
    found = taken(rows, household(relation))
    whole = taken([("b", cells)], household(relation))[0]
    if relation == "replace_one":
        public = taken([(None, (None, None, None, None))], household())[0]
        assert found == [whole, public, whole, public, public, whole]
        assert public[-1] == 1.0  # counted as changed
        parts = bounded_rows(rows_of(frame(rows)), SCHEMA, household()).parts
        assert parts["sex", "value"][1] == 1  # m, where unlisted levels go
        assert parts["age", "value"][1] == 44
        assert parts["pay", "kind"][1] == 1  # missing
    else:
        cut = (*whole[:-1], 1.0)  # what is left of a unit that had more
        assert found == [cut, cut, whole]


ALIKE = [7, 7.0, "7", "07", " 7 ", "7.0", np.int16(7), np.float32(7), Decimal(7), b"7", 7 + 0j]
ODD = [None, np.nan, np.inf, pd.NaT, pd.NA, "", "  ", [7], (7,), {7}, object(), 1j, b"\xff", Decimal("sNaN")]
OWN_KEYS = ["7a", "-7", 7.5, "9007199254740993", 9007199254740992, "x" * 9, pd.Timestamp("2020-01-01"),
            UUID(int=7), 10**30, "1" * 5_000]  # fmt: skip


def test_keys_mean_the_same_however_a_file_holds_them():
    assert {unit_key(cell) for cell in ALIKE} == {7}
    assert [unit_key(cell) for cell in ODD] == [None] * len(ODD)
    assert unit_key(Decimal("1E+1000000")) is None  # whose digits nobody waits for
    assert len({unit_key(cell) for cell in OWN_KEYS} | {7, None}) == len(OWN_KEYS) + 2
    assert unit_codes(np.array([unit_key(cell) for cell in (7, None, "07", "b")], dtype=object)).tolist() == [
        0, -1, 0, 1,
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "str", "category", "int64[pyarrow]"])
def test_the_type_of_the_key_changes_nothing(dtype):
    assert unit_keys(pd.Series([7, 8, 7, 12]).astype(dtype)).tolist() == [7, 8, 7, 12]


def people(n: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "hid": rng.integers(0, n // 3, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.normal(50, 15, n).clip(0, 100),
        }
    )


SMALL = Schema([SCHEMA["sex"], SCHEMA["age"]])
SAMPLED = {"sex": Dirichlet(prior=20.0), "age": Gaussian(sigma=30.0)}


def noised(unit: PrivacyUnit, **more: object) -> Synthesizer:
    asked = ByNoise(more.pop("guarantee", ZCDP(20.0)), unit=unit)
    return Synthesizer(**{"schema": SMALL, "guarantee": asked, "progress": False, **more})


@pytest.mark.parametrize("block_rows", [None, 7])
@pytest.mark.parametrize("relation", RELATIONS)
def test_blocks_change_nothing_and_the_table_is_not_touched(relation, block_rows):
    table = people()
    before = table.copy(deep=True)
    one, many = (
        bounded_rows(rows_of(table, rows), SMALL, household(relation)) for rows in (None, block_rows)
    )
    pd.testing.assert_frame_equal(table, before)
    for key, values in one.parts.items():
        assert np.array_equal(values, many.parts[key])
        assert values.dtype == many.parts[key].dtype == (np.float64 if key[0] == "age" else np.int16)
    assert np.array_equal(one.changed, many.changed)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_key_is_read_never_drawn_and_the_statement_says_that_it_was_enforced(relation, tmp_path):
    fitted = noised(household(relation)).fit(people())
    release = fitted.draw(m=2, rng=1)
    assert list(release[0].columns) == ["sex", "age"]
    first = people().groupby("hid").cumcount() < 2
    assert fitted.n_org == pytest.approx(900 if relation == "replace_one" else first.sum(), abs=12)
    if relation == "replace_one":
        assert release.tags.details["clipped"] == pytest.approx((~first).mean(), abs=0.03)
    for text in (str(release.privacy), release.privacy.plain_language()):
        assert "at most 2 rows a household: enforced by hid before any sum" in " ".join(text.split())
        assert "assumed: hid says whose a row is" in " ".join(text.split())
    assert any("household" in remark for remark in release.tags.details["remarks"])
    plain = json.loads(json.dumps(release.privacy.to_dict()))
    assert plain["unit"]["key"] == "hid"
    assert plain["contributions"] == list(household(relation).contributions)
    assert PrivacyStatement.from_dict(plain).verify().ok
    assert SyntheticRelease.load(release.save(tmp_path / "out")).privacy.unit == household(relation)
    with pytest.raises(PrivacyError, match="changed"):
        PrivacyStatement.from_dict({**plain, "contributions": ["at most one row"]})


def test_the_price_is_that_of_so_many_rows_with_or_without_a_key():
    keyed, bare = (noised(unit).plan() for unit in (household(), PrivacyUnit(rows_per_unit=2)))
    assert keyed.price(n=900).questions == bare.price(n=900).questions
    assert keyed.price(n=900).guarantee == bare.price(n=900).guarantee


@pytest.mark.parametrize("most", [1, 3])
def test_without_a_key_the_statement_says_assumed_not_checked(most):
    unit = PrivacyUnit(rows_per_unit=most, name="person")
    line = ("one row" if most == 1 else "at most 3 rows") + " a person: assumed, not checked"
    statements = [
        noised(unit, guarantee=ApproxDP(20.0, 1e-6))
        .fit(people().drop(columns="hid"))
        .draw(m=2, rng=1)
        .privacy,
        Synthesizer(
            schema=Schema([SCHEMA["age"]]),
            method={"age": SAMPLED["age"]},
            guarantee=BySampling(unit=unit),
            progress=False,
        )
        .fit(people()[["age"]])
        .draw(m=1)
        .privacy,
    ]
    for statement in statements:
        assert line in str(statement)
        assert line in statement.plain_language()
        assert statement.to_dict()["contributions"] == [line]
        assert statement.verify().ok


def test_a_statement_without_a_guarantee_says_nothing_of_contributions():
    statement = Synthesizer(progress=False).fit(people()[["sex", "age"]]).draw(m=1, rng=1).privacy
    assert "contributions" not in statement.to_dict()
    assert "not checked" not in str(statement)


def test_statements_of_version_0_1_0_still_load():
    plain = noised(PrivacyUnit()).fit(people().drop(columns="hid")).draw(m=2, rng=1).privacy.to_dict()
    del plain["contributions"], plain["unit"]["key"]
    old = PrivacyStatement.from_dict(json.loads(json.dumps(plain)))
    assert old.verify().ok
    assert old.unit == PrivacyUnit()


def test_by_sampling_the_same_rows_take_part():
    """Rows beyond the limit are fitted as if the table held the public row in their place."""
    table = people()
    beyond = table.groupby("hid").cumcount() >= 1
    public = table.assign(
        sex=table.sex.where(~beyond, "m"), age=table.age.where(~beyond, 44), hid=range(len(table))
    )

    def params(data: pd.DataFrame, unit: PrivacyUnit) -> list[object]:
        asked = BySampling(unit=unit)
        fitted = Synthesizer(schema=SMALL, method=SAMPLED, guarantee=asked, progress=False).fit(data)
        return [repr(step.params) for step in fitted._machine.fit.steps]

    unit = household(most=1)
    assert params(table, unit) == params(public, unit) == params(public.drop(columns="hid"), PrivacyUnit())
    assert params(table, unit) != params(table.drop(columns="hid"), PrivacyUnit())
    release = (
        Synthesizer(schema=SMALL, method=SAMPLED, guarantee=BySampling(unit=unit), progress=False)
        .fit(table)
        .draw(m=1)
    )
    assert list(release[0].columns) == ["sex", "age"]
    assert "one row a household: enforced by hid" in str(release.privacy)
    assert (
        "how many rows beyond the limit of their household became the public row is unknown"
        in (release.tags.details["remarks"])
    )
    assert release.privacy.verify().ok


REFUSED = [
    pytest.param(
        {"schema": Schema([*SMALL, NumericColumn("hid", lower=0, upper=9, fallback=1)])}, id="drawn"
    ),
    pytest.param({"schema": Schema([*SMALL, SCHEMA["pay"]]), "unit": PrivacyUnit(key="pay")}, id="missing"),
]


@pytest.mark.parametrize("change", REFUSED)
@pytest.mark.parametrize("sampled", [False, True])
def test_a_key_that_is_drawn_or_kept_is_refused_by_name(change, sampled):
    given = {"schema": SMALL, "unit": household(), **change}
    unit = given.pop("unit")
    kind = {"guarantee": BySampling(unit=unit)} if sampled else {"guarantee": ByNoise(ZCDP(1.0), unit=unit)}
    with pytest.raises(PrivacyError, match=rf"{unit.key} is the key.*drop="):
        Synthesizer(**given, **kind, keep=[unit.key]).plan()
    plan = Synthesizer(**given, **kind, method=SAMPLED if sampled else None, drop=[unit.key]).plan()
    assert unit.key not in plan.schema


@pytest.mark.parametrize("sampled", [False, True])
def test_a_table_without_the_key_is_refused_by_name(sampled):
    kind = {"guarantee": BySampling(unit=household(most=1)), "method": SAMPLED} if sampled else {
        "guarantee": ByNoise(ZCDP(20.0), unit=household())
    }  # fmt: skip
    with pytest.raises(SchemaError, match="hid"):
        Synthesizer(schema=SMALL, **kind, progress=False).fit(people().drop(columns="hid"))


@pytest.mark.parametrize("key", ["", 7, ["hid"]])
def test_a_key_is_the_name_of_a_column(key):
    with pytest.raises(PrivacyError, match="key must be the name"):
        PrivacyUnit(key=key)


def unit_from_r(asked):
    return settings_from_r({"guarantee": asked}, {})["guarantee"].unit


def test_plan_files_and_r_carry_the_key(tmp_path):
    for place, asked in enumerate(
        ({"guarantee": BySampling(unit=household())}, {"guarantee": ByNoise(ZCDP(0.5), unit=household())})
    ):
        path = tmp_path / f"{place}.toml"
        write_plan(asked, path)
        assert 'key = "hid"' in path.read_text()
        assert read_plan(path) == asked
    bare = tmp_path / "bare.toml"
    write_plan({"guarantee": BySampling()}, bare)
    assert "key" not in bare.read_text()
    asked = {"name": "zcdp", "rho": 1.0, "rows_per_unit": 2.0, "unit": "household", "unit_key": "hid"}
    assert unit_from_r(asked) == household()
    assert unit_from_r({**asked, "unit_key": None}).key is None
    sampled = {name: value for name, value in asked.items() if name != "rho"}
    assert unit_from_r({**sampled, "name": "by_sampling"}) == household()
    with pytest.raises((PlanError, PrivacyError)):
        unit_from_r({**asked, "unit_key": 3})


def test_answers_of_another_key_are_not_taken(tmp_path):
    path = tmp_path / "answers.json"
    noised(household()).fit(people(), answers=path)
    with pytest.raises(PrivacyError, match="another plan"):
        noised(PrivacyUnit(rows_per_unit=2, name="household", key="pid")).fit(None, answers=path)
