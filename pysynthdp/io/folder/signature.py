"""A signature over the list of a release with a key of the user's: Ed25519, detached, readable by OpenSSL.

The list holds the checksum of every other file, so a signature over its bytes covers the folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from pysynthdp.base.errors import ReleaseError
from pysynthdp.io.folder.manifest import MANIFEST

__all__ = ["SIGNATURE", "Sign", "Signer", "signer_of", "verifier_of"]

SIGNATURE: Final = f"{MANIFEST}.sig"
Sign: TypeAlias = Callable[[bytes], bytes]
_PRIVATE = "openssl genpkey -algorithm ed25519 -out key.pem"
_PUBLIC = "openssl pkey -in key.pem -pubout -out public.pem"


@runtime_checkable
class Signer(Protocol):
    """What holds a private key: ``cryptography``'s ``Ed25519PrivateKey``, or a token that keeps it inside."""

    def sign(self, data: bytes, /) -> bytes:
        """Sign bytes."""
        ...


def signer_of(key: str | Path | Signer) -> Sign:
    """Read a private key, before anything is drawn or written.

    Parameters
    ----------
    key : path or Signer
        A PEM file with an Ed25519 private key and without a passphrase, or an object with ``sign(data)``.

    Returns
    -------
    callable
        From bytes to a signature of 64 bytes.

    Raises
    ------
    ReleaseError
        If the package ``cryptography`` is missing, or the file holds no such key.

    Notes
    -----
    Privacy: touches no record; the key is not kept, shown or written.
    """
    if isinstance(key, Signer):
        return key.sign
    content = _content(key)
    serialization, ed25519, unsupported, _ = _cryptography()
    try:
        found = serialization.load_pem_private_key(content, password=None)
    except TypeError:
        raise ReleaseError(
            f"{key} is locked by a passphrase; open it yourself in Python, which takes the key object too",
            kind="signature",
        ) from None
    except (ValueError, unsupported):
        raise ReleaseError(
            f"{key} holds no private key in PEM; make one: {_PRIVATE}", kind="signature"
        ) from None
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise ReleaseError(f"{key} is no Ed25519 key; make one: {_PRIVATE}", kind="signature")
    sign: Sign = found.sign
    return sign


def verifier_of(key: str | Path) -> Callable[[bytes, bytes], bool]:
    """Read a public key.

    Parameters
    ----------
    key : path
        A PEM file with an Ed25519 public key.

    Returns
    -------
    callable
        From a signature and bytes to whether the key's holder signed them.

    Raises
    ------
    ReleaseError
        If the package ``cryptography`` is missing, or the file holds no such key.
    """
    content = _content(key)
    serialization, ed25519, unsupported, invalid = _cryptography()
    try:
        found = serialization.load_pem_public_key(content)
    except (ValueError, unsupported):
        raise ReleaseError(
            f"{key} holds no public key in PEM; write it with: {_PUBLIC}", kind="signature"
        ) from None
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise ReleaseError(f"{key} is no Ed25519 key; its holder writes it with: {_PUBLIC}", kind="signature")

    def signed(signature: bytes, data: bytes) -> bool:
        try:
            found.verify(signature, data)
        except invalid:
            return False
        return True

    return signed


def _content(path: str | Path) -> bytes:
    """Read a key file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ReleaseError(
            f"the key {path} cannot be read: {error.strerror or type(error).__name__}", kind="signature"
        ) from error


def _cryptography() -> tuple[Any, Any, Any, Any]:
    """Load the optional package, or say how to install it."""
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ReleaseError(
            "a signature needs the package cryptography; install it with: pip install cryptography",
            kind="signature",
        ) from None
    return serialization, ed25519, UnsupportedAlgorithm, InvalidSignature
