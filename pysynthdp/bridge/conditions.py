"""Conditions that R raised, as exceptions."""

from __future__ import annotations

import re

from pysynthdp.base import errors
from pysynthdp.base.errors import BridgeError, PysynthdpError, PysynthdpWarning

__all__ = ["RError", "RWarning", "exception_of"]


class RError(BridgeError):
    """An error that R raised.

    Parameters
    ----------
    message : str
        What R says.
    classes : tuple of str
        R's condition classes.
    """

    def __init__(self, message: str, classes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.classes = classes


class RWarning(PysynthdpWarning):
    """A warning that R gave.

    Parameters
    ----------
    message : str
        What R says.
    classes : tuple of str
        R's condition classes.
    """

    def __init__(self, message: str, classes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.classes = classes


def exception_of(
    text: str, classes: tuple[str, ...], *, column: str | None = None, kind: str | None = None
) -> PysynthdpError:
    """Give the exception of a condition: ours by its class and fields, any other as an RError."""
    for name in classes:
        own = re.sub(r"(?:^pysynthdp)?_(\w)", lambda found: found[1].upper(), name)
        made = getattr(errors, own, None)
        if name.startswith("pysynthdp_") and made is not None and made is not PysynthdpError:
            return made(text, column=column, kind=kind)  # type: ignore[no-any-return]  # names in errors are exceptions
    return RError(text, classes)
