"""Where everything of a job lies: the release folder, and beside it a folder of the job's own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pysynthdp.base.errors import PlanError
from pysynthdp.io.durable import flush_tree

__all__ = ["Places"]

_OWN: Final = 0o700


@dataclass(frozen=True, slots=True)
class Places:
    """Paths of a job, from the folder that it makes.

    Parameters
    ----------
    folder : Path
        Release folder.

    Notes
    -----
    Privacy: the job's own folder, ``NAME.job`` beside the release, is for its owner alone (mode 0700). Its
    ``state`` holds the secret of the draws and noised answers of a run that has not ended.
    """

    folder: Path

    @property
    def own(self) -> Path:
        """Folder of the job."""
        return self.folder.with_name(f"{self.folder.name}.job")

    @property
    def state(self) -> Path:
        """What an unfinished run goes on from; taken away when it has ended."""
        return self.own / "state"

    @property
    def draft(self) -> Path:
        """Copies that no gate has seen."""
        return self.state / "release"

    @property
    def answers(self) -> Path:
        """Noised answers."""
        return self.state / "answers.json"

    @property
    def lock(self) -> Path:
        """Who runs the job now."""
        return self.own / "lock"

    @property
    def log(self) -> Path:
        """What was done, a JSON object a line."""
        return self.own / "log.jsonl"

    @property
    def record(self) -> Path:
        """How the last run ended."""
        return self.own / "record.json"

    @property
    def key(self) -> Path:
        """Key of the digests of inputs."""
        return self.own / "key"

    @property
    def quarantine(self) -> Path:
        """Releases that a gate stopped."""
        return self.own / "quarantine"

    @property
    def plan_page(self) -> Path:
        """Who was drawn from whom."""
        return self.own / "plan.txt"

    def make(self) -> None:
        """Make the job's own folder.

        Raises
        ------
        PlanError
            If it cannot be made.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.own.mkdir(mode=_OWN, exist_ok=True)
        except OSError as error:
            raise PlanError(
                f"{self.own} cannot be written: {error.strerror or type(error).__name__}", kind="folder"
            ) from error

    def make_state(self) -> None:
        """Make the folder of an unfinished run, and sweep out of both what a death left half written."""
        self.state.mkdir(mode=_OWN, exist_ok=True)
        for folder in (self.own, self.state):
            for path in folder.glob(".*.part"):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        flush_tree(self.state)

    def clear_state(self) -> None:
        """Take away what an unfinished run would have gone on from; a death leaves all of it, or none."""
        gone = self.own / ".gone"
        shutil.rmtree(gone, ignore_errors=True)
        if self.state.exists():
            self.state.rename(gone)
            shutil.rmtree(gone)
