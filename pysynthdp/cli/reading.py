"""Options of the command line that say how a CSV file is written; the same keys may stand in the plan."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["reading_of", "with_reading"]

_OPTIONS: dict[str, Any] = {
    "sep": Annotated[
        str | None,
        typer.Option(help="Sign between the fields of a CSV: , ; | tab. Else found.", show_default=False),
    ],
    "decimal": Annotated[
        str | None, typer.Option(help="Decimal mark in a CSV: . or , . Else found.", show_default=False)
    ],
    "encoding": Annotated[
        str | None, typer.Option(help="Of a CSV, such as cp1252; UTF-8 by default.", show_default=False)
    ],
    "text": Annotated[
        list[str] | None,
        typer.Option(help="Column to read as text, such as 01067; repeatable.", show_default=False),
    ],
}


def with_reading(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading; it gets them together, as ``reading``."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        reading = {name: kwargs.pop(name, None) for name in _OPTIONS}
        function(*args, reading=reading, **kwargs)

    own = inspect.signature(function, eval_str=True).parameters
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]
    all_ = [*(parameter for name, parameter in own.items() if name != "reading"), *added]
    run.__signature__ = inspect.Signature(all_)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in all_}
    return run


def reading_of(options: dict[str, Any], plan: Path | None) -> dict[str, Any]:
    """Join the options with the keys of a plan; an option wins."""
    from pysynthdp.io.plans.plan_file import read_reading

    asked = {} if plan is None else read_reading(plan)
    return {**asked, **{name: value for name, value in options.items() if value}}
