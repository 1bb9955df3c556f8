from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import pysynthdp.analysis
from pysynthdp.analysis.f_tests import JOINT_TESTS, JointTest
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.base import registry
from pysynthdp.base.errors import CombiningRuleError
from pysynthdp.base.registry import Registry

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


def test_no_module_looks_like_tests_to_the_tools():
    package = Path(pysynthdp.__file__).parent
    names = [path.name for path in package.rglob("*.py")]
    assert "f_tests.py" in names
    assert not [name for name in names if name.startswith("test_") or name.endswith("_test.py")]


def test_other_packages_announce_tests_of_several_coefficients(monkeypatch):
    class Mine(JointTest):
        name = "mine"
        source = "elsewhere"

        def share(self, m: int) -> float:
            return 1 / m

    announced = {"pysynthdp.joint_tests": [SimpleNamespace(name="mine", load=lambda: Mine)]}
    monkeypatch.setattr(registry, "entry_points", lambda group: announced.get(group, []))
    fresh = Registry(JOINT_TESTS._package, CombiningRuleError, group=JOINT_TESTS._group)
    assert fresh["mine"] is Mine


def test_aliases_are_unique():
    names = [alias for name in RULES for alias in (name, *RULES[name].aliases)]
    assert len(names) == len(set(names))


def test_tags_cost_no_model_library_and_names_do_not_clash_with_modules():
    code = (
        "import sys, pysynthdp.tags; assert 'statsmodels' not in sys.modules;"
        "import pysynthdp.analysis as a; assert all(callable(getattr(a, name)) for name in a.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
