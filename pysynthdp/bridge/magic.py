"""Conditions of R that leave a ``%%R`` cell, as warnings and exceptions with their class and text.

rpy2's own magic tells of an error by a text in which the class is lost, and prints warnings. Here the cell is
evaluated inside a function of the R package that notes both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from pysynthdp.bridge.conditions import RError, RWarning, exception_of

__all__ = ["watched"]


def watched(evaluate: Callable[[str], Any], parse: Callable[[str], Any], heard: Callable[[], Any]) -> Any:
    """Give an ``eval`` of rpy2's magic that raises what R raised.

    Parameters
    ----------
    evaluate : callable
        The magic's own ``eval``.
    parse : callable
        Raises for code that is not R.
    heard : callable
        Gives what the R package noted of the last code that it watched, and forgets it.

    Returns
    -------
    callable
        For the magic.

    Notes
    -----
    Privacy: passes on what R says.
    """

    def run(code: str) -> Any:
        if not code.strip():
            return evaluate(code)
        _parsed(parse, code)
        try:
            done = evaluate(f"pysynthdp:::watched({{\n{code}\n}})")
        except Exception as error:
            print(getattr(error, "stdout", ""))  # noqa: T201 -- what the cell printed before
            found = _told(heard())
            if found is None:
                raise
            raise found from None
        _told(heard())
        return done

    return run


def _parsed(parse: Callable[[str], Any], code: str) -> None:
    """Say of code that is not R that it is none."""
    try:
        parse(code)
    except Exception as error:  # noqa: BLE001 -- of a type that only rpy2 knows
        text = f"the cell is no complete R code ({error})"
        raise RError(text, ("parseError", "error", "condition")) from None


def _told(heard: Mapping[str, Any]) -> Exception | None:
    """Give warnings to Python, and give the exception of the error, if there was one."""
    for one in heard["warnings"]:
        said = RWarning(one["text"], _classes(one))
        # with its own registry: the same warning of another cell is shown again
        warnings.warn_explicit(said, RWarning, "%%R", 1, registry={})
    error = heard["error"]
    return (
        None
        if error is None
        else exception_of(error["text"], _classes(error), column=error.get("column"), kind=error.get("kind"))
    )


def _classes(told: Mapping[str, Any]) -> tuple[str, ...]:
    """Give R's classes; a single one comes as a text."""
    held = told["class"]
    return (held,) if isinstance(held, str) else tuple(held)
