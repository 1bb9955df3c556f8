"""Noised answers on disk before their first use, so that a crash does not cost the budget twice."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.errors import ReleaseError

__all__ = ["SavedAnswers", "load_answers", "save_answers"]

_FORMAT = "pysynthdp noised answers"
_DAMAGED = "{} is not a file of noised answers, or damaged; give another path"
VERSION = 3  # to be raised when questions, or what is done to rows before they are asked, change


@dataclass(frozen=True, slots=True)
class SavedAnswers:
    """Noised answers of one fit, so far.

    Parameters
    ----------
    plan : str
        Digest of the plan and of the guarantee; answers serve that plan only.
    n : int or None
        The public number of rows; None where it is confidential.
    answers : tuple of int64 arrays
        In the order of the questions.
    ledger : tuple of mapping
        What each answer cost, as plain values.
    attempt : str
        By which it was all reserved in an agency's ledger; empty where nobody keeps one.
    """

    plan: str
    n: int | None
    answers: tuple[IntArray, ...] = ()
    ledger: tuple[Mapping[str, Any], ...] = ()
    attempt: str = ""

    def plus(self, answer: IntArray, entry: Mapping[str, Any]) -> SavedAnswers:
        """Add one more answer."""
        return replace(self, answers=(*self.answers, answer), ledger=(*self.ledger, entry))

    @property
    def digest(self) -> str:
        """Digest of the noised answers, which tells no more than they do."""
        plain = [self.plan, [answer.tolist() for answer in self.answers]]
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def save_answers(saved: SavedAnswers, path: Path) -> None:
    """Write all answers under another name, flush them to disk, put them in place, and flush that too.

    Raises
    ------
    ReleaseError
        If the file cannot be written; nothing has been used yet then, but the budget of the last answer is
        spent.

    Notes
    -----
    Privacy: writes noised answers and public constants; no record.
    """
    plain = {
        "format": _FORMAT,
        "format_version": VERSION,
        "plan": saved.plan,
        "n": saved.n,
        "answers": [answer.tolist() for answer in saved.answers],
        "ledger": [dict(entry) for entry in saved.ledger],
    }
    plain |= {"attempt": saved.attempt} if saved.attempt else {}
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with draft.open("x", encoding="utf-8") as file:
            json.dump(plain, file, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}", kind="answers file"
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Flush the new name too, or a loss of power could bring the old file back; Windows does so by itself."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def load_answers(path: Path) -> SavedAnswers | None:
    """Read what :func:`save_answers` wrote; None where there is no file yet.

    Raises
    ------
    ReleaseError
        If the file holds something else, or is damaged.
    """
    if not path.exists():
        return None
    plain = _plain(path)
    _check_version(plain, path)
    try:
        answers = tuple(np.array(answer, dtype=np.int64) for answer in plain["answers"])
        attempt = str(plain.get("attempt", ""))
        saved = SavedAnswers(plain["plan"], plain["n"], answers, tuple(plain["ledger"]), attempt)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise ReleaseError(_DAMAGED.format(path), kind="answers file") from error
    if len(saved.answers) != len(saved.ledger):
        raise ReleaseError(_DAMAGED.format(path), kind="answers file")
    return saved


def _check_version(plain: dict[str, Any], path: Path) -> None:
    """Refuse other files and other versions, whatever else is in them."""
    if "format" not in plain or "format_version" not in plain:
        raise ReleaseError(_DAMAGED.format(path), kind="answers file")
    if (plain["format"], plain["format_version"]) != (_FORMAT, VERSION):
        raise ReleaseError(
            f"{path} holds no noised answers of version {VERSION}; use the version that wrote them, or give "
            "another path",
            kind="answers file",
        )


def _plain(path: Path) -> dict[str, Any]:
    """Read JSON that holds a dictionary."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be read: {error.strerror or type(error).__name__}", kind="answers file"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(_DAMAGED.format(path), kind="answers file") from error
    if not isinstance(plain, dict):
        raise ReleaseError(_DAMAGED.format(path), kind="answers file")
    return plain
