"""A user's slip is refused by name, by an error of ours, and before anything is spent."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.bridge.frames import frame_to_r
from pysynthdp.bridge.settings import settings_from_r
from pysynthdp.bridge.verbs.synthesis import synthesise
from pysynthdp.cli.app import app
from pysynthdp.curator.rows.frame import FrameRows
from pysynthdp.io.plans.plan_file import read_plan, write_plan
from pysynthdp.models import Dirichlet, Gaussian, LogRidge, Ridge
from pysynthdp.plan.protection import protection_of

AGE = sdp.NumericColumn("age", lower=18, upper=90, fallback=40, may_be_missing=False)
SEX = sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
SCHEMA = sdp.Schema([AGE, SEX])
SAMPLED = {"age": Gaussian(sigma=15.0), "sex": Dirichlet(prior=20.0)}
NOISE = sdp.ByNoise(sdp.ZCDP(5.0))


def table(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(18, 90, n), "sex": rng.choice(["F", "M"], n)})


def sampled(**changes) -> sdp.Synthesizer:
    settings = {"schema": SCHEMA, "method": SAMPLED, "guarantee": sdp.BySampling(), "progress": False}
    return sdp.Synthesizer(**{**settings, **changes})


def noised(**changes) -> sdp.Synthesizer:
    return sdp.Synthesizer(**{"schema": SCHEMA, "guarantee": NOISE, "progress": False, **changes})


FORMS = {
    "formulas of numbers": lambda make: make(formulas=[3]).plan(),
    "joint as a text": lambda make: make(joint="ab").plan(),
    "joint of numbers": lambda make: make(joint=[1]).plan(),
    "joint of one column's name": lambda make: make(joint=[("age", "multivariate_normal")]).plan(),
    "a model's class": lambda make: make(method={"age": Gaussian}).plan(),
    "block_rows as a text": lambda make: make().fit(table(), block_rows="7"),
    "block_rows as a fraction": lambda make: make().fit(table(), block_rows=2.5),
    "block_rows as a truth value": lambda make: make().fit(table(), block_rows=True),
}


@pytest.mark.parametrize("slip", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("make", [noised, sampled])
def test_settings_of_a_wrong_form_are_refused_by_name(slip, make):
    with pytest.raises((sdp.PlanError, sdp.SchemaError)) as caught:
        slip(make)
    assert any(word in str(caught.value) for word in ("formulas", "joint", "method", "block_rows"))


@pytest.mark.parametrize("seed", ["1", -1, True, 1.5, [1]])
def test_a_seed_of_noise_is_a_whole_number(seed):
    with pytest.raises(sdp.PlanError, match="noise_seed"):
        noised(guarantee=replace(NOISE, testing=True)).fit(table(), noise_seed=seed)


@pytest.mark.parametrize("name", [3, None, "", "person\nStatus: implemented", ["person"]])
def test_the_name_of_a_unit_is_one_line_of_text(name):
    with pytest.raises(sdp.PrivacyError, match="one line"):
        sdp.PrivacyUnit(name=name)


@pytest.mark.parametrize("hint", [(1, None), ([1], 2), (1j, 2), (40, "10"), (True, 2), np.array([1, 2])])
def test_a_hint_is_two_numbers(hint):
    with pytest.raises(sdp.PrivacyError, match="age: a hint is two numbers"):
        sdp.ByNoise(sdp.ZCDP(1.0), hints={"age": hint})


def test_hints_from_r_with_na_are_refused():
    with pytest.raises(sdp.PrivacyError, match="age: a hint is two numbers"):
        settings_from_r({"guarantee": {"name": "zcdp", "rho": 1, "hints": {"age": [None, 3.0]}}}, {})


@pytest.mark.parametrize("value", [None, 5, (5,), "mine"])
@pytest.mark.parametrize("make", [sdp.BySampling, lambda **own: sdp.ByNoise(sdp.ZCDP(1.0), **own)])
def test_what_is_allowed_from_outside_is_given_by_names(make, value):
    with pytest.raises(sdp.PrivacyError, match="outside must be a list"):
        make(outside=value)


@pytest.mark.parametrize("value", [None, 1e-6, object(), "1e-6", iter([2.0])])
def test_deltas_are_given_as_a_tuple(value):
    with pytest.raises(sdp.PrivacyError, match="deltas"):
        sdp.BySampling(deltas=value)


@pytest.mark.parametrize("rho", [Fraction(1, 2), np.float32(0.5), np.int64(2), np.float64(0.5)])
def test_numbers_of_any_kind_can_be_saved(rho, tmp_path):
    """A fraction cannot be written to a file, which a user learned when the budget was spent."""
    fitted = noised(guarantee=sdp.ZCDP(rho)).fit(table())
    fitted.draw(m=1, k=5).save(tmp_path / "release")
    assert sdp.verify(tmp_path / "release").status == "right"
    assert sdp.FittedSynthesizer.load(fitted.save(tmp_path / "one.fit")).plan.protection.rho == rho
    written = write_plan({"guarantee": sdp.ZCDP(rho)}, tmp_path / "plan.toml")
    assert read_plan(written)["guarantee"] == protection_of(sdp.ZCDP(rho))


@pytest.mark.parametrize("make", [noised, sampled, lambda: sdp.Synthesizer(schema=SCHEMA, progress=False)])
def test_a_drop_that_names_no_column_is_refused(make):
    """A slip in the name would release the column that was to be left out."""
    slip = replace(make(), drop=["Sex"])
    with pytest.raises(sdp.PlanError, match="drop names 'Sex'"):
        slip.fit(table())
    replace(make(), drop=["hid"]).fit(table().assign(hid=1))  # a column of the table that is not declared


def test_shared_parameters_beside_answers_of_each_copys_own_are_refused():
    fitted = noised(guarantee=replace(NOISE, fresh=3)).fit(table())
    for parameters in ("drawn", "fitted"):
        with pytest.raises(sdp.PlanError, match="of its own"):
            fitted.draw(parameters=parameters)
    assert fitted.account.copies == 0
    assert fitted.draw().m == 3


def test_a_plan_file_cannot_ask_for_seeded_noise_nor_leave_it_out_in_silence(tmp_path):
    with pytest.raises(sdp.PlanError, match="testing=True"):
        write_plan({"guarantee": replace(NOISE, testing=True)}, tmp_path / "plan.toml")
    assert not (tmp_path / "plan.toml").exists()


CONSTANTS = {
    "sigma": lambda value: {"age": Gaussian(sigma=value)},
    "penalty": lambda value: {"age": Ridge(penalty=value, sigma=5.0)},
    "prior": lambda value: {"sex": Dirichlet(prior=value)},
}


@pytest.mark.parametrize("value", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("setting", CONSTANTS)
@pytest.mark.filterwarnings("error")
def test_constants_that_nobody_can_compute_with_are_refused_by_name(setting, value):
    with pytest.raises(sdp.PrivacyError, match=rf"{setting} is .* too (small|large)"):
        sampled(method=SAMPLED | CONSTANTS[setting](value)).plan().price(n=200)


@pytest.mark.parametrize("value", [1e-40, 1e-20, 1e20, 1e40])
@pytest.mark.filterwarnings("error")
def test_what_is_not_refused_has_a_price(value):
    for method in (SAMPLED | {"age": Gaussian(sigma=value)}, SAMPLED | {"sex": LogRidge(penalty=value)}):
        assert sampled(method=method).plan().price(n=200).epsilon() >= 0


# -- before anything is spent --------------------------------------------------------------------------


@pytest.fixture
def unread(monkeypatch):
    """Fail whoever takes a table as rows."""

    def read(_rows: FrameRows) -> None:
        raise AssertionError("a table was taken")

    monkeypatch.setattr(FrameRows, "__post_init__", read)


OWN = replace(NOISE, fresh=3)


@pytest.mark.usefixtures("unread")
def test_more_copies_than_answers_of_their_own_are_refused_before_the_fit():
    with pytest.raises(sdp.PrivacyError, match="3 copies with noise of their own"):
        sdp.synthesize(table(), m=4, schema=SCHEMA, guarantee=OWN)
    with pytest.raises(sdp.PrivacyError, match="3 copies with noise of their own"):
        sdp.synthesize(table(), m=np.int64(4), schema=SCHEMA, guarantee=OWN)


def test_the_shell_refuses_them_before_the_fit(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "book.toml").write_text(
        "[columns.age]\nlower = 18\nupper = 90\nfallback = 40\nmay_be_missing = false\n"
        "[columns.sex]\nlevels = ['F', 'M']\nother = 'F'\nmay_be_missing = false\n"
    )
    (tmp_path / "plan.toml").write_text(
        "codebook = 'book.toml'\n[guarantee]\nname = 'zcdp'\nrho = 5\nfresh = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    asked = ["synth", "table.csv", "--plan", "plan.toml", "--out", "out", "--m"]
    with monkeypatch.context() as watched:
        watched.setattr(sdp.Synthesizer, "fit", None)  # whoever calls it fails
        found = CliRunner().invoke(app, [*asked, "4"])
    assert found.exit_code == 2
    assert "3 copies with noise of their own" in found.output
    assert CliRunner().invoke(app, [*asked, "3"]).exit_code == 0


@pytest.mark.parametrize(
    "slip", [{"m": 4}, {"m": "4"}, {"m": 1.5}, {"k": "x"}, {"seed": "x"}, {"seed": -1}, {"seed": 1.5}]
)
def test_r_is_told_of_a_slip_before_the_fit(slip, monkeypatch):
    monkeypatch.setattr(sdp.Synthesizer, "fit", None)
    age = {"kind": "numeric", "lower": 18, "upper": 90, "fallback": 40, "may_be_missing": False}
    settings = {"schema": {"age": age}, "guarantee": {"name": "zcdp", "rho": 5, "fresh_noise": 3}}
    with pytest.raises((sdp.PlanError, sdp.PrivacyError)):
        synthesise(frame_to_r(table()[["age"]]), settings, **slip)


@pytest.mark.parametrize("slip", [{"format": "excel"}, {"sign": "no.pem"}, {"rng": "x"}, {"k": 0}])
def test_a_slip_in_draw_to_is_not_charged(slip, tmp_path):
    fitted = sampled().fit(table())
    with pytest.raises((sdp.PlanError, sdp.ReleaseError)):
        fitted.draw_to(tmp_path / "release", m=1, **{"k": 5} | slip)
    assert fitted.account.copies == 0


@pytest.mark.parametrize("exact", [False, True])
def test_a_copy_that_was_charged_is_drawn_once(exact):
    """Drawn again it would be another copy, from fresh entropy, which nobody paid for."""
    fitted = sampled(guarantee=sdp.BySampling(exact=exact)).fit(table())
    drawing = fitted._machine.start(m=2, n_syn=10)
    drawing.copy(1, 1)
    for take in (drawing.copy, replace(drawing, root=None).copy):
        with pytest.raises(sdp.PlanError, match="were charged"):
            take(1, 1)
    with pytest.raises(sdp.PlanError, match="were charged"):
        next(drawing.blocks(1, 1))
    assert len(drawing.copy(0, 1)) == 10
    assert fitted.account.copies == 2


def test_files_that_nest_without_end_are_called_damaged(tmp_path):
    deep, folder, fit = "[" * 100_000, tmp_path / "release", tmp_path / "one.fit"
    noised().fit(table()).draw(m=1, k=5).save(folder)
    (folder / "release.json").write_text(deep)
    for read in (sdp.verify, sdp.SyntheticRelease.load):
        with pytest.raises(sdp.ReleaseError, match="damaged"):
            read(folder)
    (tmp_path / "answers.json").write_text(deep)
    with pytest.raises(sdp.ReleaseError, match="damaged"):
        noised().fit(table(), answers=tmp_path / "answers.json")
    with zipfile.ZipFile(fit, "w") as archive:
        archive.writestr("fit.json", deep)
    with pytest.raises(sdp.ReleaseError, match="damaged"):
        sdp.FittedSynthesizer.load(fit)


@pytest.mark.parametrize("cell", [["F"], {"F": 1}, np.array([1.0])], ids=lambda cell: type(cell).__name__)
def test_cells_that_are_no_values_are_refused_by_the_columns_name(cell):
    held = table().assign(sex=pd.Series([*["F"] * 199, cell], dtype=object))
    with pytest.raises(sdp.SchemaError, match="sex holds mixed objects"):
        sdp.Synthesizer(schema=SCHEMA, progress=False).fit(held)
    assert noised().fit(held).draw(m=1, k=5).privacy.status == "implemented"


def test_the_card_says_how_copies_get_their_parameters():
    assert "redrawn" in str(noised(guarantee=replace(NOISE, fresh=1)).plan())
    assert "of each copy's own" in str(noised(guarantee=replace(NOISE, fresh=2)).plan())


def test_a_plan_names_no_predictor_of_a_column_that_is_drawn_from_none():
    """Models with a guarantee of their own margin use no other column, whatever a formula asks."""
    given = {
        step.label: step.terms for step in sampled(formulas=["sex ~ age"]).plan().steps if step.label == "sex"
    }
    assert given == {"sex": ()}
    ridge = sampled(
        method=SAMPLED | {"sex": LogRidge(penalty=500.0)}, formulas=["sex ~ age"], predictor_matrix=None
    )
    assert [step.terms for step in ridge.plan().steps] == [(), (("age",),)]
