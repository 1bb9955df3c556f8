"""What takes its name is on disk before, and the name is flushed after."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pysynthdp.io.durable import appearing_file, flush_tree, moved


@pytest.fixture
def seen(monkeypatch):
    """Flushed files and folders, and renames, in order."""
    order, flush = [], os.fsync

    def fsync(number):
        order.append(Path(f"/proc/self/fd/{number}").readlink().name)
        flush(number)

    monkeypatch.setattr(os, "fsync", fsync)
    for name in ("rename", "replace"):
        real = getattr(Path, name)

        def note(self, to, real=real):
            order.append(f"> {to.name}")
            return real(self, to)

        monkeypatch.setattr(Path, name, note)
    return order


def test_a_file_is_flushed_before_and_after_it_takes_its_name(tmp_path, seen):
    with appearing_file(tmp_path / "a.json") as file:
        file.write("1")
        assert not (tmp_path / "a.json").exists()
    draft, name, folder = seen
    assert draft.endswith(".part")
    assert (name, folder) == ("> a.json", tmp_path.name)
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError, match="stop"), appearing_file(tmp_path / "a.json") as file:
        raise ValueError("stop")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "1"


def test_a_folder_is_flushed_with_all_that_is_in_it(tmp_path, seen):
    draft = tmp_path / "draft"
    (draft / "inner").mkdir(parents=True)
    (draft / "inner" / "b").write_text("2")
    (draft / "a").write_text("1")
    flush_tree(draft)
    assert seen == ["b", "inner", "a", "draft"]
    moved(draft, tmp_path / "final")
    assert seen[4:] == ["> final", tmp_path.name]
