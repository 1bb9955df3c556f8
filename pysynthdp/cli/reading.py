"""Options of the command line that say how a table is read; those of a CSV may stand in the plan too."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["gathered", "reading_of", "with_reading", "with_scratch"]

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
_SCRATCH: dict[str, Any] = {
    "scratch": Annotated[
        Path | None,
        typer.Option(
            help="Folder on a disk where the table's columns lie meanwhile, in files without a name; "
            "TMPDIR, or the system's, by default.",
            show_default=False,
        ),
    ],
    "scratch_encrypt": Annotated[
        bool, typer.Option("--scratch-encrypt", help="Encrypt what lies there, by a key in memory.")
    ],
}


def gathered(into: str, options: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command several options; it gets them together, as one argument."""

    def wrap(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            found = {name: kwargs.pop(name, None) or None for name in options}
            function(*args, **{into: found}, **kwargs)

        own = inspect.signature(function, eval_str=True).parameters
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=False if annotation.__origin__ is bool else None,
                annotation=annotation,
            )
            for name, annotation in options.items()
        ]
        all_ = [*(parameter for name, parameter in own.items() if name != into), *added]
        run.__signature__ = inspect.Signature(all_)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in all_}
        return run

    return wrap


def with_reading(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a CSV; it gets them together, as ``reading``."""
    return gathered("reading", _OPTIONS)(function)


def with_scratch(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of what lies on disk meanwhile; it gets them together, as ``disk``."""
    return gathered("disk", _SCRATCH)(function)


def reading_of(options: dict[str, Any], plan: Path | None) -> dict[str, Any]:
    """Join the options with the keys of a plan; an option wins."""
    from pysynthdp.io.plans.plan_file import read_reading

    asked = {} if plan is None else read_reading(plan)
    return {**asked, **{name: value for name, value in options.items() if value}}
