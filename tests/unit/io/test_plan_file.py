"""A plan file is a Synthesizer's settings, and a slip in it is named."""

from __future__ import annotations

import pandas as pd
import pytest

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.io.plans.plan_file import PLAN_VERSION, read_plan, write_plan
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.sampling.by_sampling import BySampling
from pysynthdp.synthesizer import Synthesizer

TOML = """
visit_sequence = ["sex", "age", "my income"]
formulas = ["age ~ sex"]
keep = ["region"]
drop = ["name"]
proper = true
emit_original = false

[method]
"my income" = "norm"
age = {name = "sample", emit_original = true}

[predictors]
"my income" = ["age", "sex"]

[missing]
"my income" = {"-8" = "not applicable", "-9.5" = "refused"}
age = [-1]

[spikes]
"my income" = [0, 450.5]

[bounds]
age = [0, 120]
"my income" = [0, inf]

[decimals]
age = 0

[levels]
sex = ["F", "M"]
born = [2020-01-01]
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(TOML)
    return path


def test_settings_are_those_of_the_synthesizer(plan):
    settings = read_plan(plan)
    assert settings == {
        "visit_sequence": ["sex", "age", "my income"],
        "formulas": ["age ~ sex"],
        "keep": ["region"],
        "drop": ["name"],
        "proper": True,
        "emit_original": False,
        "method": {"my income": "norm", "age": COLUMN_MODELS["sample"](emit_original=True)},
        "predictor_matrix": {"my income": ["age", "sex"]},
        "missing": {"my income": {-8: "not applicable", -9.5: "refused"}, "age": {-1: "-1"}},
        "spikes": {"my income": [0, 450.5]},
        "bounds": {"age": (0, 120), "my income": (0, None)},
        "decimals": {"age": 0},
        "levels": {"sex": ["F", "M"], "born": [pd.Timestamp("2020-01-01")]},
    }
    assert [type(code) for code in settings["missing"]["my income"]] == [int, float]
    assert Synthesizer(**settings).proper


def test_written_plan_reads_back(plan, tmp_path):
    settings = read_plan(plan)
    extra = {
        "joint": [(["a", "b"], "norm"), (["c", "d"], COLUMN_MODELS["sample"]())],
        "guarantee": BySampling(deltas=(1e-6, 1e-9), unit=PrivacyUnit(name="person")),
    }
    again = read_plan(write_plan({**settings, **extra}, tmp_path / "again.toml"))
    assert again == {**settings, **extra}


def test_a_plan_with_noise_in_the_answers_reads_back(tmp_path):
    settings = {
        "guarantee": ByNoise(
            ZCDP(0.5),
            unit=PrivacyUnit(relation="add_remove", rows_per_unit=2),
            deltas=(1e-6, 1e-9),
            hints={"age": (40.0, 15.0)},
            fresh=5,
        )
    }
    assert read_plan(write_plan(settings, tmp_path / "noised.toml")) == settings
    short = write_plan({"guarantee": ApproxDP(1.0, 1e-6)}, tmp_path / "a.toml")
    assert read_plan(short) == {"guarantee": ByNoise(ApproxDP(1.0, 1e-6))}


def test_one_method_for_all_and_a_predictor_matrix(tmp_path):
    matrix = pd.DataFrame([[0, 0], [1, 0]], index=["a", "b"], columns=["a", "b"])
    again = read_plan(write_plan({"method": "norm", "predictor_matrix": matrix}, tmp_path / "p.toml"))
    assert again == {"method": "norm", "predictor_matrix": {"a": [], "b": ["a"]}}


def test_codes_follow_the_column_type(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('[missing]\na = {"-8" = "x"}\nb = {"-8" = "x"}\nc = {"-8" = "x"}\nd = {"n/a" = "x"}\n')
    frame = pd.DataFrame({"a": [1.0], "b": ["u"], "c": pd.Categorical(["u"]), "d": pd.Categorical([1])})
    missing = read_plan(path, dtypes=frame.dtypes.to_dict())["missing"]
    assert missing == {"a": {-8: "x"}, "b": {"-8": "x"}, "c": {"-8": "x"}, "d": {"n/a": "x"}}


def test_codebook_is_found_beside_the_plan(tmp_path):
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "codebook.csv").write_text("name,levels\nsex,F|M\n")
    path = tmp_path / "p.toml"
    path.write_text('codebook = "meta/codebook.csv"\n')
    assert read_plan(path)["schema"]["sex"].levels == ("F", "M")
    path.write_text('codebook = "none.csv"\n')
    with pytest.raises(PlanError, match=r"none\.csv"):
        read_plan(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("metod = 'norm'", "did you mean 'method'"),
        ("seed = 5", "unknown key 'seed'"),
        ("keep = 'a'", "keep must be a list"),
        ("drop = [1]", "drop must be a list of texts"),
        ("proper = 1", "proper must be true or false"),
        ("missing = [1]", "missing must be a table"),
        ("[missing]\na = 3", r"missing.a must be a table"),
        ("[missing]\na = {'-8' = 1}", r"missing.a.-8 must be a text"),
        ("[decimals]\na = 1.5", r"decimals.a must be a whole number"),
        ("[bounds]\na = [1]", r"bounds.a must be \[lower, upper\]"),
        ("[bounds]\na = ['x', 1]", r"bounds.a must be \[lower, upper\]"),
        ("[spikes]\na = 0", r"spikes.a must be a list"),
        ("[method]\na = {name = 'nrm'}", "nrm"),
        ("[method]\na = {ridge = 1}", "name must be a text"),
        ("[method]\na = {name = 'sample', emit_orignal = true}", "did you mean 'emit_original'"),
        ("joint = [{columns = ['a']}]", "needs columns and method"),
        ("guarantee = {name = 'rdp'}", "by_sampling"),
        ("guarantee = {name = 'zcdp'}", "lacks a parameter"),
        ("guarantee = {name = 'zcdp', eps = 1.0}", "eps"),
        ("guarantee = {name = 'by_sampling', deltas = ['a']}", "deltas must be a list of numbers"),
        ("guarantee = {name = 'by_sampling', deltas = [1]}", "deltas must lie strictly between 0 and 1"),
        ("guarantee = {name = 'by_sampling', unit = {row_per_unit = 2}}", "did you mean 'rows_per_unit'"),
        ("guarantee = {name = 'zcdp', rho = 1, hints = {age = [1]}}", "centre, spread"),
        ("guarantee = {name = 'zcdp', rho = '1'}", "rho must be a number"),
        ("guarantee = {name = 'zcdp', rho = true}", "rho must be a number"),
        ("guarantee = {name = 'none', rho = 1}", "has no settings"),
        ("guarantee = {name = 'nothing'}", "by_sampling"),
        ("deltas = 1e-6", "belongs to the guarantee"),
        ("unit = {rows_per_unit = 2}", "belongs to the guarantee"),
        ("hints = {age = [1, 2]}", "belongs to the guarantee"),
        ("fresh_noise = 2", "write it as fresh inside"),
        ("guarantee = {name = 'by_sampling', delta = 1}", "did you mean 'deltas'"),
        ("codebook = 1", "codebook must be a text"),
        ("a = [", "not TOML"),
    ],
)
def test_slips_are_named(text, words, tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises((PlanError, PrivacyError), match=words) as caught:
        read_plan(path)
    assert "\n" not in str(caught.value)


def test_missing_file_and_unwritable_settings(tmp_path):
    with pytest.raises(PlanError, match="cannot be read"):
        read_plan(tmp_path / "none.toml")
    for settings in ({"schema": None}, {"rng": 1}, {"seed": 1}, {"levels": {"a": [object()]}}):
        with pytest.raises(PlanError):
            write_plan(settings, tmp_path / "p.toml")
    assert not (tmp_path / "p.toml").exists()


def test_awkward_texts_survive(tmp_path):
    name = 'a "b"\\ü\n\t\x7f[x].y'
    settings = {"method": {name: "norm"}, "levels": {name: ['"', "\\", "\u2028", "\x01"]}, "keep": [name]}
    assert read_plan(write_plan(settings, tmp_path / "p.toml")) == settings


@pytest.mark.parametrize("given", ["0", "1", "99", "true", '"1"', "1.5", "[1]"])
def test_a_plan_of_another_format_says_fit_again(given, tmp_path):
    """Also where its keys are not known here: the format is what is wrong."""
    path = tmp_path / "old.toml"
    path.write_text(f'format = {given}\nmetod = "norm"\n')
    with pytest.raises(PlanError, match=r"is a plan of format .* this version reads format 2.*fit again"):
        read_plan(path)


def test_a_written_plan_tells_its_format_and_one_without_is_of_this(tmp_path):
    path = write_plan({"method": "norm"}, tmp_path / "p.toml")
    assert path.read_text().startswith(f"format = {PLAN_VERSION}\n")
    path.write_text('method = "norm"\n')
    assert read_plan(path) == {"method": "norm"}
