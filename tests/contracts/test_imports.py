"""``import pysynthdp`` is light: what costs time is loaded when a name is first used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pysynthdp

HEAVY = (
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "statsmodels",
    "formulaic",
    "matplotlib",
    "typer",
    "opendp",
    "rpy2",
)


def modules_after(code: str) -> set[str]:
    """Names in sys.modules after running code in a fresh process."""
    program = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def libraries_after(code: str) -> set[str]:
    """Top-level names among them."""
    return {name.split(".")[0] for name in modules_after(code)}


def test_importing_the_package_loads_no_library_of_numbers_and_no_r():
    assert not libraries_after("import pysynthdp; pysynthdp.__version__, dir(pysynthdp)") & set(HEAVY)


def test_the_whole_pipeline_needs_no_model_library_no_plots_and_no_r():
    code = "import pysynthdp; pysynthdp.synthesize, pysynthdp.Schema"
    assert not libraries_after(code) & {"statsmodels", "matplotlib", "rpy2", "opendp", "typer"}


ROOMS = {pysynthdp._HOME[name]: name for name in pysynthdp.__all__}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_can_be_the_first_to_load(room):
    assert f"pysynthdp.{room}" in modules_after(f"from pysynthdp import {ROOMS[room]}")


def test_every_public_name_is_there_and_listed():
    assert sorted(pysynthdp._HOME) == sorted(pysynthdp.__all__) == dir(pysynthdp)
    assert all(getattr(pysynthdp, name).__name__ == name for name in pysynthdp.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'synthesise'"):
        pysynthdp.synthesise  # noqa: B018  # the access is the test


def test_the_contract_suite_needs_no_test_library_and_no_model_library():
    assert not libraries_after("import pysynthdp.testing") & {
        "pytest",
        "hypothesis",
        "statsmodels",
        "matplotlib",
    }


def test_a_first_synthesis_does_not_wait_for_statistics_libraries():
    code = (
        "import numpy as np, pandas as pd\n"
        "from pysynthdp import Synthesizer\n"
        "table = pd.DataFrame({'x': np.arange(40.0) % 13.7, 'y': np.arange(40.0) % 11.1})\n"
        "Synthesizer(progress=False).fit(table).draw(2)"
    )
    assert not {"scipy.stats", "statsmodels", "sklearn", "matplotlib", "rpy2"} & set(modules_after(code))


def test_nobody_outside_its_file_names_the_rows_of_a_frame():
    home = Path(pysynthdp.__file__).parent
    naming = {path.relative_to(home) for path in home.rglob("*.py") if "FrameRows" in path.read_text("utf-8")}
    assert naming == {Path("curator/rows/frame.py")}


FIRST = (
    "import numpy as np, pandas as pd, pysynthdp as sdp\n"
    "x = np.arange(400)\n"
    "table = pd.DataFrame({'x': x % 13.7, 'k': x % 11, 'sex': x % 2 == 0, 'town': [f't{i % 9}' for i in x],\n"
    "    'born': pd.Timestamp('1950-01-01') + pd.to_timedelta(x * 37 % 9999, unit='D'),\n"
    "    'wage': np.exp(x % 7.3)})\n"
)
SLOW = {"formulaic", "scipy.optimize", "scipy.stats", "statsmodels"}


@pytest.mark.parametrize(
    "work",
    [
        "str(sdp.look(table))",
        "str(sdp.Synthesizer().plan(table))",
        "sdp.synthesize(table, m=2, rng=1, progress=False)",
    ],
)
def test_the_first_minutes_wait_for_no_formulas_and_no_optimisers(work):
    assert not SLOW & modules_after(FIRST + work)


def test_a_formula_in_a_plan_loads_what_reads_it():
    work = "sdp.Synthesizer(formulas=['wage ~ x * k']).plan(table)"
    assert SLOW & modules_after(FIRST + work) == {"formulaic"}
