"""What to install where rpy2 does not load: its own errors are of many types, and name a symbol at most."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.r_programs import run_r

__all__ = ["why_not"]

_FIRST_WITH_GETVAR: Final = (4, 5)
_LAST_FOR_OLDER_R: Final = "3.6.5"


def why_not(error: Exception) -> str:
    """Say what to install.

    Parameters
    ----------
    error : Exception
        What loading rpy2 raised.

    Returns
    -------
    str
        One line with a command.

    Notes
    -----
    Privacy: reads no data.
    """
    wanted = f"pip install 'rpy2-rinterface=={_LAST_FOR_OLDER_R}' rpy2-robjects"
    try:
        found = version("rpy2-rinterface")
    except PackageNotFoundError:
        return f"rpy2 is not installed: {wanted}; for R 4.5 or later without the version"
    try:
        r_version = run_r("cat(as.character(getRversion()))")
    except BridgeError as problem:
        return str(problem)
    if _numbers(r_version) < _FIRST_WITH_GETVAR and _numbers(found) > _numbers(_LAST_FOR_OLDER_R):
        return f"rpy2-rinterface {found} cannot load R {r_version}: {wanted}"
    kind = type(error).__name__
    return (
        f"rpy2-rinterface {found} cannot load R {r_version} ({kind}); {wanted}, or reinstall both for this R"
    )


def _numbers(text: str) -> tuple[int, ...]:
    """Give a version as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
