"""docs/ledger.md is true: its programs run, its commands are those of the shell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pysynthdp.base.errors import PrivacyError
from pysynthdp.cli.app import app
from pysynthdp.io.ledger import SpendingLedger

PAGE = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_programs_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for program in blocks("python"):
        exec(compile(program, "docs/ledger.md", "exec"), names)  # noqa: S102 -- our own page
    mark, left = capsys.readouterr().out.splitlines()
    assert mark.startswith("source REG, entry 2, head ")
    assert float(left) == pytest.approx(0.5 - 0.5 * 0.24491866)  # tanh(1/4)


def test_the_commands_run_in_order(tmp_path):
    text = "\n".join(blocks("console")).replace("\\\n", " ")
    where = str(tmp_path / "ledger.db")
    for line in filter(str.strip, text.splitlines()):
        words = line.replace("/secure/ledger.db", where).split()
        assert words.pop(0) == "pysynthdp"
        if "--release" not in words:
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, done.output


def test_the_options_that_it_names_are_those_of_the_shell():
    told = {*re.findall(r"`(--[a-z]+)", PAGE)}
    helps = "".join(
        CliRunner().invoke(app, [*words.split(), "--help"]).output
        for words in ("ledger init", "ledger show", "ledger verify", "ledger abandon", "synth", "parameter")
    )
    assert len(told) > 8
    assert not [option for option in told if option not in helps]


@pytest.mark.parametrize("place", ["A broken chain", "Backup", "Moving", "Clocks"])
def test_what_errors_point_to_is_there(place):
    assert f"**{place}.**" in PAGE


def test_a_source_that_was_not_opened_is_refused_as_it_says(tmp_path):
    with pytest.raises(PrivacyError, match="pysynthdp ledger init"):
        SpendingLedger(tmp_path / "none.db").account("REG")
