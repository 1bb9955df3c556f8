"""A setting is a field of the synthesizer, a line of the one table, a key of the plan, an argument in R."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import pysynthdp as sdp
from pysynthdp.base import forms
from pysynthdp.base.errors import PlanError
from pysynthdp.base.forms import FLAG, TEXT, WHOLE
from pysynthdp.bridge.r_values import R
from pysynthdp.io.plans.plan_file import KEYS, READING, read_plan
from pysynthdp.io.plans.toml_values import Toml
from pysynthdp.plan import settings_table
from pysynthdp.plan.settings_table import SETTINGS
from pysynthdp.schema.declarations import DECLARATIONS

R_CODE = Path(__file__).parents[2] / "r-bridge"
PYTHON_ONLY = {
    "workers": "never changes a result: the shell and R leave it to the machine",
    "progress": "never changes a result: the shell shows stages, and R shows nothing",
    "scratch": "never changes a result: where a table lies while it is fitted",
    "scratch_encrypt": "never changes a result: how a table lies there",
}
NOT_IN_R = {
    "emit_original": "set model by model there: list(name = 'sample', emit_original = TRUE)",
}
NO_SETTING_IN_PLANS = {"format": "of the file itself", **dict.fromkeys(READING, "of the table's file")}
NO_SETTING_IN_R = {
    "x": "the data",
    "m": "of the drawing",
    "k": "of the drawing",
    "seed": "of the drawing",
    "ledger": "of who pays for a guarantee",
    "source": "of who pays for a guarantee",
    "answers": "of a run that goes on",
    "...": "synthpop's spellings",
    "plan": "a file of settings",
}


def r_function(file: str, start: str) -> str:
    """Give the arguments of a call or function in a file of the R package, between its parentheses."""
    code = (R_CODE / file).read_text(encoding="utf-8")
    begin = code.index(start) + len(start)
    depth, end = 1, begin
    while depth:
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    return code[begin : end - 1]


def named(arguments: str) -> set[str]:
    """Give the names of arguments, those in calls among them left out."""
    while re.search(r"\([^()]*\)", arguments):
        arguments = re.sub(r"\([^()]*\)", "", arguments)
    return {part.split("=")[0].strip() for part in arguments.split(",")}


def test_the_table_has_the_fields_of_the_synthesizer():
    taken = {item.name for item in fields(sdp.Synthesizer) if item.init}
    assert taken - PYTHON_ONLY.keys() == SETTINGS.keys()
    assert all(name == line.name for name, line in SETTINGS.items())


def test_a_plan_has_the_keys_of_the_table():
    keys = {line.key or name for name, line in SETTINGS.items()}
    assert KEYS.keys() - NO_SETTING_IN_PLANS.keys() == keys
    assert all(KEYS.values())
    told = re.findall(r"\w+", read_plan.__doc__)
    assert set(KEYS) <= set(told)


@pytest.mark.parametrize(
    ("file", "start"),
    [
        ("R/synthesise.R", "synthesise.data.frame <- function("),
        ("R/declare.R", "declared <- function("),
        ("R/arguments.R", "settings_of <- function("),
        ("R/arguments.R", "settings <- list("),
    ],
)
def test_r_takes_and_sends_the_settings_of_the_table(file, start):
    also = {*NO_SETTING_IN_R, "data", "visit.sequence", "predictor.matrix", "cont.na", "semicont"}
    assert named(r_function(file, start)) - also == SETTINGS.keys() - NOT_IN_R.keys()


def test_r_tells_of_each_argument():
    told = set(re.findall(r"\\item\{(\w+)\}", (R_CODE / "man/synthesise.Rd").read_text(encoding="utf-8")))
    assert SETTINGS.keys() - NOT_IN_R.keys() <= told


def test_declarations_are_settings_by_column_that_look_tries_out():
    of_the_table = {"table", "exempt", "drop", "scratch", "scratch_encrypt"}
    assert set(DECLARATIONS) == set(inspect.signature(sdp.look).parameters) - of_the_table
    assert {SETTINGS[what].form.name for what in DECLARATIONS} == {"by column"}


FAULTS = {form.name for form in (TEXT, FLAG, WHOLE)}.union(
    *(re.findall(r'fault\("([\w ]+)"', inspect.getsource(module)) for module in (forms, settings_table))
)
NO_FAULT_IN_R = {
    "list": "a single value is a vector",
    "codes": "a single value is a vector",
    "step": "steps are checked together",
    "half a step": "steps are checked together",
}


def test_each_dialect_has_words_for_every_fault():
    assert len(FAULTS) > 10
    assert Toml(Path()).words.keys() >= FAULTS
    assert FAULTS - NO_FAULT_IN_R.keys() <= R.words.keys()


WRONG = {
    "text": (3, "rare"),
    "flag": ("yes", "proper"),
    "names": ([1], "keep"),
    "by column": (3, "levels"),
    "pair": ({"a": [[1], 2]}, "bounds"),
    "whole number": ({"a": 0.5}, "decimals"),
    "model": ({"a": 3}, "method"),
    "model's name": ({"a": {"name": 3}}, "method"),
    "model's setting": ({"a": {"name": "norm", "ridg": 1}}, "method"),
    "steps": (["a"], "joint"),
    "design": ("pw", "design"),
    "guarantee": ("zcdp", "guarantee"),
    "schema": (3, "schema"),
}


@pytest.mark.parametrize("notation", [R, Toml(Path())], ids=["R", "TOML"])
@pytest.mark.parametrize("fault", WRONG)
def test_what_has_not_its_form_is_refused_by_name_in_each_dialect(fault, notation):
    value, name = WRONG[fault]
    with pytest.raises(PlanError, match=name):
        SETTINGS[name].form.take(value, notation.at(name))
