"""Who answers, and whether values come back as they went."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from typing import Any

import pysynthdp as sdp
from pysynthdp.bridge.codec import RValue, RVector
from pysynthdp.bridge.plain import plain_from_r, plain_to_r

__all__ = ["echo", "ping"]


def ping() -> dict[str, Any]:
    """Say what answers."""
    return {
        "version": sdp.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "packages": {name: version(name) for name in ("numpy", "pandas")},
    }


def echo(x: RValue) -> RValue:
    """Give back what came, through pandas where it is a data frame."""
    is_frame = isinstance(x, RVector) and "data.frame" in x.classes
    return plain_to_r(plain_from_r(x)) if is_frame else x
