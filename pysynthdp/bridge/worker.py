"""The process that answers R: ``python -m pysynthdp.bridge.worker``.

Without arguments it says ``ready`` and then, for each line ``IN<tab>OUT`` on standard input, answers the
request in the file IN by the file OUT and says ``done``. With two arguments it answers one request and ends.
Requests and replies are files in R's own temporary folder, which only the user can read; there is no socket.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from pysynthdp.bridge.dispatch import handle

__all__ = ["main"]


def main(arguments: Sequence[str]) -> None:
    """Answer one request, or all that come.

    Parameters
    ----------
    arguments : sequence of str
        None, or the files IN and OUT.

    Notes
    -----
    Privacy: request and reply files hold rows; R deletes them after each call.
    """
    channel = _private_channel()
    if len(arguments) == 2:
        _answer(*arguments)
        return
    _say(channel, "ready")
    for line in sys.stdin:
        request, _, reply = line.rstrip("\n").partition("\t")
        _answer(request, reply)
        _say(channel, "done")


def _private_channel() -> IO[str]:
    """Keep standard output for the protocol: whatever else is printed goes to standard error."""
    sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _say(channel: IO[str], word: str) -> None:
    """Say one word of the protocol."""
    channel.write(f"{word}\n")
    channel.flush()


def _answer(request: str, reply: str) -> None:
    """Answer a file by a file, which appears whole or not at all."""
    answer = handle(Path(request).read_bytes())
    draft = Path(f"{reply}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(answer)
    draft.replace(reply)


if __name__ == "__main__":
    main(sys.argv[1:])
