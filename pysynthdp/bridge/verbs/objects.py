"""Releases as R objects and as folders; the object stays an R value until it is read here."""

from __future__ import annotations

import os
from pathlib import Path

import pysynthdp as sdp
from pysynthdp.bridge.codec import RValue, RVector
from pysynthdp.bridge.releases import release_from_r, release_to_r

__all__ = ["from_synds", "read_release", "write_release"]


def from_synds(x: RValue) -> RVector:
    """Read an object that synthpop made, or one of ours again."""
    return release_to_r(release_from_r(x))


def write_release(x: RValue, folder: str, format: str = "parquet") -> str:  # noqa: A002 -- pandas' word
    """Write a release folder."""
    return os.fspath(release_from_r(x).save(Path(folder).expanduser(), format=format))


def read_release(folder: str) -> RVector:
    """Read a release folder."""
    return release_to_r(sdp.SyntheticRelease.load(Path(folder).expanduser()))
