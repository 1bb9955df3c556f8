"""Reports of copies that R holds: files for a board and for the public, and page one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pysynthdp as sdp
from pysynthdp.bridge.codec import RValue, character
from pysynthdp.bridge.sides import copies_from_r, earlier_from_r, frames_from_r, listed, refit_from_r, whole

__all__ = ["report"]

_LISTS = ("targets", "models", "by", "rules")


def report(
    x: RValue,
    data: RValue,
    board: Any = None,
    note: Any = None,
    formats: Any = None,
    refit: Mapping[str, Any] | None = None,
    earlier: RValue | None = None,
    **asked: Any,
) -> dict[str, Any]:
    """Write a board's report and a public note.

    Parameters
    ----------
    x : RVector
        Copies: an object of class ``synthetic`` or ``synds``, or a data frame or list of them.
    data : RVector
        A list: the confidential data frame, and perhaps one of people who were never used.
    board, note : str, optional
        Folders.
    formats : list of str, optional
        As :meth:`Document.save` takes them.
    refit : mapping, optional
        Settings of the release.
    earlier : RVector, optional
        A list of what was released before from the same source.
    **asked
        As of :class:`pysynthdp.Report`.

    Returns
    -------
    dict
        Page one as text, gates, and the files.

    Notes
    -----
    Privacy: all but the note shows numbers of the confidential rows.
    """
    table, *others = frames_from_r(data)
    wanted = {name: value for name, value in asked.items() if value is not None}
    wanted |= {name: listed(wanted[name]) for name in _LISTS if name in wanted}
    if isinstance(wanted.get("keys"), Mapping):
        wanted["keys"] = {name: listed(columns) for name, columns in wanted["keys"].items()}
    if "foreseen" in wanted:
        wanted["foreseen"] = whole(wanted["foreseen"])
    made = sdp.Report(
        table,
        copies_from_r(x),
        holdout=next(iter(others), None),
        refit=refit_from_r(refit, table),
        earlier=earlier_from_r(earlier),
        **wanted,
    )
    named = {} if formats is None else {"formats": listed(formats)}
    files = [] if board is None else made.board().save(board, **named)
    files += [] if note is None else made.public().save(note, **named)
    return {
        "text": made.said("r"),
        "files": character([str(path) for path in files]),
        "gate": character([gate.name for gate in made.gates]),
        "of": character([gate.kind for gate in made.gates]),
        "verdict": character([gate.verdict for gate in made.gates]),
    }
