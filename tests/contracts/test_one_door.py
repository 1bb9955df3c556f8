"""One door to a guarantee: nobody outside the room names a protection, and what does not apply is refused."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.bridge.settings import settings_from_r
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.models import Dirichlet, Gaussian
from pysynthdp.plan.protection import PROTECTIONS
from pysynthdp.privacy.account import Account

PACKAGE = Path(sdp.__file__).parent
AGE = sdp.NumericColumn("age", lower=18, upper=90, fallback=40, may_be_missing=False)
SEX = sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
SCHEMA = sdp.Schema([AGE, SEX])
SAMPLED = {"age": Gaussian(sigma=15.0), "sex": Dirichlet(prior=20.0)}
HOME = sdp.PrivacyUnit(rows_per_unit=4, name="household")


def table(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(18, 90, n), "sex": rng.choice(["F", "M"], n)})


def sampled(**changes) -> sdp.Synthesizer:
    settings = {"schema": SCHEMA, "method": SAMPLED, "guarantee": sdp.BySampling(), "progress": False}
    return sdp.Synthesizer(**{**settings, **changes})


def noised(**changes) -> sdp.Synthesizer:
    return sdp.Synthesizer(**{"schema": SCHEMA, "guarantee": sdp.ZCDP(1.0), "progress": False, **changes})


def modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if "protection" not in path.relative_to(PACKAGE).parts[:1]]


def test_the_scan_sees_the_package():
    assert len(modules()) > 250
    assert {"none", "by_sampling", "by_noise"} <= set(PROTECTIONS)


def test_nobody_outside_the_room_names_a_protection():
    """Neither the classes, nor their names as values, nor a test for the absence of one."""
    found = [line for path in modules() for line in named_in(path)]
    assert not found, "\n".join(found)


def test_the_scan_finds_what_it_looks_for(tmp_path):
    path = tmp_path / "m.py"
    for text in ("x = BySampling()", "x = room.ByNoise", "y = n == 'by_noise'", "z = p.protection is None"):
        path.write_text(text)
        assert list(named_in(path)), text


def named_in(path: Path) -> Iterator[str]:
    """Name the places in which a module knows which protection it is."""
    classes = {PROTECTIONS[name].__name__ for name in PROTECTIONS}
    forms = {form for name in PROTECTIONS for form in (name, *PROTECTIONS[name].forms)} - {
        "none",  # also the status of a statement
        "zcdp",  # also a guarantee
        "approx",
    }
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in classes:
                yield f"{path}:{node.lineno} names {name}"
        if isinstance(node, ast.Compare):
            found = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
            if {each for each in found if isinstance(each, str)} & forms:
                yield f"{path}:{node.lineno} compares with a protection's name"
            held = [each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)]
            none = any(isinstance(each, ast.Constant) and each.value is None for each in node.comparators)
            if none and "protection" in held:
                yield f"{path}:{node.lineno} asks whether there is one"


def test_a_unit_or_deltas_beside_the_guarantee_are_refused():
    for own in ({"unit": HOME}, {"deltas": (1e-9,)}, {"hints": {}}, {"fresh_noise": 2}, {"testing": True}):
        for guarantee in (None, sdp.BySampling(), sdp.ZCDP(1.0)):
            with pytest.raises(TypeError, match=next(iter(own))):
                sdp.Synthesizer(schema=SCHEMA, guarantee=guarantee, **own)


def test_the_units_rows_are_priced_and_stated():
    alone = {"method": {"age": Gaussian(sigma=15.0)}, "schema": sdp.Schema([AGE])}
    one, four = (sampled(**alone, guarantee=sdp.BySampling(unit=each)) for each in (sdp.PrivacyUnit(), HOME))
    prices = [each.plan().price(n=1000, m=1).epsilon() for each in (one, four)]
    assert prices[1] > 3 * prices[0]
    statement = four.fit(table()[["age"]]).draw(m=1, k=50).privacy
    assert statement.unit == HOME
    assert statement.verify().ok


REFUSED = [
    (noised, {"proper": True}, "proper=True does not apply"),
    (noised, {"emit_original": True}, "emit_original=True"),
    (noised, {"keep": ["sex"]}, "kept real"),
    (noised, {"joint": [(["age", "sex"], "norm")]}, "a joint step of"),
    (noised, {"bounds": {"age": (0, 1)}}, "bounds is given beside a schema"),
    (noised, {"guarantee": sdp.ByNoise(sdp.ZCDP(1.0), hints={"nope": (1, 1)})}, "nope"),
    (sampled, {"emit_original": True}, "emit_original=True"),
    (sampled, {"keep": ["sex"]}, "kept real"),
    (sampled, {"levels": {"sex": ["F"]}}, "levels is given beside a schema"),
    (sampled, {"method": {"age": "norm"}}, "has no guarantee by sampling"),
]


@pytest.mark.parametrize(("make", "wrong", "words"), REFUSED, ids=range(len(REFUSED)))
def test_settings_beside_the_wrong_protection_are_refused_by_name(make, wrong, words):
    with pytest.raises((sdp.PlanError, sdp.PrivacyError), match=words):
        make(**wrong).plan()


@pytest.mark.parametrize("make", [sampled, lambda: sdp.Synthesizer(progress=False)])
@pytest.mark.parametrize("own", [{"answers": "a.json"}, {"noise_seed": 1}])
def test_arguments_of_a_noised_fit_are_refused_elsewhere(make, own):
    with pytest.raises(sdp.PlanError, match="belong to"):
        make().fit(table(), **own)


@pytest.mark.parametrize("make", [sampled, lambda: sdp.Synthesizer(progress=False)])
def test_shared_parameters_are_refused_where_they_mean_nothing_and_nothing_is_charged(make):
    fitted = make().fit(table())
    with pytest.raises(sdp.PlanError, match="setting parameters"):
        fitted.draw(m=1, parameters="fitted")
    assert fitted.account.copies == 0


WRONG_TYPES = [
    lambda: sdp.ZCDP("1"),
    lambda: sdp.ZCDP(True),
    lambda: sdp.ApproxDP("1", 1e-6),
    lambda: sdp.ByNoise(0.5),
    lambda: sdp.ByNoise(sdp.GDP(1.0)),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), unit="pid"),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), deltas=1e-6),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), deltas=("1e-6",)),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), deltas=()),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), deltas=(True,)),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), fresh="7"),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), fresh=True),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), fresh=-1),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), testing="no"),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), hints=[("age", 1, 2)]),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), hints={"age": 40}),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), hints={"age": ("40", 10)}),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), outside="mine"),
    lambda: sdp.ByNoise(sdp.ApproxDP(1.0, 1e-6), deltas=(1e-9,)),
    lambda: sdp.BySampling(unit="pid"),
    lambda: sdp.BySampling(exact=1),
    lambda: sdp.BySampling(deltas="1e-6"),
    lambda: noised(guarantee="zcdp"),
    lambda: noised(guarantee=0.5),
    lambda: noised(guarantee=sdp.ZCDP),
    lambda: noised(guarantee=sdp.BySampling),
    lambda: noised(proper="yes"),
    lambda: noised(proper=1),
    lambda: noised(emit_original="no"),
    lambda: noised(progress="no"),
    lambda: noised(workers=True),
    lambda: sdp.PrivacyUnit(rows_per_unit="2"),
    lambda: sdp.PrivacyUnit(name=5),
    lambda: sdp.PrivacyUnit(name=None),
    lambda: sdp.BySampling(outside=5),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), outside=None),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), hints={"age": ([40], 10)}),
    lambda: sdp.ByNoise(sdp.ZCDP(1.0), hints={"age": (float("nan"), 10)}),
]


@pytest.mark.parametrize("make", WRONG_TYPES, ids=range(len(WRONG_TYPES)))
def test_values_of_the_wrong_type_are_refused_by_name(make):
    with pytest.raises((sdp.PlanError, sdp.PrivacyError)) as caught:
        make()
    assert len(str(caught.value)) > 20


def test_what_is_right_is_written_out_alike_in_every_dialect(tmp_path):
    asked = sdp.ByNoise(sdp.ZCDP(0.5), unit=HOME, deltas=(1e-6, 1e-9), hints={"age": (40, 20)}, fresh=4)
    (tmp_path / "plan.toml").write_text(
        "[guarantee]\nname = 'zcdp'\nrho = 0.5\ndeltas = [1e-6, 1e-9]\nfresh = 4\nhints = {age = [40, 20]}\n"
        "unit = {name = 'household', rows_per_unit = 4}\n"
    )
    assert read_plan(tmp_path / "plan.toml") == {"guarantee": asked}
    from_r = {"name": "zcdp", "rho": 0.5, "deltas": [1e-6, 1e-9], "hints": {"age": [40.0, 20.0]}}
    from_r |= {"fresh_noise": 4.0, "rows_per_unit": 4.0, "unit": "household"}
    assert settings_from_r({"guarantee": from_r}, {}) == {"guarantee": asked}
    assert noised().protection == sdp.ByNoise(sdp.ZCDP(1.0))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "by_sampling", "hints": {}}, "has no setting 'hints'"),
        ({"name": "zcdp", "rho": 1, "exact": True}, "has no setting 'exact'"),
        ({"name": "zcdp", "rho": True}, "rho must be a number"),
        ({"name": "zcdp", "rho": "1"}, "rho must be a number"),
        ({"name": "by_sampling", "exact": "yes"}, "exact must be True or False"),
        ({"name": "by_sampling", "rows_per_unit": 1.5}, "rows_per_unit must be a whole number"),
        ({"name": "zcdp", "rho": 1, "fresh_noise": 2.5}, "fresh must be a number of copies"),
        ({"name": "gdp", "mu": 1}, "must be one of"),
        ("zcdp", "must come from"),
    ],
)
def test_r_and_plan_files_refuse_what_python_does(given, words):
    with pytest.raises((sdp.PlanError, sdp.PrivacyError), match=words):
        settings_from_r({"guarantee": given}, {})


def test_columns_that_the_schema_does_not_name_are_refused_under_every_protection():
    for make in (sampled, noised, lambda: sdp.Synthesizer(schema=SCHEMA, progress=False)):
        with pytest.raises(sdp.SchemaError, match="extra"):
            make().fit(table().assign(extra=1))


def test_a_plan_knows_its_price_whatever_protects():
    assert noised().plan().records_for(n=1000, rho=2.0) == 10**9  # copies cost nothing
    assert noised().plan().copies_for(n=1000, epsilon=20.0) == 10**9
    with pytest.raises(sdp.PrivacyError, match="already costs more"):
        noised().plan().records_for(n=1000, rho=0.5)
    with pytest.raises(sdp.PrivacyError, match="no guarantee"):
        sdp.Synthesizer(schema=SCHEMA).plan().records_for(n=1000, rho=0.5)
    for make in (sampled, lambda: sdp.Synthesizer(schema=SCHEMA)):
        with pytest.raises(sdp.PrivacyError, match=r"'(none|by_sampling)' foresees no precision"):
            make().plan().expected_precision(n=1000)
        with pytest.raises(sdp.PrivacyError, match=r"'(none|by_sampling)' has no rehearsal"):
            make().rehearse(table())


def test_every_statement_of_a_guarantee_says_that_it_covers_one_fit():
    for make in (sampled, noised):
        assert "covers this fit only" in " ".join(str(make().fit(table()).draw(m=1, k=20).privacy).split())


def test_a_ledger_and_an_evaluation_are_told_what_they_may_record_and_quote():
    for make, least in ((sampled, 0.0), (noised, 0.5)):
        fitted = make().fit(table())
        release = fitted.draw(m=1, k=20)
        protection = fitted.plan.protection
        spent = protection.spent(fitted.plan, fitted._machine.fit, fitted.account)
        assert spent == release.privacy.guarantee
        bound = protection.bound(release.privacy, 1e-6)
        eps = release.privacy.guarantee.epsilon(1e-6)
        assert bound == pytest.approx((np.exp(eps) - 1 + 2e-6) / (np.exp(eps) + 1), rel=1e-9)
        assert least < bound < 1
    plain = sdp.Synthesizer(progress=False).fit(table())
    assert plain.plan.protection.bound(plain.draw(m=1).privacy, 1e-6) is None
    assert plain.plan.protection.spent(plain.plan, plain._machine.fit, plain.account) is None
    void = sampled().fit(table())
    assert void.plan.protection.bound(void.draw(m=1, rng=1).privacy, 1e-6) is None


def test_no_side_door_draws_uncharged():
    fitted = sampled().fit(table())
    machine = fitted._machine
    assert not [name for name in dir(fitted) if "machine" in name and not name.startswith("_")]
    for fork in (deepcopy, pickle.dumps):
        for thing in (fitted, machine, machine.start(m=1, n_syn=5)):
            with pytest.raises(sdp.PrivacyError):
                fork(thing)
    with pytest.raises(TypeError):
        replace(fitted, account=Account())
    before = fitted.account.copies
    drawing = copy(fitted)._machine.start(m=2, n_syn=10)
    assert fitted.account.copies == before + 2
    assert len(drawing.copy(1, 1)) == 10
    with pytest.raises(sdp.PlanError, match="were charged"):
        drawing.copy(2, 1)


def test_a_fit_says_what_it_holds():
    assert "EXACT statistics" in str(sampled().fit(table()))
    assert sampled().fit(table()).confidential
    assert "protected as the copies" in noised().fit(table()).holds
    assert not noised().fit(table()).confidential
    plain = sdp.Synthesizer(progress=False).fit(table())
    assert "without any protection" in plain.holds
    assert not plain.confidential
    assert "REAL values of age" in sdp.Synthesizer(emit_original=True, progress=False).fit(table()).holds
