"""Releases as R objects and as folders; the object stays an R value until it is read here."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.words import Said, Words, said
from pysynthdp.bridge.codec import RValue, RVector, character
from pysynthdp.bridge.edited import edited_release
from pysynthdp.bridge.labels_to_r import has_codes, labelled_to_r
from pysynthdp.bridge.releases import changed_release_from_r, release_from_r, release_to_r

__all__ = [
    "accept_sdc",
    "from_synds",
    "read_release",
    "read_survey",
    "rules_of_copies",
    "verify_release",
    "write_release",
]


def from_synds(x: RValue) -> RVector:
    """Read an object that synthpop made, or one of ours again."""
    return release_to_r(release_from_r(x))


def accept_sdc(x: RValue, rows: bool, untold: bool, recoded: Any = None, labels: Any = None) -> RVector:
    """Say of copies that sdc() of synthpop changed what is true of them; R brought them to one length."""
    changed = changed_release_from_r(x)
    known = None if untold else _texts(recoded)
    return release_to_r(edited_release(changed, rows=rows, recoded=known, labels=_texts(labels)))


def rules_of_copies(x: RValue) -> dict[str, Any]:
    """Count the rows of copies that break rules and universes, also where somebody changed the copies."""
    found = changed_release_from_r(x).check_rules()
    met = [np.nan if check.met is None else check.met for check in found.checks]
    copies = zip(*(check.broken for check in found.checks), strict=True)
    columns = {
        "rule": character([check.rule for check in found.checks]),
        "met": np.array(met, dtype=np.float64),
    }
    columns |= {f"copy_{at}": np.array(rows, dtype=np.float64) for at, rows in enumerate(copies, start=1)}
    return {"text": found.said("r"), "columns": columns}


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


def read_release(folder: str, factors: bool | None = None) -> RVector:
    """Read a release folder; columns of labelled files as haven reads them, or as factors."""
    release = sdp.SyntheticRelease.load(Path(folder).expanduser())
    coded = [column.name for column in release.schema if has_codes(column)]
    if coded and factors is None:
        what = Words(
            "{names}: codes with labels, as in haven, which a model takes for numbers", names=", ".join(coded)
        )
        mend = Said(*["read_release(folder, factors = TRUE) makes factors of them"] * 3)
        asked = PysynthdpWarning(what, column=coded[0], kind="codes", remedy=Words("{how}", how=mend))
        warnings.warn(asked, stacklevel=2)
    return release_to_r(release, factors=bool(factors))


def read_survey(path: str, codebook: str | None = None, encoding: str | None = None) -> RVector:
    """Read a file with labels as haven does; nobody draws from it here."""
    book = None if codebook is None else Path(codebook)
    table = sdp.read(Path(path), book, encoding=encoding)
    return labelled_to_r(table.frame, table.schema)


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
