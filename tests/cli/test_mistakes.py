"""Mistakes at the shell: one line, the right code, a way out in a shell's words, and no value of a record."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pysynthdp.cli.app import app
from pysynthdp.cli.exit_codes import exit_of

N = 300
SECRET, NUMBER = "SECRET_VALUE_42", "987654.321"
PYTHON = ("={", "=[", "='", "pd.", "df[", "DataFrame", "dtype", "True", "False", "Traceback", "mnlogit")
CODEBOOK = """
[columns.age]
lower = 18
upper = 90
decimals = 0
may_be_missing = false
fallback = 50
[columns.sex]
levels = ["m", "f"]
other = "m"
may_be_missing = false
"""


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, N).astype(str),
            "sex": rng.choice(["m", "f"], N),
            "income": rng.normal(2000, 400, N).round(2).astype(str),
        }
    )


@pytest.fixture
def table(tmp_path):
    """Write people to a file, one of whom has other cells; the real secret is in every file."""

    def write(name="t.csv", head="", **cells) -> Path:
        frame = people()
        for column, value in {"sex": SECRET, "income": NUMBER, **cells}.items():
            frame.loc[17, column] = value
        text = frame.to_csv(index=False)
        path = tmp_path / name
        path.write_text(text if not head else head + text[text.index("\n") :], encoding="utf-8")
        return path

    return write


def refused(done, code: int, *words: str) -> None:
    lines = done.stderr.splitlines()
    assert done.exit_code == code, done.output
    assert [line for line in lines if "warning:" not in line] == lines[-1:]
    assert all(word in lines[-1] for word in words), lines[-1]
    quiet_of(done)


def quiet_of(done) -> None:
    assert not [mark for mark in (SECRET, NUMBER, "987,654") if mark in done.output]
    assert not [mark for mark in PYTHON if mark in done.output]


def synth(path, *options, plan: str = ""):
    out = path.parent / "out"
    (path.parent / "plan.toml").write_text(plan)
    asked = ["--plan", path.parent / "plan.toml"] if plan else []
    return call("synth", path, "--m", 1, "--quiet", "--out", out, *asked, *options)


def test_a_folder_in_place_of_a_file_is_misuse(tmp_path):
    (tmp_path / "d.csv").mkdir()
    refused(synth(tmp_path / "d.csv"), 2, "is a folder")
    refused(call("look", "."), 2, "is a folder")


@pytest.mark.parametrize("first", [b"\x89PNG\r\n", b"PK\x03\x04", b"%PDF-1.7", b"PAR1"])
def test_a_picture_called_csv_is_no_question_of_its_encoding(first, tmp_path):
    (tmp_path / "t.csv").write_bytes(first + bytes(range(256)) * 9)
    refused(synth(tmp_path / "t.csv"), 3, "is no CSV")


def test_an_empty_file_is_said_to_be_empty(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\n\n")
    refused(synth(tmp_path / "t.csv"), 3, "is empty")


def test_a_codebook_that_is_not_there_is_misuse(table):
    refused(synth(table(), plan='codebook = "none.csv"'), 2, "there is no codebook", "none.csv")


def test_a_stray_text_among_numbers_is_told_as_that(table):
    done = synth(table(income=SECRET))
    refused(done, 3, "income holds numbers, but in fewer than ten rows something else", "--drop income")
    refused(synth(table(income=SECRET), plan="bounds = {income = [0, 9000]}"), 3, "income holds numbers, but")
    assert synth(table(income="")).exit_code == 0  # its advice


def test_rare_levels_are_refused_in_words_of_the_shell(table):
    refused(synth(table(), "--rare", "refuse"), 3, "sex (1)", "--rare merge", "--rare keep")


def test_a_wrong_separator_names_the_right_one(table):
    refused(synth(table(), "--sep", ";"), 3, "--sep ,")


def test_numbers_longer_than_64_bits_are_not_to_be_stored_as_numbers(table):
    path = table()
    frame = pd.read_csv(path, dtype=str)
    frame["id"] = [str(10**20 + 7 * row**2) for row in range(N)]
    frame.to_csv(path, index=False)
    refused(synth(path), 3, "id looks like an identifier", "--drop id")


def test_postcodes_declared_as_text_are_warned_of_no_more(tmp_path):
    codes = np.random.default_rng(1).choice(["01067", "01069", "10115"], N)
    people().assign(plz=codes).to_csv(tmp_path / "t.csv", index=False)
    assert "leading zeros" in call("plan", tmp_path / "t.csv").stderr
    assert call("plan", tmp_path / "t.csv", "--text", "plz", "--strict").exit_code == 0


def test_a_file_without_a_head_is_warned_of(table):
    done = call("plan", table(head="31,m,20.5"))
    assert "write a line of names above it" in done.stderr
    assert "first line" not in call("plan", table(head="age,sex,2019")).stderr


def test_a_misspelt_guarantee_is_known(table):
    refused(synth(table(), plan='guarantee = {name = "zcpd", rho = 1}'), 2, "did you mean 'zcdp'?")


def test_a_budget_that_buys_nothing_is_refused_with_4(tmp_path):
    people()[["age", "sex"]].to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "cb.toml").write_text(CODEBOOK)
    plan = 'codebook = "cb.toml"\nguarantee = {name = "zcdp", rho = 1e-5}'
    refused(synth(tmp_path / "t.csv", plan=plan), 4, "raise rho")


def test_a_look_with_a_guarantee_reads_as_who_holds_the_data_does(tmp_path):
    people()[["age", "sex"]].to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "cb.toml").write_text(CODEBOOK)
    (tmp_path / "plan.toml").write_text('codebook = "cb.toml"\nguarantee = {name = "zcdp", rho = 1}')
    shown = call("look", tmp_path / "t.csv", "--plan", tmp_path / "plan.toml").stdout
    assert "numbers stored as text" not in shown


@pytest.fixture
def release(table):
    path = table(sex="m", income="2000")
    assert synth(path, "--m", 2).exit_code == 0
    return path.parent / "out"


@pytest.mark.parametrize("formula", ["sex ~ age", "income ~ age"])
@pytest.mark.parametrize("model", ["ols", "logit"])
def test_pooling_speaks_a_shells_words(release, formula, model):
    done = call("pool", formula, release, "--model", model)
    assert "rules()" not in done.output
    quiet_of(done)


def test_a_damaged_list_is_a_changed_folder(release):
    (release / "release.json").write_text("{")
    refused(call("verify", release), 13, "damaged")


def test_no_more_threads_means_no_more_memory():
    assert exit_of(RuntimeError("can't start new thread")) == 8
    assert exit_of(RuntimeError("else")) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_signal_after_the_folder_was_written_undoes_nothing(table):
    path = table(sex="m", income="2000")
    code = (
        "import os, signal, sys, pysynthdp.cli.synth as late, pysynthdp.cli.app as cli\n"
        "read = late.read_manifest\n"
        "late.read_manifest = lambda folder: (os.kill(os.getpid(), signal.SIGTERM), read(folder))[1]\n"
        f"sys.argv = ['pysynthdp', 'synth', {str(path)!r}, '--out', {str(path.parent / 'o')!r}, '--quiet']\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "stopped" in done.stderr) == (0, False), done.stderr
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert (path.parent / "o" / "release.json").exists()


def test_a_model_for_all_columns_is_an_option_and_not_given_twice(table):
    path = table()
    assert synth(path, "--method", "cart").exit_code == 0
    steps = json.loads((path.parent / "out" / "release.json").read_text())["tags"]["steps"]
    assert {step["model"] for step in steps} == {"cart"}
    shutil.rmtree(path.parent / "out")
    refused(synth(table(), "--method", "cart", plan='method = "norm"'), 2, "--method is given", "give one")
    refused(synth(table(), "--method", "ranger"), 2, "no method 'ranger'", "'cart'")
