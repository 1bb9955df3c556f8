"""Jobs from a shell: what a scheduler sees of them, and the jobs of the operators' page as written."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.jobs.keys import DOCUMENTS, JOB_KEYS, SITE_KEYS

ROOT = Path(__file__).parents[2]
VIGNETTE = ROOT / "vignettes" / "11-night-run"
PAGE = (ROOT / "docs" / "operators.md").read_text("utf-8")


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


jobs = module(ROOT / "tests" / "job_places.py")


def job(*words):
    return CliRunner().invoke(app, ["job", *map(str, words)])


@pytest.fixture
def place(tmp_path):
    (tmp_path / "people.csv").write_text(
        "sex,age,smoke,cigarettes\n" + "F,20,NO,-8\nM,30,YES,5\nF,41,YES,10\n" * 60, encoding="utf-8"
    )
    (tmp_path / "codebook.toml").write_text(jobs.CODEBOOK, encoding="utf-8")
    made = jobs.Place(tmp_path, jobs.OPEN)
    made.write()
    return made


def test_each_command_on_one_job(place):
    checked = job("check", place.file)
    assert checked.exit_code == 0
    assert len(re.findall(r"\b[0-9a-f]{64}\b", checked.output)) == 1
    assert "watermark = true" in job("check", place.file, "--expand").output
    place.write(("[plan]", "n = 180\n[plan]"))
    planned = json.loads(job("plan", place.file, "--json").output)
    assert planned["steps"][1]["step"] == "fit"
    assert 1 < planned["time_seconds"] < 60
    ran = job("run", place.file, "--json", "--log", place.folder / "out" / "run.jsonl")
    assert ran.exit_code == 0
    assert json.loads(ran.output)["gates"] == [{"gate": "rules_failed", "value": 0.0, "limit": 0}]
    assert (
        json.loads((place.folder / "out" / "run.jsonl").read_text("utf-8").splitlines()[-1])["exit_code"] == 0
    )
    assert job("run", place.file).exit_code == 2  # the folder is there
    again = job("resume", place.file)
    assert (again.exit_code, "made before" in again.output) == (0, True)
    told = json.loads(job("report", place.file, "--json").output)
    assert told["status"] == "released"
    assert job("purge", place.file).exit_code == 2
    assert job("purge", place.file, "--all").exit_code == 0
    assert not place.places.own.exists()
    assert "max_rho" in job("check", "--keys").output


def test_each_fault_has_its_code_and_its_kind_in_the_log(place):
    def ended(code, kind, *changes):
        place.text = jobs.OPEN
        place.write(*changes)
        assert job("run", place.file).exit_code == code
        lines = [json.loads(line) for line in place.places.log.read_text("utf-8").splitlines()]
        assert lines[-1]["exit_code"] == code
        assert kind in [line.get("kind") for line in lines[-3:]]

    ended(3, "input", ('path = "people.csv"', f'path = "people.csv"\nsha256 = "{"0" * 64}"'))
    ended(4, "approval", ("[sample]", "[approval]\nexpires = 2020-01-01\n[sample]"))
    ended(2, "limits", ("[sample]", "[limits]\nnice = 20\n[sample]"))
    ended(2, "expression", ('["age >= 16"]', '["age >="]'))


def test_a_price_that_no_gate_would_let_pass_is_told_by_check_and_plan(place):
    place.text = jobs.NOISED.replace("max_rho = 2.0", "max_rho = 1.5")
    place.write()
    place.ledger().init("REG", sdp.SourceLimit(rho=2.5, unit="person"), approval="x")
    assert "gates.max_rho" in job("check", place.file).output
    planned = job("plan", place.file)
    assert planned.exit_code == Exit.REFUSED
    assert "rho = 2" in planned.output  # the price stands there all the same


def child(place, *words, code=""):
    """Run a job in a process of its own, after some lines of a test's own."""
    program = f"{code}\nimport sys\nfrom pysynthdp.cli.app import main\n"
    program += f"sys.argv[1:] = {['job', *words]!r}\nmain()\n"
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=place.folder, env=here, stderr=subprocess.PIPE, text=True
    )


def wait_for_gates(process):
    """Wait until a slow run looks at its copies."""
    assert any("here" in line for line in process.stderr)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_stopped_by_a_signal_it_says_so_and_goes_on(place):
    slow = (
        "import time\nfrom pysynthdp.jobs import running\nreal = running.looked_at\n"
        "running.looked_at = lambda *a: (print('here', file=sys.stderr, flush=True), time.sleep(60))\n"
    )
    with child(place, "run", "job.toml", code="import sys\n" + slow) as began:
        wait_for_gates(began)
        began.send_signal(signal.SIGTERM)
        said = began.stderr.read()
    assert began.returncode == Exit.STOPPED
    assert "job resume goes on" in said
    assert '"exit_code": 75' in place.places.log.read_text("utf-8")
    assert json.loads(job("report", place.file, "--json").output)["status"] == "unfinished"
    assert job("run", place.file).exit_code == 2
    (place.folder / "people.csv").write_text("sex,age,smoke,cigarettes\nF,20,NO,-8\n", encoding="utf-8")
    assert job("resume", place.file).exit_code == Exit.MOVED


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_out_of_memory_is_eight(place):
    place.write(("[sample]", "[limits]\nmemory_gb = 0.05\n[sample]"))
    with child(place, "run", "job.toml") as ran:
        _, said = ran.communicate(timeout=120)
    assert ran.returncode == Exit.RESOURCES, said
    place.write(("memory_gb = 0.05", "memory_gb = 8"))
    assert job("resume", place.file).exit_code == 0


def blocks():
    return re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_every_key_code_and_document():
    for keys in (*JOB_KEYS.values(), SITE_KEYS):
        for name, key in keys.items():
            assert f"| `{name}` | {key.about} |" in PAGE
    for code in Exit:
        assert f"\n| {code.value} | " in PAGE
    assert all(f"`{name}` is {about}" in PAGE for name, about in DOCUMENTS.items())
    survey, register = blocks()
    assert survey == (VIGNETTE / "survey.toml").read_text("utf-8")
    assert register == (VIGNETTE / "register.toml").read_text("utf-8")


@pytest.fixture(scope="session")
def tables():
    pytest.importorskip("pyreadstat")
    pytest.importorskip("sqlalchemy")
    return module(VIGNETTE / "tables.py")


def test_the_survey_job_runs_as_written(tables, tmp_path):
    tables.write_survey(tables.survey(600), tmp_path / "in" / "qol2025.sav")
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "qol2025.seed").write_text("a secret of enough bytes", encoding="utf-8")
    (tmp_path / "job.toml").write_text(blocks()[0], encoding="utf-8")
    ran = job("run", tmp_path / "job.toml")
    assert ran.exit_code == 0, ran.output
    names = {path.suffix for path in (tmp_path / "out" / "qol2025").glob("synthetic_*")}
    assert {".csv", ".sav", ".dta", ".xpt"} <= names


def test_a_lock_is_not_waited_for(place):
    """A second run beside the first is refused at once."""
    slow = "from pysynthdp.jobs import running\nimport time, sys\n"
    slow += "running.looked_at = lambda *a: (print('here', file=sys.stderr, flush=True), time.sleep(60))\n"
    with child(place, "run", "job.toml", code=slow) as began:
        wait_for_gates(began)
        start = time.monotonic()
        assert job("resume", place.file).exit_code == 2
        assert time.monotonic() - start < 20
        assert json.loads(job("report", place.file, "--json").output)["status"] == "running"
        began.kill()
    assert job("resume", place.file).exit_code == 0


@pytest.mark.skipif(os.name == "nt", reason="a script for a shell of Unix")
def test_the_night_run_goes_as_its_log_says(tables, tmp_path):  # noqa: ARG001 -- which needs its packages
    folder = tmp_path / "night"
    shutil.copytree(VIGNETTE, folder)
    here = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = ["sh", "night-run.sh", "200", "400"]
    ran = subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, check=True)

    def ends(text):
        return re.findall(r"^\$ (pysynthdp \w+(?: \w+)?)|^\((exit code \d+)\)$", text, re.MULTILINE)

    assert ends(ran.stdout) == ends((VIGNETTE / "night-run.log").read_text("utf-8"))
    assert len(ends(ran.stdout)) > 30
