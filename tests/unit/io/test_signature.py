"""A signature with a key of the user's: right, wrong, stripped, and the package that makes it left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.io.folder.signature import SIGNATURE

FRAME = pd.DataFrame({"x": [1.5, 2.5, 4.0] * 20})
MUST_RUN = os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") == "yes"


@pytest.fixture(scope="module")
def release():
    return sdp.synthesize(FRAME, m=2, rng=1, progress=False)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Two pairs of keys, one of them locked, and one of another kind."""
    if not MUST_RUN:
        pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    home = tmp_path_factory.mktemp("keys")
    open_, lock = s.NoEncryption(), s.BestAvailableEncryption(b"secret")
    made = {
        "mine": (ed25519.Ed25519PrivateKey.generate(), open_),
        "other": (ed25519.Ed25519PrivateKey.generate(), open_),
        "locked": (ed25519.Ed25519PrivateKey.generate(), lock),
        "curve": (ec.generate_private_key(ec.SECP256R1()), open_),
    }
    for name, (key, how) in made.items():
        private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, how)
        public = key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
        (home / f"{name}.pem").write_bytes(private)
        (home / f"{name}.pub").write_bytes(public)
    (home / "text.pem").write_text("no key")
    return home


def test_a_signed_release_is_signed_by_the_holder_of_the_key(release, keys, tmp_path):
    folder = release.save(tmp_path / "out", sign=keys / "mine.pem")
    checked = sdp.verify(folder, key=keys / "mine.pub")
    assert (checked.exit_code, checked.signed) == (10, True)
    assert "signed by the holder of this key" in checked.verdict
    assert "nobody's signature" not in str(checked)
    assert sdp.SyntheticRelease.load(folder).m == 2


def test_without_a_key_a_signature_is_there_and_not_checked(release, keys, tmp_path):
    checked = sdp.verify(release.save(tmp_path / "out", sign=keys / "mine.pem"))
    assert not checked.signed
    assert "nobody's signature was checked" in checked.verdict
    assert "there is one, but no key was given" in str(checked)


def test_the_wrong_key_is_a_change(release, keys, tmp_path):
    checked = sdp.verify(release.save(tmp_path / "out", sign=keys / "mine.pem"), key=keys / "other.pub")
    assert (checked.exit_code, checked.signed) == (13, False)


def test_a_stripped_signature_is_a_change(release, keys, tmp_path):
    folder = release.save(tmp_path / "out", sign=keys / "mine.pem")
    (folder / SIGNATURE).unlink()
    assert sdp.verify(folder, key=keys / "mine.pub").exit_code == 13
    assert sdp.verify(folder).exit_code == 10


@pytest.mark.parametrize("bits", [b"", b"x" * 64, b"x" * 65])
def test_bytes_that_are_no_signature_are_a_change(bits, release, keys, tmp_path):
    folder = release.save(tmp_path / "out", sign=keys / "mine.pem")
    (folder / SIGNATURE).write_bytes(bits)
    assert sdp.verify(folder, key=keys / "mine.pub").exit_code == 13


def test_what_is_made_anew_in_every_file_alike_is_found_by_the_signature_alone(
    release, keys, tmp_path, relist
):
    folder = release.save(tmp_path / "out", sign=keys / "mine.pem", format="csv")
    (folder / "README.txt").write_text("no rules apply")
    relist(folder)
    assert sdp.verify(folder).exit_code == 10
    assert sdp.verify(folder, key=keys / "mine.pub").exit_code == 13


def test_the_signature_of_another_release_does_not_serve(release, keys, tmp_path):
    first = release.save(tmp_path / "first", sign=keys / "mine.pem")
    second = sdp.synthesize(FRAME, m=2, rng=2, progress=False).save(tmp_path / "second")
    (second / SIGNATURE).write_bytes((first / SIGNATURE).read_bytes())
    assert sdp.verify(second, key=keys / "mine.pub").exit_code == 13


def test_a_key_object_signs_too_and_a_stream_is_signed(keys, tmp_path):
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = load_pem_private_key((keys / "locked.pem").read_bytes(), b"secret")
    folder = sdp.Synthesizer(progress=False).fit(FRAME).draw_to(tmp_path / "out", m=2, sign=key)
    assert sdp.verify(folder, key=keys / "locked.pub").signed


@pytest.mark.skipif(which("openssl") is None and not MUST_RUN, reason="openssl is not installed")
def test_openssl_reads_the_signature_without_this_package(release, keys, tmp_path):
    folder = release.save(tmp_path / "out", sign=keys / "mine.pem")
    files = ["-rawin", "-in", str(folder / "release.json"), "-sigfile", str(folder / SIGNATURE)]
    call = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(keys / "mine.pub"), *files]
    assert subprocess.run(call, capture_output=True, check=False).returncode == 0
    call[5] = str(keys / "other.pub")
    assert subprocess.run(call, capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("nowhere.pem", "cannot be read"),
        ("text.pem", "holds no private key in PEM; make one: openssl"),
        ("mine.pub", "holds no private key in PEM"),
        ("locked.pem", "locked by a passphrase"),
        ("curve.pem", "is no Ed25519 key"),
    ],
)
def test_a_key_that_cannot_sign_is_refused_before_anything_is_written_or_charged(
    key, message, keys, tmp_path
):
    fit = sdp.Synthesizer(progress=False).fit(FRAME)
    with pytest.raises(sdp.ReleaseError, match=message):
        fit.draw(m=1).save(tmp_path / "out", sign=keys / key)
    drawn = fit.account.copies
    with pytest.raises(sdp.ReleaseError, match=message):
        fit.draw_to(tmp_path / "out", m=1, sign=keys / key)
    assert fit.account.copies == drawn
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("nowhere.pub", "cannot be read"),
        ("text.pem", "holds no public key in PEM"),
        ("mine.pem", "holds no public key in PEM"),
        ("curve.pub", "is no Ed25519 key"),
    ],
)
def test_a_key_that_cannot_verify_is_refused(key, message, release, keys, tmp_path):
    signed = release.save(tmp_path / "signed", sign=keys / "mine.pem")
    for folder in (signed, release.save(tmp_path / "bare")):
        with pytest.raises(sdp.ReleaseError, match=message):
            sdp.verify(folder, key=keys / key)


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_the_shell_signs_and_checks(stream, keys, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    run = CliRunner().invoke
    out = str(tmp_path / "out")
    made = run(
        app, ["synth", str(tmp_path / "t.csv"), "--out", out, "--sign", str(keys / "mine.pem"), *stream]
    )
    assert made.exit_code == 0, made.output
    checked = run(app, ["verify", out, "--key", str(keys / "mine.pub")])
    assert checked.exit_code == 10
    assert "signed by the holder of this key" in " ".join(checked.output.split())
    assert run(app, ["verify", out, "--key", str(keys / "other.pub")]).exit_code == 13
    assert run(app, ["verify", out, "--key", str(keys / "text.pem")]).exit_code == 2


def test_the_shell_refuses_a_bad_key_before_it_reads_a_record(keys, tmp_path):
    (tmp_path / "t.csv").write_text("x\n")
    options = [
        "synth",
        str(tmp_path / "t.csv"),
        "--out",
        str(tmp_path / "out"),
        "--sign",
        str(keys / "text.pem"),
    ]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 2
    assert "holds no private key" in result.stderr


def test_without_the_package_signing_names_the_remedy_and_all_else_works(release, tmp_path):
    """In a process of its own that cannot import cryptography."""
    folder = release.save(tmp_path / "out")
    (tmp_path / "key.pem").write_text("any")
    code = f"""
import sys; sys.modules["cryptography"] = None
import pysynthdp as sdp
checked = sdp.verify({str(folder)!r})
release = sdp.SyntheticRelease.load({str(folder)!r})
for call in (lambda: sdp.verify({str(folder)!r}, key={str(tmp_path / "key.pem")!r}),
             lambda: release.save({str(tmp_path / "again")!r}, sign={str(tmp_path / "key.pem")!r})):
    try:
        call()
    except sdp.ReleaseError as error:
        print(error)
print(checked.exit_code)
"""
    (folder / SIGNATURE).write_bytes(b"x" * 64)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    remedy = "a signature needs the package cryptography; install it with: pip install cryptography"
    assert done.stdout.splitlines() == [remedy, remedy, "10"], done.stderr


def test_the_key_is_nowhere_in_the_folder(release, keys, tmp_path):
    folder = release.save(tmp_path / "out", sign=keys / "mine.pem")
    private = (keys / "mine.pem").read_text().splitlines()[1].encode()
    assert all(private not in path.read_bytes() for path in Path(folder).iterdir())
    assert len((folder / SIGNATURE).read_bytes()) == 64
    assert SIGNATURE not in json.loads((folder / "release.json").read_text())["files"]
