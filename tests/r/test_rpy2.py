"""R embedded by rpy2: each test has a process of its own, since R cannot be stopped once it runs in one."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

TESTS = Path(__file__).parents[2] / "r-bridge" / "tests" / "testthat"
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))
# not importorskip: an rpy2 that does not fit R fails with errors of many types
needs_rpy2 = pytest.mark.skipif(
    not MUST_RUN and importlib.util.find_spec("rpy2") is None, reason="rpy2 is not installed"
)

START = """
import warnings
import numpy as np, pandas as pd, pysynthdp as sdp
from pysynthdp.base.errors import CombiningRuleError, PlanError, PysynthdpWarning
from pysynthdp.bridge.rpy2 import RError, RWarning, attach, evaluate, from_r, to_r
"""


@pytest.fixture
def run_python(r_library, tmp_path):
    def run(code, **environment):
        env = {**os.environ, "R_LIBS": str(r_library), "OPENBLAS_NUM_THREADS": "1", "NOT_CRAN": "true"}
        done = subprocess.run(
            [sys.executable, "-c", START + code],
            capture_output=True, text=True, check=False, env=env | environment, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_package_never_imports_rpy2():
    code = (
        "import sys, pysynthdp, pysynthdp.bridge, pysynthdp.bridge.rpy2, pysynthdp.bridge.worker; "
        "pysynthdp.Synthesizer; pysynthdp.pool; sys.exit(any(m.split('.')[0] == 'rpy2' for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "raised", ["ImportError('x')", "SystemError('undefined symbol: R_getVar')", "OSError(2)"]
)
def test_any_failure_to_load_is_one_clear_message(raised, tmp_path):
    package = tmp_path / "rpy2"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "rinterface.py").write_text(f"raise {raised}\n", encoding="utf-8")
    code = (
        "from pysynthdp.bridge.rpy2 import attach\n"
        "from pysynthdp.base.errors import BridgeError\n"
        "try:\n    attach()\nexcept BridgeError as error:\n    print(error)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert "pip install 'rpy2-rinterface==3.6.5'" in done.stdout, done.stdout + done.stderr
    assert len(done.stdout.strip().splitlines()) == 1


@needs_rpy2
def test_releases_and_frames_cross_unchanged(run_python):
    run_python("""
attach()
table = pd.DataFrame({"g": pd.Categorical(list("ab") * 40), "x": np.arange(80) % 7 / 2})
release = sdp.synthesize(table, m=2, rng=1)
back = from_r(to_r(release))
assert back.tags == release.tags and back.schema == release.schema
assert evaluate('s <- synthesise(iris, m = 3, seed = 1)').m == 3
frame = evaluate('''d <- data.frame(i = c(1L, NA), l = c(TRUE, NA), s = c("a", NA))
d$f <- addNA(factor(c("x", NA))); d$d <- structure(c(0L, NA), class = "Date")
attr(d$i, "label") <- "Age"; d''')
import rpy2.robjects as ro
ro.globalenv["again"] = to_r(frame)
assert evaluate("identical(d, again)") is True
assert frame["i"].isna().tolist() == [False, True]
frame.to_parquet("x.parquet")  # nothing of R rides along in attrs
""")


@needs_rpy2
def test_cells_of_r_are_read_alone_where_a_schema_is_given(run_python):
    run_python("""
import warnings
attach()
import rpy2.robjects as ro
schema = sdp.Schema([sdp.NumericColumn("born", unit="day"), sdp.CategoricalColumn("g", ["a"], other="a")])
table = ro.r('''data.frame(born = structure(c(8000, Inf, 0.5), class = "Date"),
                    g = structure(c(1L, 2L, NA), levels = c("a", NA), class = "factor"))''')
with warnings.catch_warnings():
    warnings.simplefilter("error")
    frame = from_r(table, schema=schema)
assert frame["born"].tolist() == [8000.0, float("inf"), 0.5]
assert frame["g"].isna().tolist() == [False, True, True]
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    from_r(table)
assert "'born', 'g': for some cell the whole column is read otherwise" in str(heard[-1].message)
""")


@needs_rpy2
def test_starting_r_leaves_the_environment_of_children_alone(run_python):
    run_python("""
import os, subprocess, sys
before = os.environ.get("LD_LIBRARY_PATH")
attach()
assert os.environ.get("LD_LIBRARY_PATH") == before
subprocess.run([sys.executable, "-c", "import ssl"], check=True)
""")


@needs_rpy2
def test_conditions_cross_with_class_and_text(run_python):
    run_python("""
attach()
def raised(code):
    try:
        evaluate(code)
    except Exception as error:
        return error
error = raised("synthesise(iris, m = 0)")
assert type(error) is PlanError and "at least 1" in str(error)
evaluate("fits <- with(synthesise(iris, m = 5, seed = 1), lm(Sepal.Width ~ Species)); 1")
error = raised("pool(fits, rule = 'missing_rubin1987')")
assert type(error) is CombiningRuleError
error = raised("stop(structure(class = c('mine', 'error', 'condition'), list(message = 'boo', call = NULL)))")
assert type(error) is RError and error.classes[0] == "mine" and str(error) == "boo"
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    assert evaluate("warning('careful'); 3") == 3
assert [str(one.message) for one in heard if one.category is RWarning] == ["careful"]
assert heard[0].message.classes == ("simpleWarning", "warning", "condition")
assert issubclass(RWarning, PysynthdpWarning)
assert evaluate("tryCatch(synthesise(iris, m = 0), pysynthdp_plan_error = function(e) 'caught')") == "caught"
""")


@needs_rpy2
def test_conditions_leave_a_cell_with_class_and_text(run_python):
    run_python("""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "pysynthdp.bridge.rpy2")
def raised(code):
    try:
        shell.run_cell_magic("R", "", code)
    except Exception as error:
        return error
error = raised("x <- 1\\nsynthesise(iris, m = 0)")
assert type(error) is PlanError and "at least 1" in str(error)
error = raised("f <- function() stop('boo'); f()")
assert type(error) is RError and str(error) == "boo" and error.classes[0] == "simpleError"
error = raised("stop(structure(class = c('mine', 'error', 'condition'), list(message = 'own', call = NULL)))")
assert type(error) is RError and str(error) == "own" and error.classes[0] == "mine"
assert raised("1 +").classes[0] == "parseError"
for _ in range(2):  # a warning is told again each time
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        assert raised("y <- x + 1; warning('careful') # a comment at the end") is None
    assert [str(one.message) for one in heard if one.category is RWarning] == ["careful"]
assert evaluate("y") == 2
assert raised("tryCatch(stop('caught'), error = function(e) 1)") is None
assert raised("suppressWarnings(as.integer('a'))") is None
assert "caught" in str(raised("options(warn = 2); warning('caught')"))
""")


@needs_rpy2
@pytest.mark.parametrize("name", ["transport", "synthesise", "pool", "leaks", "objects"])
def test_testthat_passes_embedded(run_python, name):
    said = run_python(
        f"""
attach()
import rpy2.robjects as ro
ro.r('''library(testthat)
table <- as.data.frame(test_file("{TESTS / f"test-{name}.R"}", reporter = "check", package = "pysynthdp",
                                 load_package = "none", stop_on_failure = FALSE))
cat("TOTAL", sum(table$failed) + sum(table$error), sum(table$nb))''')
""",
        PYSYNTHDP_TEST_CARRIERS="embedded",
        PYSYNTHDP_PYTHON=sys.executable,
    )
    failed, expectations = map(int, re.findall(r"TOTAL (\d+) (\d+)", said)[-1])
    assert failed == 0, said
    assert expectations > 5, said


@needs_rpy2
def test_a_notebook_has_r_with_the_package(r_library, monkeypatch):
    monkeypatch.setenv("R_LIBS", str(r_library))
    cells = [
        "%load_ext pysynthdp.bridge.rpy2",
        (
            "import pandas as pd\ndf = pd.DataFrame({'n': pd.array([1, None, 3], dtype='Int32')})\n"
            "df['b'] = pd.array([True, None, False], dtype='boolean')"
        ),
        (
            "%%R -i df -o back\nstopifnot(identical(df$n, c(1L, NA, 3L)))\n"
            "stopifnot(identical(df$b, c(TRUE, NA, FALSE)))\n"
            "back <- df"
        ),
        "assert back['n'].isna().tolist() == [False, True, False]; assert str(back['b'].dtype) == 'boolean'",
        "%%R -o s\ns <- synthesise(mtcars, m = 5, seed = 1)\nprint(s)",
        "import pysynthdp\nassert isinstance(s, pysynthdp.SyntheticRelease) and s.m == 5",
        "%%R\nprint(pool(with(s, lm(mpg ~ wt))))",
        "%%R\ntryCatch(synthesise(iris, m = 0), pysynthdp_plan_error = function(e) cat('caught'))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
    printed = ["".join(o.get("text", "") for o in cell.outputs) for cell in notebook.cells]
    assert "5 copies of 32 rows" in printed[4]
    assert "partial_size_adjusted" in printed[6]
    assert "caught" in printed[7]
