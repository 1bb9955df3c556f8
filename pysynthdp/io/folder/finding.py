"""What one check of a release folder found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pysynthdp.base.errors import PysynthdpError

__all__ = ["Finding", "Result", "compared", "guarded", "unchecked"]

Result: TypeAlias = Literal["agrees", "differs", "not checked"]
_SHOWN = 3  # problems of one kind that are named


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and what came of it.

    Parameters
    ----------
    what : str
        What was compared with what.
    result : {"agrees", "differs", "not checked"}
        ``"not checked"`` where the release does not hold what the check needs.
    detail : str
        What differs, what was compared, or why it was not.
    """

    what: str
    result: Result
    detail: str = ""


def compared(what: str, problems: Iterable[str], *, right: str = "") -> Finding:
    """Turn a list of problems into a finding: none means that all agrees.

    Examples
    --------
    >>> compared("sizes", ["a is longer"]).result, compared("sizes", []).result
    ('differs', 'agrees')
    """
    found = list(problems)
    if not found:
        return Finding(what, "agrees", right)
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Finding(what, "differs", "; ".join(found[:_SHOWN]) + more)


def unchecked(what: str, why: str) -> Finding:
    """Say that something was not checked, and why."""
    return Finding(what, "not checked", why)


def guarded(what: str, check: Callable[[str], Finding]) -> Finding:
    """Run a check; parts of files that are missing or malformed are findings, not crashes."""
    try:
        return check(what)
    except PysynthdpError as error:
        return Finding(what, "differs", str(error))
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        return Finding(what, "differs", f"a part is missing or malformed ({type(error).__name__})")
