"""A lock of the operating system: one holder at a time, none after the holder is gone, however it went."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading

import pytest

from pysynthdp.base.errors import ReleaseError
from pysynthdp.io.file_lock import Taken, alone_with

HOLD = """
import sys
from pathlib import Path
from pysynthdp.io.file_lock import alone_with
with alone_with(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "a.json")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def free(path):
    with alone_with(path):
        pass


def test_another_process_is_refused_while_it_is_held_and_only_then(holder, tmp_path):
    with pytest.raises(Taken):
        free(tmp_path / "a.json")
    free(tmp_path / "b.json")
    holder.communicate("")
    free(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_holder_leaves_a_file_that_locks_nothing(holder, tmp_path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert [path.name for path in tmp_path.iterdir()] == [".a.json.lock"]
    free(tmp_path / "a.json")


@pytest.mark.skipif(os.name == "nt", reason="Windows needs rights to make links")
@pytest.mark.usefixtures("holder")
def test_other_spellings_of_a_path_are_the_same_file(tmp_path):
    (tmp_path / "a.json").write_text("")
    (tmp_path / "deep").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "a.json")
    for spelled in (tmp_path / "deep" / ".." / "a.json", tmp_path / "link.json"):
        with pytest.raises(Taken):
            free(spelled)


def test_threads_exclude_each_other_also_where_the_system_locks_processes_only(tmp_path, monkeypatch):
    monkeypatch.setattr("pysynthdp.io.file_lock._lock", lambda _number: None)
    with alone_with(tmp_path / "a.json"), pytest.raises(Taken):
        free(tmp_path / "a.json")
    free(tmp_path / "a.json")


def test_many_threads_are_never_inside_together(tmp_path):
    """Taking the lock file away at the end must not let two in: of 400 tries each holder was alone."""
    inside, worst, won = [], [], []

    def work():
        for _ in range(50):
            try:
                with alone_with(tmp_path / "a.json"):
                    inside.append(1)
                    worst.append(len(inside))
                    won.append(1)
                    inside.pop()
            except Taken:
                continue

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(worst) == 1
    assert len(won) >= 50 // 8


def test_a_name_that_was_taken_away_and_made_anew_is_locked_anew(tmp_path, monkeypatch):
    """The holder before may unlink the file between our opening and our locking."""
    import pysynthdp.io.file_lock as module

    lock, real, tries = tmp_path / ".a.json.lock", module._lock, []

    def after_the_last_holder_left(number):
        tries.append(number)
        if len(tries) == 1:
            lock.unlink()
        real(number)

    monkeypatch.setattr(module, "_lock", after_the_last_holder_left)
    with alone_with(tmp_path / "a.json"):
        assert lock.exists()
    assert len(tries) == 2


def test_an_error_inside_frees_it(tmp_path):
    with pytest.raises(KeyError), alone_with(tmp_path / "a.json"):
        raise KeyError
    free(tmp_path / "a.json")


def test_a_folder_that_is_not_there_and_a_file_system_without_locks_are_named(tmp_path, monkeypatch):
    with pytest.raises(ReleaseError, match="cannot be written"):
        free(tmp_path / "nowhere" / "a.json")

    def no_locks(_number):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr("pysynthdp.io.file_lock._lock", no_locks)
    with pytest.raises(ReleaseError, match="without locks"):
        free(tmp_path / "a.json")
    with pytest.raises(ReleaseError, match="without locks"):  # and not held from the first try
        free(tmp_path / "a.json")
