"""The command line: exit codes, one-line errors, silence when piped, nothing confidential said."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app

RARE = "31337"
STAGE = re.compile(r"pysynthdp: (read|fit|draw|write|pool|draw and write) .*\(\d+\.\d s\)$")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    n = 300
    return pd.DataFrame(
        {
            "my income": np.where(rng.random(n) < 0.2, -8, rng.gamma(3, 900, n).round(0)),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["F", "M"], n),
            "born": (pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9999, n), unit="D")).astype(
                str
            ),
        }
    )


@pytest.fixture
def file(table, tmp_path):
    path = tmp_path / "survey.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('[missing]\n"my income" = {"-8" = "not applicable"}\n[method]\nage = "norm"\n')
    return path


def call(*arguments):
    """Call the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def shell(*arguments, **options):
    """Call the command line as a shell does."""
    return subprocess.run(
        [sys.executable, "-m", "pysynthdp", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def complaints(stderr):
    """Lines of stderr that are not about a stage."""
    return [line for line in stderr.splitlines() if not STAGE.match(line)]


def test_survey_to_pooled_table_in_two_commands(file, plan, tmp_path):
    out = tmp_path / "out"
    made = shell("synth", file, "--m", 3, "--out", out, "--plan", plan, "--seed", 918273645)
    assert made.returncode == 0, made.stderr
    assert complaints(made.stderr) == []
    stages = [line.split()[1] for line in made.stderr.splitlines()]
    assert stages == ["read", "fit", "draw"]
    assert "pysynthdp: read survey.csv: 300 rows, 4 columns (" in made.stderr
    assert "no formal guarantee" in made.stdout
    assert str(out) in made.stdout
    assert "918273645" not in made.stdout + "".join(path.read_text(errors="ignore") for path in out.iterdir())
    pooled = shell("pool", "age ~ C(sex)", out, "--model", "ols")
    assert pooled.returncode == 0, pooled.stderr
    release = sdp.SyntheticRelease.load(out)
    assert release.m == 3
    assert release[0]["born"].dtype.kind == "M"
    assert pooled.stdout.strip() == sdp.ols("age ~ C(sex)", release).summary().said("shell").strip()


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_former_option_is_taken_and_changes_nothing(file, plan, file_format, tmp_path):
    for name, extra in (("a", []), ("b", ["--stream"])):
        arguments = ["--m", 2, "--k", 500, "--plan", plan, "--seed", 4, "--format", file_format, "--proper"]
        result = call("synth", file, "--out", tmp_path / name, *arguments, *extra)
        assert result.exit_code == 0, result.output
        assert "no formal guarantee" in result.output
    first, second = (sdp.SyntheticRelease.load(tmp_path / name) for name in "ab")
    assert first.n_syn == 500
    assert first.tags.parameters == "drawn"
    for ours, theirs in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_a_batch_log_holds_no_shares_of_the_table(file, plan, tmp_path):
    done = call("synth", file, "--out", tmp_path / "r", "--plan", plan)
    assert done.exit_code == 0
    assert "do not release" in call("look", file).output
    assert "do not release" not in done.output + done.stderr


def test_look_and_plan_write_nothing(file, plan, tmp_path):
    before = sorted(tmp_path.iterdir())
    seen = call("look", file)
    assert seen.exit_code == 0
    assert 'missing = { "my income" = { -8 = "..." } } in the plan' in " ".join(seen.output.split())
    assert "not applicable" in call("look", file, "--plan", plan).output
    planned = call("plan", file, "--plan", plan)
    assert planned.exit_code == 0
    assert re.search(r"age +norm", planned.output)
    assert sorted(tmp_path.iterdir()) == before


def test_plan_from_a_codebook_reads_no_table(tmp_path):
    (tmp_path / "codebook.csv").write_text("name,levels,lower\nsex,F|M,\nage,,0\n")
    (tmp_path / "plan.toml").write_text('codebook = "codebook.csv"\n')
    result = call("plan", "--plan", tmp_path / "plan.toml")
    assert result.exit_code == 0, result.output
    assert "age" in result.output


def test_pool_as_csv_with_a_family(file, tmp_path):
    assert call("synth", file, "--m", 2, "--out", tmp_path / "r", "--seed", 1).exit_code == 0
    result = call(
        "pool", "age ~ sex", tmp_path / "r", "--model", "glm", "--family", "poisson", "--format", "csv"
    )
    assert result.exit_code == 0, result.output
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["term", "Intercept", "sex[T.M]"]
    assert call("pool", "age ~ sex", tmp_path / "r", "--details").exit_code == 0
    unknown = call("pool", "age ~ sex", tmp_path / "r", "--rule", "magic")
    assert unknown.exit_code == 2
    assert len(complaints(unknown.stderr)) == 1
    assert call("pool", "age ~ sex", tmp_path / "r", "--family", "poisson").exit_code == 2


def test_version_and_help():
    assert call("--version").output == f"pysynthdp {sdp.__version__}\n"
    for name in ("look", "plan", "synth", "pool"):
        assert name in call("--help").output
        assert call(name, "--help").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["look", "{file}", "--nonsense"],
        ["look"],
        ["fly"],
        ["look", "none.csv"],
        ["look", "survey.xlsx"],
        ["look", "{file}", "--plan", "none.toml"],
        ["plan"],
        ["synth", "{file}"],
        ["synth", "{file}", "--out", "{tmp}"],
        ["synth", "{file}", "--out", "{tmp}/r", "--m", "0"],
        ["synth", "{file}", "--out", "{tmp}/r", "--k", "none"],
        ["synth", "{file}", "--out", "{tmp}/r", "--seed", "-1"],
        ["synth", "{file}", "--out", "{tmp}/r", "--format", "xlsx"],
        ["synth", "{file}", "--out", "{tmp}/r", "--drop", "nothing"],
        ["pool", "age ~ sex", "{tmp}/r", "--model", "forest"],
    ],
)
def test_misuse_is_exit_code_2(arguments, file, tmp_path):
    result = call(*(argument.format(file=file, tmp=tmp_path) for argument in arguments))
    assert result.exit_code == 2, result.output
    (said,) = complaints(result.stderr)
    assert said.startswith("pysynthdp: ")
    assert not (tmp_path / "r").exists()


def test_without_a_command_help_is_shown():
    result = call()
    assert result.exit_code == 2
    assert all(name in result.output for name in ("look", "plan", "synth", "pool"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed = 1", "unknown key 'seed'"),
        ("[method]\nage = 'nrm'", "nrm"),
        ("[method]\nnobody = 'norm'", "nobody"),
        ("[method]\nsex = 'norm'", "sex"),
    ],
)
def test_slips_in_a_plan_are_exit_code_2_in_one_line(text, words, file, tmp_path):
    (tmp_path / "p.toml").write_text(text)
    result = call("synth", file, "--out", tmp_path / "r", "--plan", tmp_path / "p.toml")
    assert result.exit_code == 2
    (said,) = complaints(result.stderr)
    assert words in said
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("plan_text", "column", "mend"),
    [
        ("[bounds]\nage = [0, 50]", "age", "widen the bounds"),
        ("[levels]\nsex = ['F', 'X']", "sex", "levels"),
        ("", "name", "drop"),
    ],
)
def test_data_that_do_not_fit_are_exit_code_3_and_quote_no_value(plan_text, column, mend, table, tmp_path):
    wide = table.assign(name=[f"person {RARE} {i}" for i in range(len(table))]) if not plan_text else table
    odd = wide.assign(age=table["age"].where(table.index != 7, int(RARE)))
    odd.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.toml").write_text(plan_text)
    arguments = ["synth", tmp_path / "t.csv", "--out", tmp_path / "r", "--plan", tmp_path / "p.toml"]
    result = shell(*arguments)
    assert result.returncode == 3, result.stderr
    (said,) = complaints(result.stderr)
    assert column in said
    assert mend in said
    assert RARE not in result.stderr
    assert not (tmp_path / "r").exists()


def test_an_identifier_can_be_dropped_at_once(table, tmp_path):
    table.assign(name=[f"p{i}" for i in range(len(table))]).to_csv(tmp_path / "t.csv", index=False)
    result = call("synth", tmp_path / "t.csv", "--out", tmp_path / "r", "--drop", "name", "--m", 1)
    assert result.exit_code == 0, result.output
    assert "name" not in sdp.SyntheticRelease.load(tmp_path / "r")[0].columns


def test_a_folder_that_is_no_release_is_misuse(tmp_path):
    result = call("pool", "age ~ sex", tmp_path / "none")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "there is no folder" in result.stderr


def test_unexpected_errors_hide_their_message_unless_debugged(monkeypatch, file, tmp_path):
    monkeypatch.chdir(tmp_path)

    def broken(*_, **__):
        raise RuntimeError(RARE)

    monkeypatch.setattr("pysynthdp.synthesizer.table_file.rows_of_file", broken)
    result = call("look", file)
    assert result.exit_code == 1
    assert RARE not in result.output
    assert "RuntimeError" in result.stderr
    assert result.stderr.count("\n") == 1
    (report,) = tmp_path.glob("pysynthdp-error-*.txt")
    assert report.name in result.stderr
    text = report.read_text()
    assert RARE not in text
    assert str(file) not in text
    assert str(Path(sdp.__file__).parents[1]) not in text  # nor whose machine it is
    assert "  pysynthdp/cli" in text
    assert "RuntimeError" in text
    assert "in broken" in text
    assert f"pysynthdp: {sdp.__version__}" in text
    debugged = call("look", file, "--debug")
    assert debugged.exit_code == 1
    assert RARE in debugged.stderr


def test_debug_shows_the_trace_of_our_own_errors():
    result = shell("look", "none.csv", "--debug")
    assert result.returncode == 2
    assert "Traceback" in result.stderr
    assert "PlanError" in result.stderr


def test_names_in_any_script_survive_a_plain_terminal(tmp_path):
    pd.DataFrame({"größe 身長": [1.5, 2.5, 3.5, 4.5]}).to_csv(tmp_path / "t.csv", index=False)
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    result = shell("look", tmp_path / "t.csv", env=environment, encoding="latin-1")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_leaves_no_half_release(number, tmp_path):
    rng = np.random.default_rng(1)
    pd.DataFrame(rng.normal(size=(2000, 6)).round(3), columns=list("abcdef")).to_csv(
        tmp_path / "t.csv", index=False
    )
    file, out = str(tmp_path / "t.csv"), str(tmp_path / "r")
    command = [sys.executable, "-m", "pysynthdp", "synth", file, "--out", out, "--format", "csv"]
    with subprocess.Popen(
        [*command, "--m", "50", "--k", "200000"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while not list(tmp_path.glob(".r.*.part/*")) and process.poll() is None:
            time.sleep(0.05)
        assert list(tmp_path.glob(".r.*.part/*")), "the draft never appeared"
        process.send_signal(number)
        _, said = process.communicate()
        assert process.returncode == 75
        (line,) = complaints(said)
        assert line.startswith(f"pysynthdp: stopped by {number.name}; nothing is written")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_full_disk_is_told_and_leaves_nothing(file_format, tmp_path):
    pd.DataFrame({"x": np.random.default_rng(1).normal(size=200).round(3)}).to_csv(
        tmp_path / "t.csv", index=False
    )
    limited = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
        "sys.argv[0] = 'pysynthdp'; runpy.run_module('pysynthdp', run_name='__main__')"
    )
    command = ["synth", tmp_path / "t.csv", "--out", tmp_path / "r", "--k", 200_000, "--format", file_format]
    done = subprocess.run(
        [sys.executable, "-c", limited, *map(str, command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 8, done.stderr
    (line,) = complaints(done.stderr)
    assert "cannot be written" in line
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_several_tables_are_imputations_of_one(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=90).round(2)
    files = []
    for number in range(3):
        y = np.where(np.arange(90) < 30, rng.normal(size=90), x + 1).round(2)
        files.append(tmp_path / f"imputed_{number}.csv")
        pd.DataFrame({"x": x, "y": y}).to_csv(files[-1], index=False)
    done = call("synth", *files, "--out", tmp_path / "r", "--m", "2", "--seed", "1", "--stream")
    assert done.exit_code == 0, done.output
    assert sdp.SyntheticRelease.load(tmp_path / "r").nests == ("1", "1", "2", "2", "3", "3")
    assert "missing_then_partial_reiter2004" in call("pool", "y ~ x", tmp_path / "r").output
    pd.DataFrame({"x": x[1:], "y": x[1:]}).to_csv(files[1], index=False)
    wrong = call("synth", *files, "--out", tmp_path / "s")
    assert wrong.exit_code == 3
    assert "imputed table 2 has another number of rows" in wrong.output
    assert not (tmp_path / "s").exists()


def test_several_tables_are_refused_under_a_guarantee_before_one_is_read(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('format = 2\n[guarantee]\nname = "zcdp"\nrho = 1.0\n', encoding="utf-8")
    files = [tmp_path / f"imputed_{number}.csv" for number in range(2)]
    files[0].write_text('x\n"1', encoding="utf-8")
    files[1].write_text("x\n1\n2\n", encoding="utf-8")
    refused = call("synth", *files, "--out", tmp_path / "r", "--plan", plan)
    assert refused.exit_code == 2, refused.output
    assert "spend the budget again" in " ".join(refused.output.split())


def test_synth_writes_several_formats_and_leaves_the_mark_out_where_asked(tmp_path, file):
    asked = ["--m", 1, "--format", "csv", "--format", "sav", "--no-watermark"]
    done = call("synth", file, "--out", tmp_path / "r", *asked)
    assert done.exit_code == 0, done.output
    assert {"synthetic_1.csv", "synthetic_1.sav"} <= {path.name for path in (tmp_path / "r").iterdir()}
    assert "_synthetic" not in (tmp_path / "r" / "synthetic_1.csv").read_text().splitlines()[0]
