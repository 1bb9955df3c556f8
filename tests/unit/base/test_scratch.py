"""Arrays on disk: nameless, private, read-only, freed, encrypted on demand; a full disk is an error."""

import errno
import gc
import os
import pickle
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pysynthdp.base import scratch as module
from pysynthdp.base import scratch_folder
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpWarning
from pysynthdp.base.scratch import Scratch, stored
from pysynthdp.base.scratch_folder import in_memory, opened_scratch, usual_folder
from pysynthdp.base.sealed import Key
from pysynthdp.cli.exit_codes import Exit, exit_of

LINUX = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads what Linux says of a process")
ROOT = Path(__file__).parents[3]


def values_of(dtype, n=300_001):
    """Make values whose bytes are of all kinds."""
    whole = np.random.default_rng(1).integers(-(2**40), 2**40, n)
    return whole.astype(np.int64).astype(dtype)


def written(values, scratch, pieces=7):
    """Write values piece by piece."""
    file = scratch.file()
    for piece in np.array_split(values, pieces):
        file.write(piece)
    return file.array()


def run(code, **settings):
    """Run Python in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        **settings,
    )


@pytest.fixture(params=["plain", "encrypted"])
def scratch(request, tmp_path):
    """Give a scratch of either kind."""
    if request.param == "plain":
        return Scratch(tmp_path)
    pytest.importorskip("cryptography")
    return Scratch(tmp_path, Key())


@pytest.mark.parametrize("dtype", ["f8", "i2", "?", "u1", "M8[ns]", "c16"])
def test_what_is_written_in_pieces_is_there_to_the_last_bit(scratch, dtype):
    values = values_of(dtype)
    found = written(values, scratch)
    assert len(found) == len(values)
    assert found.dtype == values.dtype
    assert np.asarray(found).tobytes() == values.tobytes()


def test_rows_of_an_array_on_disk_are_those_of_the_array_in_memory(scratch):
    values = values_of("f8")
    found, rng = written(values, scratch), np.random.default_rng(2)
    for _ in range(100):
        start, stop = np.sort(rng.integers(0, len(values), 2))
        step = int(rng.integers(1, 5000))
        for rows in (
            slice(start, stop),
            slice(start, stop, step),
            slice(stop, start, -step),
            slice(-7, None),
        ):
            assert np.array_equal(found[rows], values[rows])
    mask = rng.random(len(values)) < 0.3
    assert np.array_equal(found[mask], values[mask])
    assert np.array_equal(found[[5, 1, 299_999]], values[[5, 1, 299_999]])
    assert (found[3], found[-1]) == (values[3], values[-1])
    assert np.array_equal(found > 0, values > 0)
    assert (found.max(initial=0), found.argmin()) == (values.max(), values.argmin())


def test_an_array_without_values_has_its_type(scratch):
    file = scratch.file()
    file.write(np.zeros(0, np.int16))
    assert (len(file.array()), file.array().dtype) == (0, np.int16)


def test_a_piece_of_another_type_is_refused(scratch):
    file = scratch.file()
    file.write(np.zeros(3))
    with pytest.raises(TypeError, match="behind float64"):
        file.write(np.zeros(3, np.int16))
    with pytest.raises(TypeError, match="object"):
        scratch.file().write(np.array([None]))


@LINUX
def test_the_file_has_no_name_and_is_the_owners_alone(scratch, tmp_path):
    file = scratch.file()
    file.write(np.arange(1000.0))
    place = f"/proc/self/fd/{file.file.fileno()}"
    assert not list(tmp_path.iterdir())
    assert Path(place).readlink().name.endswith("(deleted)")
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o600  # noqa: PTH116 -- of what is open, not of a path


@LINUX
def test_descriptors_are_closed_and_maps_freed_with_the_array(scratch, tmp_path):
    open_before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- no files
    arrays = [written(np.arange(5000.0) + at, scratch) for at in range(50)]
    assert len(os.listdir("/proc/self/fd")) == open_before  # noqa: PTH208
    assert all(np.asarray(array)[0] == at for at, array in enumerate(arrays))
    assert Path("/proc/self/maps").read_text().count(str(tmp_path)) == 50
    del arrays
    gc.collect()
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()


@LINUX
def test_a_file_that_is_given_up_is_closed(scratch):
    open_before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    file = scratch.file()
    file.write(np.arange(10.0))
    del file
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == open_before  # noqa: PTH208


def test_nobody_writes_into_an_array_on_disk(tmp_path):
    found = written(np.arange(10.0), Scratch(tmp_path))
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.flags.writeable = True


def test_a_system_without_a_list_of_open_files_maps_as_python_does(scratch, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_OPEN_FILES", tmp_path / "none")  # as on Windows
    values = values_of("f8")
    found = written(values, scratch)
    assert np.asarray(found).tobytes() == values.tobytes()
    assert stored(found, scratch) is found


def test_what_lies_on_disk_is_not_written_again(scratch):
    values = np.arange(10.0)
    found = stored(values, scratch)
    assert stored(found, scratch) is found
    assert stored(values, None) is values


FULL = """
import resource, sys
import numpy as np
from pathlib import Path
from pysynthdp.base.scratch import Scratch
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from pysynthdp.cli.exit_codes import exit_of
file = Scratch(Path(sys.argv[1])).file()
try:
    for _ in range(3):
        file.write(np.zeros(10_000))
except Exception as error:
    print(error, error.__cause__.errno, file.file.closed)
    sys.exit(int(exit_of(error)))
"""


def test_a_file_that_may_not_grow_is_an_error_and_no_signal(tmp_path):
    code = FULL.replace("sys.argv[1]", repr(str(tmp_path)))
    done = run(code)
    assert done.returncode == Exit.RESOURCES, done.stderr
    assert done.stdout.startswith(f"scratch: no file in {tmp_path} may become that large; raise the limit")
    assert done.stdout.split()[-2:] == [str(errno.EFBIG), "True"]
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of a megabyte, where one may."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("nobody may mount here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_named_with_the_way_out(small_disk):
    file = Scratch(small_disk).file()
    with pytest.raises(PlanError) as told:
        file.write(np.zeros(200_000))
    assert str(told.value) == (
        f"scratch: the disk of {small_disk} is full; name a folder on a larger disk with scratch=..., or "
        "make room"
    )
    assert exit_of(told.value) == Exit.RESOURCES
    assert told.value.said("shell").startswith("--scratch: ")
    assert "--scratch ..." in told.value.said("shell")


def test_a_folder_in_memory_is_named(small_disk):
    assert in_memory(small_disk)
    with pytest.warns(PysynthdpWarning, match="lies in memory"):
        opened_scratch(small_disk)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda place: place / "none", "is not there"),
        (lambda place: place / "file", "is no folder"),
        (lambda _: Path("/proc"), "nothing may be written into"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_with_the_rule(make, said, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PlanError, match=said) as told:
        opened_scratch(make(tmp_path))
    assert (told.value.kind, exit_of(told.value)) == ("scratch", Exit.MISUSE)
    assert "scratch=..." in str(told.value)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.EDQUOT, errno.EIO])
def test_every_error_of_the_system_names_setting_folder_and_a_way_out(number, tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module.tempfile, "TemporaryFile", refuse)
    with pytest.raises(PlanError, match=f"^scratch: .*{tmp_path}.*; .*scratch=") as told:
        opened_scratch(tmp_path)
    assert exit_of(told.value) == (Exit.RESOURCES if number == errno.EDQUOT else Exit.MISUSE)


def test_a_disk_that_tells_only_at_the_end_that_it_is_full_is_an_error(tmp_path):
    class Late:
        """A file of a network disk."""

        def __init__(self, file):
            self.file = file

        def __getattr__(self, name):
            return getattr(self.file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            raise OSError(errno.ENOSPC, "full")

    file = Scratch(tmp_path).file()
    file.write(np.arange(10.0))
    file.file = Late(file.file)
    with pytest.raises(PlanError, match="is full"):
        file.array()


def test_short_writes_go_on(tmp_path):
    file = Scratch(tmp_path).file()

    class Short:
        """Takes at most a thousand bytes at a time."""

        def __init__(self, inner):
            self.inner = inner

        def write(self, content):
            return self.inner.write(content[:1000])

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.inner.close()

    file.file = Short(file.file)
    file.write(np.arange(5000.0))
    assert np.array_equal(file.array(), np.arange(5000.0))


def test_the_usual_folder_is_on_a_disk_where_there_is_one(monkeypatch, tmp_path):
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    large = tmp_path / "large"
    large.mkdir()
    monkeypatch.setattr(scratch_folder, "_LARGE", large)
    monkeypatch.setattr(scratch_folder.tempfile, "gettempdir", lambda: str(tmp_path))
    assert usual_folder() == tmp_path
    monkeypatch.setattr(scratch_folder, "in_memory", lambda folder: folder == tmp_path)
    assert usual_folder() == large
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert usual_folder() == tmp_path


def test_nothing_is_known_of_memory_where_the_system_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(scratch_folder, "_MOUNTS", tmp_path / "none")
    assert not in_memory(Path("/"))


HELD = """
import sys, time
import numpy as np
from pathlib import Path
from pysynthdp.base.scratch import Scratch
from pysynthdp.base.sealed import Key
scratch = Scratch(Path(sys.argv[1]), Key() if sys.argv[2] == "encrypted" else None)
file = scratch.file()
file.write(np.frombuffer(b"the secret cell " * 10_000, np.uint8))
under_way = file.file.fileno()
print(under_way, flush=True)
time.sleep(60)
"""


@LINUX
@pytest.mark.parametrize("kind", ["plain", "encrypted"])
def test_a_killed_process_leaves_nothing_and_an_encrypted_file_tells_nothing(kind, tmp_path):
    pytest.importorskip("cryptography")
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, str(tmp_path), kind],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        number = int(process.stdout.readline())
        content = Path(f"/proc/{process.pid}/fd/{number}").read_bytes()
        assert len(content) == 160_000
        assert (b"secret" in content) == (kind == "plain")
        assert (len(set(content)) == 256) == (kind == "encrypted")
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not list(tmp_path.iterdir())


def test_no_two_files_are_encrypted_alike(tmp_path):
    pytest.importorskip("cryptography")
    scratch, values = Scratch(tmp_path, Key()), np.zeros(1000)
    first, second = (bytes(written(values, scratch)._content) for _ in range(2))
    assert first != second
    assert len({first[at : at + 16] for at in range(0, len(first), 16)}) == len(first) // 16


def test_the_key_is_never_shown_pickled_or_copied_and_is_overwritten(tmp_path):
    pytest.importorskip("cryptography")
    scratch = Scratch(tmp_path, Key())
    found, secret = stored(np.arange(10.0), scratch), scratch.key._secret
    assert bytes(secret) not in repr((scratch, found)).encode()
    assert secret.hex() not in repr((scratch, found))
    for thing in (scratch, found, scratch.key):
        with pytest.raises(PrivacyError, match="stays in its process"):
            pickle.dumps(thing)
    assert any(secret)
    del scratch, found, thing
    gc.collect()
    assert not any(secret)


def test_without_the_package_encryption_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    with pytest.raises(PlanError, match="scratch_encrypt=True needs the package cryptography; install"):
        opened_scratch(tmp_path, encrypt=True)
