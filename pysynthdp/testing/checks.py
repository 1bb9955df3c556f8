"""What a check is, and how several are run so that an author reads of all faults at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

__all__ = ["Check", "broken", "demand", "run_all"]


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of a contract, and the function that fails where it is not kept.

    Parameters
    ----------
    name : str
        The promise in short, such as ``"draws_stay_in_the_domain"``; also its text, for the ids of a test.
    run : callable
        Raises AssertionError where the promise is broken.

    Examples
    --------
    >>> kept = Check("one_is_one", lambda: None)
    >>> str(kept), kept() is None
    ('one_is_one', True)
    """

    name: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return self.name

    def __call__(self) -> None:
        """Raise AssertionError where the promise is broken."""
        try:
            self.run()
        except AssertionError:
            raise
        except Exception as problem:  # noqa: BLE001 -- the code may be anybody's
            broken(
                f"raised {type(problem).__name__} ({problem})",
                why="nothing was asked here that may be refused",
                mend="see where it comes from: it is the cause of this error",
            )


def broken(what: str, *, why: str, mend: str) -> NoReturn:
    """Say what is broken, why it matters and how to mend it.

    Raises
    ------
    AssertionError
        Always; also under ``python -O``.
    """
    msg = f"{what}\n    why it matters: {why}\n    to mend it: {mend}"
    raise AssertionError(msg)


def demand(holds: object, what: str, *, why: str, mend: str) -> None:
    """Fail with words where something does not hold."""
    if not holds:
        broken(what, why=why, mend=mend)


def run_all(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks and tell of all that fail.

    Raises
    ------
    AssertionError
        Lists every broken promise; where there is one, its cause is the error itself.

    Examples
    --------
    >>> run_all("toy", [Check("one_is_one", lambda: None)])
    """
    faults: list[tuple[str, Exception]] = []
    for check in checks:
        try:
            check()
        except AssertionError as fault:
            faults.append((check.name, fault))
    if faults:
        told = "\n".join(f"- {name}: {fault}" for name, fault in faults)
        msg = f"{subject} breaks {len(faults)} of its promises:\n{told}"
        raise AssertionError(msg) from faults[0][1]
