"""Peak memory of this process that no file backs: RssAnon + RssShmem of Linux, sampled by a thread."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

STATUS = Path("/proc/self/status")


def private_mb() -> float:
    """Memory now, in MB of 2^20 bytes; pages of mapped files, which can be dropped, do not count."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines() if ":" in line)
    return sum(int(lines[name].split()[0]) for name in ("RssAnon", "RssShmem")) / 1024


class Peak:
    """Sample while a block runs: ``with Peak() as peak: work()``, then ``peak.mb`` and ``peak.grown``."""

    def __init__(self, every: float = 0.02) -> None:
        self.every, self.before, self.mb = every, 0.0, 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self.before = self.mb = private_mb()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    @property
    def grown(self) -> float:
        """How much more than when it began."""
        return self.mb - self.before

    def _watch(self) -> None:
        while not self._done.wait(self.every):
            self.mb = max(self.mb, private_mb())
        self.mb = max(self.mb, private_mb())
