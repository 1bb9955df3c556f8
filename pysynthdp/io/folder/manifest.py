"""The list of a release folder, ``release.json``: what lies in it, with checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.words import Said, Words

__all__ = [
    "FORMAT",
    "MANIFEST",
    "RELEASE_VERSION",
    "described",
    "digest_of",
    "listed_files",
    "read_json",
    "read_manifest",
    "write_json",
]

RELEASE_VERSION: Final = 2
"""Format of a release. 1: version 0.1.0. 2: ``release.json`` repeats the status of the statement."""
FORMAT: Final = "pysynthdp release"
_FIT: Final = Said("FittedSynthesizer.load(path)", "Python", "Python")
MANIFEST: Final = "release.json"
_KNOWN = (1, RELEASE_VERSION)
_LACKS = "{} lacks a part; take the folder anew from its source"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the list of a release folder.

    Raises
    ------
    ReleaseError
        If the folder has none, it is damaged, or of a version that is not known here.
    """
    path = folder / MANIFEST
    plain = read_json(path)
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise ReleaseError(
            f"{path} is not the list of a release; take the folder anew from its source", kind="folder"
        )
    if plain.get("format_version") not in _KNOWN:
        raise ReleaseError(
            f"{folder} is a release of another format than those known here, 1 to {RELEASE_VERSION}; "
            "read it with the version that wrote it",
            kind="folder",
        )
    _check_names(plain, path)
    return plain


def _check_names(plain: Mapping[str, Any], path: Path) -> None:
    """Refuse a list that names no files, or files elsewhere."""
    try:
        names = [*plain["copies"], *(entry["name"] for entry in plain["files"])]
        elsewhere = [name for name in names if Path(name).name != name or name in ("", ".", "..")]
        tags, columns = plain["tags"], plain["columns"]
    except (KeyError, TypeError) as error:
        raise ReleaseError(_LACKS.format(path), kind="folder") from error
    if elsewhere:
        raise ReleaseError(
            f"{path} names files outside its folder; take the folder anew from its source", kind="folder"
        )
    if not isinstance(tags, dict) or not isinstance(columns, list):
        raise ReleaseError(_LACKS.format(path), kind="folder")


def listed_files(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give what the list says of each file, by name."""
    return {entry["name"]: entry for entry in manifest["files"]}


def described(path: Path) -> dict[str, Any]:
    """Name, size and checksum of a file, as the list has them."""
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest_of(path)}


def digest_of(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, plain: Any) -> None:
    """Write readable JSON."""
    path.write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _no_release(path: Path) -> ReleaseError:
    """Say why a file of a release cannot be read: no folder, a file in its place, or another folder."""
    folder = path.parent
    if folder.is_file():
        there = (folder.parent / MANIFEST).is_file()
        fit = Words("a saved fit is read by {load}", load=_FIT)
        remedy = f"give its folder, {folder.parent}" if there else fit
        return ReleaseError(f"{folder} is a file, and a release is a folder", kind="file", remedy=remedy)
    if not folder.is_dir():
        return ReleaseError(f"there is no folder {folder}", kind="file", remedy="check the name")
    return ReleaseError(f"{path} cannot be read; is the folder a release?", kind="file")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file of a release."""
    try:
        return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise _no_release(path) from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(
            f"{path} is damaged; take the folder anew from its source", kind="damaged"
        ) from error
