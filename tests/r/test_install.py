"""One command installs the R package, another tells what is wrong."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.__main__ import main
from pysynthdp.bridge.check import check_installation
from pysynthdp.bridge.install import install_r_package, r_package_source
from pysynthdp.bridge.r_programs import find_program, run_r


@pytest.fixture
def library(tmp_path, monkeypatch):
    for name in ("PYSYNTHDP_PYTHON", "RETICULATE_PYTHON", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("R_LIBS", str(tmp_path / "library"))
    (tmp_path / "library").mkdir()
    return tmp_path / "library"


def test_the_installed_package_finds_this_python_by_itself(library, capfd):
    assert main(["install-r"]) == 0
    assert str(library) in capfd.readouterr().out
    code = "suppressPackageStartupMessages(library(pysynthdp)); cat(synth_engine()$executable)"
    assert run_r(code) == sys.executable
    assert main(["check"]) == 0
    said = capfd.readouterr().out
    assert "wrong" not in said
    assert "a call from R and its answer" in said


def test_the_source_is_not_touched(library):
    before = sorted(path.name for path in r_package_source().iterdir())
    install_r_package(library)
    assert sorted(path.name for path in r_package_source().iterdir()) == before
    assert not (r_package_source() / "inst" / "engine").exists()


def test_the_vignette_is_there_without_building_it(library):
    install_r_package(library)
    said = run_r(
        'v <- vignette("pysynthdp", package = "pysynthdp")\n'
        'stopifnot(inherits(v, "vignette"))\n'
        'listed <- vignette(package = "pysynthdp")$results[, "Item"]\n'
        'cat(v$Title, file.path(v$Dir, "doc", v$PDF), listed, sep = "\\n")'
    )
    title, page, item = said.splitlines()
    assert title == "Synthetic copies, statements and pooled tables"
    assert "Words of synthpop and mice" in Path(page).read_text(encoding="utf-8")
    assert item == "pysynthdp"


def test_the_page_of_the_vignette_says_what_its_source_says():
    """After a change of the source: Rscript r-bridge/make_page.R."""
    source = r_package_source()
    words = (source / "vignettes" / "pysynthdp.Rmd").read_text(encoding="utf-8").split("\n---\n", 1)[1]
    page = (source / "inst" / "doc" / "pysynthdp.html").read_text(encoding="utf-8")
    shown = bare(html.unescape(re.sub(r"<[^>]*>", "", page)))
    words = re.sub(r"```\{r setup.*?```", "", words, flags=re.DOTALL)
    lines = re.sub(r"^(```.*|\|[-|]+)$", "", words, flags=re.MULTILINE).splitlines()
    assert [line for line in lines if bare(line) not in shown] == []


def bare(text):
    """Letters and digits alone, as marks and quotes are set otherwise in a page."""
    return re.sub(r"[^0-9A-Za-z]", "", text)


def test_a_missing_package_is_told_with_its_mend(library, monkeypatch, capfd):
    monkeypatch.setenv("R_LIBS_USER", str(library))
    found = check_installation()
    wrong = [one for one in found if one.state == "wrong"]
    if not wrong:
        pytest.skip("the R package is in a library of the site")
    assert "install-r" in wrong[0].mend
    assert main(["check"]) == 1
    assert "-> " in capfd.readouterr().out


def test_an_old_package_is_told(library):
    install_r_package(library)
    description = library / "pysynthdp" / "DESCRIPTION"
    description.write_text(description.read_text("utf-8").replace("Version: ", "Version: 0.0."), "utf-8")
    meta = library / "pysynthdp" / "Meta" / "package.rds"
    run_r(
        "f <- commandArgs(TRUE); p <- readRDS(f); p$DESCRIPTION[['Version']] <- '0.0.0.1'; saveRDS(p, f)",
        str(meta),
    )
    wrong = [one for one in check_installation() if one.state == "wrong"]
    assert "another version" in wrong[0].mend


def test_a_library_that_is_no_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BridgeError, match="no folder"):
        install_r_package(tmp_path / "file")


def test_without_r_the_message_says_how_to_get_it(monkeypatch, capfd):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("R_HOME", raising=False)
    with pytest.raises(BridgeError, match="r-base-core"):
        find_program("Rscript")
    assert main(["install-r"]) == 1
    assert "r-base-core" in capfd.readouterr().err


def test_an_error_of_r_is_quoted():
    with pytest.raises(BridgeError, match="boo"):
        run_r("stop('boo')")


def test_the_module_is_a_command():
    command = [sys.executable, "-m", "pysynthdp.bridge", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "install-r" in done.stdout
