"""What a forger of a release folder would do; used by tests of several folders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import settings

settings.register_profile("no clock", parent=settings.default, deadline=None)  # busy machines are slow
settings.load_profile("no clock")

GOLDEN = Path(__file__).parent / "golden"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, plain: Any) -> None:
    path.write_text(json.dumps(plain), encoding="utf-8")


def recompute_checksums(folder: Path) -> None:
    """Make the list right again after files were changed; files that are gone leave it."""
    manifest = read(folder / "release.json")
    files = [folder / entry["name"] for entry in manifest["files"] if (folder / entry["name"]).exists()]
    manifest["files"] = [
        {
            "name": path.name,
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    write(folder / "release.json", manifest)


def put_statement_into_copies(folder: Path) -> None:
    """Write ``privacy.json`` into the metadata of every Parquet copy."""
    privacy = read(folder / "privacy.json")
    for number, name in enumerate(read(folder / "release.json")["copies"], start=1):
        if name.endswith(".parquet"):
            table = pa_parquet.read_table(folder / name)
            marks = {"synthetic": True, "privacy": privacy, "copy": number}
            own = {b"pysynthdp": json.dumps(marks), b"PANDAS_ATTRS": json.dumps({"pysynthdp": marks})}
            every = {**(table.schema.metadata or {}), **own}
            pa_parquet.write_table(table.replace_schema_metadata(every), folder / name)


@pytest.fixture
def relist() -> Callable[[Path], None]:
    """Recompute the checksums of a release folder."""
    return recompute_checksums


@pytest.fixture
def forge() -> Callable[..., None]:
    """Change one JSON file of a folder, the statement in the copies and all checksums, alike."""

    def forged(folder: Path, file: str, change: Callable[[Any], Any]) -> None:
        plain = read(folder / file)
        before = json.dumps(plain)
        change(plain)
        assert json.dumps(plain) != before
        write(folder / file, plain)
        put_statement_into_copies(folder)
        recompute_checksums(folder)

    return forged


@pytest.fixture(scope="session")
def frozen() -> Path:
    """Release folders that version 0.1.0 wrote."""
    return GOLDEN / "releases" / "0.1.0"
