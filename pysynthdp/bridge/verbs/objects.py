"""Releases as R objects and as folders; the object stays an R value until it is read here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pysynthdp as sdp
from pysynthdp.base.words import said
from pysynthdp.bridge.codec import RValue, RVector
from pysynthdp.bridge.edited import edited_release
from pysynthdp.bridge.releases import changed_release_from_r, release_from_r, release_to_r

__all__ = ["accept_sdc", "from_synds", "read_release", "verify_release", "write_release"]


def from_synds(x: RValue) -> RVector:
    """Read an object that synthpop made, or one of ours again."""
    return release_to_r(release_from_r(x))


def accept_sdc(x: RValue, rows: bool, untold: bool, recoded: Any = None, labels: Any = None) -> RVector:
    """Say of copies that sdc() of synthpop changed what is true of them; R brought them to one length."""
    changed = changed_release_from_r(x)
    known = None if untold else _texts(recoded)
    return release_to_r(edited_release(changed, rows=rows, recoded=known, labels=_texts(labels)))


def _texts(given: Any) -> list[str]:
    """Give a vector of texts of any length."""
    return [] if given is None else [str(one) for one in (given if isinstance(given, list) else [given])]


def write_release(
    x: RValue,
    folder: str,
    format: str = "parquet",  # noqa: A002 -- pandas' word
    sign: str | None = None,
    formats: Any = None,
    watermark: bool = True,  # noqa: FBT002 -- R names its arguments
) -> str:
    """Write a release folder, signed where a key is given."""
    key = None if sign is None else Path(sign).expanduser()
    asked: dict[str, Any] = {"format": format, "watermark": watermark, "sign": key}
    asked["formats"] = None if formats is None else _texts(formats)
    return os.fspath(release_from_r(x).save(Path(folder).expanduser(), **asked))


def read_release(folder: str) -> RVector:
    """Read a release folder."""
    return release_to_r(sdp.SyntheticRelease.load(Path(folder).expanduser()))


def verify_release(folder: str, key: str | None = None) -> dict[str, Any]:
    """Check a release folder; what was found as plain values, and as people read it."""
    checked = sdp.verify(Path(folder).expanduser(), key=None if key is None else Path(key).expanduser())
    return {
        "status": checked.status,
        "ok": checked.ok,
        "exit_code": checked.exit_code,
        "signed": checked.signed,
        "verdict": said(checked.verdict, "r"),
        "what": [finding.what for finding in checked.findings],
        "result": [finding.result for finding in checked.findings],
        "detail": [said(finding.detail, "r") for finding in checked.findings],
        "text": checked.said("r"),
    }
