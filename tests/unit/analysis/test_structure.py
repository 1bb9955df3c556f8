from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pysynthdp.analysis
from pysynthdp.analysis.f_tests import JOINT_TESTS
from pysynthdp.analysis.rules.base import RULES

RULE_FILES = sorted((Path(pysynthdp.analysis.__file__).parent / "rules").glob("*.py"))


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_rules_know_only_numpy_and_scipy(path):
    allowed = (
        "__future__",
        "collections.abc",
        "dataclasses",
        "typing",
        "numpy",
        "scipy",
        "abc",
        "pysynthdp.base.arrays",
        "pysynthdp.base.registry",
        "pysynthdp.base.errors",
        "pysynthdp.base.words",
        "pysynthdp.analysis.f_tests",
        "pysynthdp.analysis.rules.base",
        "pysynthdp.analysis.rules.conditions",
    )
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert all(name.name.split(".")[0] in allowed for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.module in allowed


@pytest.mark.parametrize("name", [*RULES, *JOINT_TESTS])
def test_every_rule_says_what_it_is(name):
    rule = (RULES if name in RULES else JOINT_TESTS)[name]
    assert rule.__module__.endswith(f".{name}" if name in RULES else ".joint_tests")
    assert rule.name == name
    assert rule.source
    if name in RULES:
        assert rule.formula
        assert rule.right_when.endswith(".")
        assert rule.conditions
        for test in (rule.wald, rule.lr):
            assert test is None or test in JOINT_TESTS


def test_aliases_are_unique():
    names = [alias for name in RULES for alias in (name, *RULES[name].aliases)]
    assert len(names) == len(set(names))


def test_tags_cost_no_model_library_and_names_do_not_clash_with_modules():
    code = (
        "import sys, pysynthdp.tags; assert 'statsmodels' not in sys.modules;"
        "import pysynthdp.analysis as a; assert all(callable(getattr(a, name)) for name in a.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
