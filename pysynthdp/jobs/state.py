"""What an unfinished run goes on from: its secret, its input, how far it came."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from pysynthdp.base.errors import PlanError, ReleaseError
from pysynthdp.io.durable import appearing_file
from pysynthdp.jobs.places import Places
from pysynthdp.jobs.uninterrupted import uninterrupted

__all__ = ["Record", "State", "input_digest", "read_record", "root_of", "write_record"]

_FILE: Final = "state.json"
_FORMAT: Final = 1
_BITS: Final = 256
_LEAST: Final = 16  # bytes of a secret
_BLOCK: Final = 2**20


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """An unfinished run.

    Parameters
    ----------
    run : str
        Its name.
    what : str
        Digest of the job without approval and limits.
    source : str
        Keyed digest of the input; empty for a database.
    root : str
        Secret that all draws come from, hexadecimal.
    software : str
        Version that began it.
    fitted : bool
        Whether all noised answers are there.

    Notes
    -----
    Privacy: the secret lets guesses at records be tested with the code, and is written into this file alone.
    """

    run: str
    what: str
    source: str
    root: str
    software: str
    fitted: bool = False

    @property
    def sequence(self) -> np.random.SeedSequence:
        """Where all draws come from."""
        return np.random.SeedSequence(int(self.root, 16))

    def write(self, places: Places) -> Self:
        """Write it; a signal waits for that."""
        with uninterrupted(), appearing_file(places.state / _FILE) as file:
            json.dump({"format": _FORMAT, **asdict(self)}, file)
        return self

    def after_fit(self, places: Places) -> Self:
        """Write that the answers are complete."""
        return replace(self, fitted=True).write(places)

    @classmethod
    def read(cls, places: Places) -> Self | None:
        """Read it; None where no run is unfinished.

        Raises
        ------
        ReleaseError
            If the file is damaged.
        """
        plain = _plain(places.state / _FILE)
        return None if plain is None else cls(**plain)


@dataclass(frozen=True, slots=True)
class Record:
    """How a run ended.

    Parameters
    ----------
    run, what, digest, source, software : str
        As of :class:`State`, and the digest of the whole job.
    manifest : str
        Checksum of ``release.json``.
    failed : tuple of (kind, what)
        Gates that failed.
    gates : tuple of (name, value, limit, ok)
        What every gate saw.
    """

    run: str
    what: str
    digest: str
    source: str
    software: str
    manifest: str
    failed: tuple[tuple[str, str], ...] = ()
    gates: tuple[tuple[str, float, float, bool], ...] = ()

    def copies(self, places: Places) -> Path:
        """Say where it put the copies."""
        return places.quarantine / self.run if self.failed else places.folder


def write_record(record: Record, places: Places) -> None:
    """Write how a run ends, before its copies take their place."""
    with appearing_file(places.record) as file:
        json.dump({"format": _FORMAT, **asdict(record)}, file, indent=2)


def read_record(places: Places) -> Record | None:
    """Read how the last run ended; None where none has."""
    plain = _plain(places.record)
    if plain is None:
        return None
    pairs: dict[str, Any] = {name: tuple(map(tuple, plain[name])) for name in ("failed", "gates")}
    return Record(**{**plain, **pairs})


def _plain(path: Path) -> dict[str, Any] | None:
    """Read a file of ours."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _damaged(path) from error
    if not isinstance(plain, dict) or plain.pop("format", None) != _FORMAT:
        raise _damaged(path)
    return plain


def _damaged(path: Path) -> ReleaseError:
    """Say that a file of ours is not as it was written."""
    return ReleaseError(
        f"{path} cannot be read, or was changed",
        kind="job state",
        remedy="pysynthdp job purge --state takes an unfinished run away",
    )


def root_of(seed_file: Path | None, job: str) -> str:
    """Give the secret of the draws: by the file, together with the job's name, or the system's entropy.

    Raises
    ------
    PlanError
        If the file cannot be read, or holds less than 16 bytes.
    """
    if seed_file is None:
        return f"{secrets.randbits(_BITS):064x}"
    try:
        secret = seed_file.read_bytes().strip()
    except OSError as error:
        raise PlanError(
            f"sample.seed_file: {seed_file} cannot be read: {error.strerror or type(error).__name__}",
            kind="job file",
        ) from error
    if len(secret) < _LEAST:
        raise PlanError(
            f"sample.seed_file: {seed_file} holds less than {_LEAST} bytes, which can be guessed",
            kind="job file",
            remedy="make it by: head -c 32 /dev/urandom | base64",
        )
    return hashlib.sha256(b"pysynthdp job\0" + job.encode() + b"\0" + secret).hexdigest()


def input_digest(path: Path, places: Places) -> tuple[str, str]:
    """Digest the input, keyed and plain; of a folder all its files by name.

    Notes
    -----
    Privacy: reads the confidential file. The plain digest is compared with the one that the job declares, and
    written nowhere; the keyed one tells nobody without the key which file it was.
    """
    keyed, plain = hmac.new(_key(places), digestmod=hashlib.sha256), hashlib.sha256()
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    for each in files:
        if path.is_dir():
            name = each.relative_to(path).as_posix().encode() + b"\0"
            keyed.update(name)
            plain.update(name)
        with each.open("rb") as file:
            while block := file.read(_BLOCK):
                keyed.update(block)
                plain.update(block)
    return keyed.hexdigest(), plain.hexdigest()


def _key(places: Places) -> bytes:
    """Give the key of this job's digests, made once."""
    try:
        return places.key.read_bytes()
    except FileNotFoundError:
        with appearing_file(places.key) as file:
            file.write(os.urandom(32).hex())
    return places.key.read_bytes()
