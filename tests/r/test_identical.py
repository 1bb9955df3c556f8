"""R itself says ``identical()`` of what came back from Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pysynthdp.bridge.codec import dumps, load_rds, named_list, save_rds
from pysynthdp.bridge.frames import frame_from_r, frame_to_r, read_rds, write_rds

pytestmark = [
    pytest.mark.filterwarnings("ignore:the tagged missing values"),
    pytest.mark.filterwarnings("ignore:.*the whole column is read otherwise"),
]
GOLDEN = Path(__file__).parents[1] / "golden" / "r"
FRAMES = ["kinds", "kinds_no_rows", "kinds_row_numbers", "kinds_many_rows", "kinds_tibble"]


def _r(code: str, *arguments: Path) -> str:
    """Run R code and give what it prints."""
    command = ["Rscript", "--vanilla", "-e", code, *map(str, arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _identical(one: Path, other: Path) -> str:
    return _r("a <- commandArgs(TRUE); cat(identical(readRDS(a[1]), readRDS(a[2])))", one, other)


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_identical_in_r(tmp_path, name):
    came = read_rds(GOLDEN / f"{name}.rds")
    write_rds(came.frame, tmp_path / "x.rds", facts=came.facts)
    assert _identical(GOLDEN / f"{name}.rds", tmp_path / "x.rds") == "TRUE"


def test_shapes_are_identical_in_r(tmp_path):
    shapes = load_rds(GOLDEN / "shapes.rds")
    came = [frame_from_r(item) for item in shapes.items]
    back = {name: frame_to_r(one.frame, one.facts) for name, one in zip(shapes.names, came, strict=True)}
    save_rds(named_list(back), tmp_path / "x.rds")
    assert _identical(GOLDEN / "shapes.rds", tmp_path / "x.rds") == "TRUE"


@pytest.mark.parametrize("name", ["values", "recipes"])
def test_objects_are_identical_in_r(tmp_path, name):
    save_rds(load_rds(GOLDEN / f"{name}.rds"), tmp_path / "x.rds", compress="none")
    assert _identical(GOLDEN / f"{name}.rds", tmp_path / "x.rds") == "TRUE"


def test_tagged_na_and_payloads_are_the_same_bits_in_r(tmp_path):
    # identical() takes every NA for the same, so the bits are compared.
    came = read_rds(GOLDEN / "kinds.rds")
    write_rds(came.frame, tmp_path / "x.rds", facts=came.facts)
    bits = (
        "a <- lapply(commandArgs(TRUE), readRDS); k <- c('labelled_tagged_na', 'double', 'integer64'); "
        "f <- function(d) lapply(d[k], function(x) serialize(as.vector(unclass(x)), NULL)); "
        "cat(identical(f(a[[1]]), f(a[[2]])))"
    )
    assert _r(bits, GOLDEN / "kinds.rds", tmp_path / "x.rds") == "TRUE"


def test_a_frame_born_in_python_is_what_r_would_make(tmp_path):
    frame = pd.DataFrame({
        "i": [1, 2], "d": [0.5, np.inf], "s": ["a", None], "b": pd.array([True, None], dtype="boolean"),
        "f": pd.Categorical(["y", "x"], categories=["y", "x", "z"]),
        "t": pd.to_datetime(["2020-01-01 12:00", None]).tz_localize("Europe/London"),
    })  # fmt: skip
    write_rds(frame, tmp_path / "x.rds")
    expected = (
        "d <- data.frame(i = 1:2, d = c(0.5, Inf), s = c('a', NA), b = c(TRUE, NA), f = factor(c('y', 'x'), "
        "levels = c('y', 'x', 'z')), t = as.POSIXct(c('2020-01-01 12:00', NA), tz = 'Europe/London')); "
        "cat(identical(d, readRDS(commandArgs(TRUE)[1])))"
    )
    assert _r(expected, tmp_path / "x.rds") == "TRUE"


def test_r_writes_the_same_bytes(tmp_path):
    save_rds(load_rds(GOLDEN / "kinds_many_rows.rds"), tmp_path / "x.rds")
    again = "a <- commandArgs(TRUE); writeBin(serialize(readRDS(a[1]), NULL), a[2])"
    _r(again, tmp_path / "x.rds", tmp_path / "x.bin")
    assert (tmp_path / "x.bin").read_bytes()[23:] == dumps(load_rds(tmp_path / "x.rds"))[23:]


@pytest.mark.r_packages("haven", "bit64", "tibble")
def test_the_fixtures_are_what_the_script_makes(tmp_path, differences_of_files):
    script = GOLDEN.parent / "make_rds.R"
    _r(f"commandArgs <- function(...) '{tmp_path}'; source('{script}')")
    assert differences_of_files(tmp_path, GOLDEN) == []


@pytest.fixture
def differences_of_files():
    """Compare the frames of two folders as bytes after reading."""
    return lambda one, other: [
        name
        for name in FRAMES
        if dumps(load_rds(one / f"{name}.rds")) != dumps(load_rds(other / f"{name}.rds"))
    ]
