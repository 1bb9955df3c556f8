"""A fit as one zip file: JSON for settings and numbers, one ``.npy`` for each array; nothing is pickled."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PysynthdpError, ReleaseError
from pysynthdp.base.words import Said, Words
from pysynthdp.io.tree import from_tree, to_tree

__all__ = ["FIT_VERSION", "load", "save"]

FIT_VERSION = 5  # to be raised when what a fit holds changes, so that earlier programs refuse it by name
_READ = (2, 3, 4, FIT_VERSION)  # later ones add what has defaults (3: derived, gates; 4: groups; 5: designs)
_FORMAT = "pysynthdp fit"
_RELEASE: Final = Said("SyntheticRelease.load(folder)", "pool and verify", "read_release(folder)")
_MAIN = "fit.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same fit gives the same bytes


def save(parts: Mapping[str, Any], path: Path) -> Path:
    """Write the parts of a fit under a temporary name, then rename it.

    Parameters
    ----------
    parts : mapping of str
        Dataclasses of arrays and plain values.
    path : Path
        Must not exist.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ReleaseError
        If the file exists, cannot be written, or a part holds what no file can hold.

    Notes
    -----
    Privacy: writes what it is given; the caller refuses fits that hold real values.
    """
    if path.exists():
        raise ReleaseError(f"{path} exists already; choose another name or move it away", kind="saved fit")
    arrays: list[AnyArray] = []
    tree = {name: to_tree(part, arrays) for name, part in parts.items()}
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        _write(draft, tree, arrays)
        draft.rename(path)
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}", kind="saved fit"
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def _write(path: Path, tree: Mapping[str, Any], arrays: list[AnyArray]) -> None:
    """Write the zip file."""
    head = {"format": _FORMAT, "format_version": FIT_VERSION, "arrays": len(arrays), "parts": tree}
    with zipfile.ZipFile(path, "x") as archive:
        text = json.dumps(head, allow_nan=False, ensure_ascii=False)
        archive.writestr(_member(_MAIN), text.encode())
        for number, array in enumerate(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(_member(f"{number}.npy"), buffer.getvalue())


def _member(name: str) -> zipfile.ZipInfo:
    """Describe a member of the zip file, without a date."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _unread(path: Path, error: OSError) -> ReleaseError:
    """Say why a file cannot be read."""
    if path.is_dir():
        remedy = Words("a release is read by {load}", load=_RELEASE)
        return ReleaseError(f"{path} is a folder, and a saved fit is a file", kind="file", remedy=remedy)
    if not path.exists():
        return ReleaseError(f"there is no file {path}", kind="file", remedy="check the name")
    return ReleaseError(f"{path} cannot be read: {error.strerror or type(error).__name__}", kind="file")


def load(path: Path) -> dict[str, Any]:
    """Read what :func:`save` wrote.

    Returns
    -------
    dict
        The parts by name.

    Raises
    ------
    ReleaseError
        If the file is not a fit of a version that is known here, or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            head = json.loads(archive.read(_MAIN))
            _check(head, path)
            arrays = [_read_array(archive, number) for number in range(head["arrays"])]
    except ReleaseError:  # a ValueError too
        raise
    except OSError as error:
        raise _unread(path, error) from error
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, RecursionError) as error:
        raise ReleaseError(
            f"{path} is not a saved fit, or damaged; fit and save anew", kind="saved fit"
        ) from error
    try:
        return {name: from_tree(part, arrays) for name, part in head["parts"].items()}
    except PysynthdpError as error:
        raise ReleaseError(f"{path}: {error}", kind="saved fit") from error
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise ReleaseError(
            f"{path} is damaged or of another version; fit and save anew", kind="saved fit"
        ) from error


def _check(head: Any, path: Path) -> None:
    """Refuse other files and other versions."""
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise ReleaseError(f"{path} is not a saved fit; fit and save anew", kind="saved fit")
    if head.get("format_version") not in _READ:
        raise ReleaseError(
            f"{path} is a saved fit of format {head.get('format_version')!r}, and this version reads formats "
            f"{_READ[0]} to {FIT_VERSION}: fit again and save anew, or use the version that saved it",
            kind="saved fit",
        )


def _read_array(archive: zipfile.ZipFile, number: int) -> AnyArray:
    """Read one array; pickled objects are refused."""
    with archive.open(f"{number}.npy") as member:
        array: AnyArray = np.lib.format.read_array(io.BytesIO(member.read()), allow_pickle=False)
    return array
