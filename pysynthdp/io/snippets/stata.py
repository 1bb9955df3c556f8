"""The program for Stata."""

from __future__ import annotations

import re
from typing import Final

from pysynthdp.base.marks import WATERMARK
from pysynthdp.io.csv.reading_lines import kinds_of_numbers
from pysynthdp.io.snippets.example import (
    Coded,
    Task,
    about,
    fill,
    identifiers,
    listed,
    renamed,
    texts_of,
)

__all__ = ["program"]

_NOTHING = "    * set codes that are not values to missing here, if there are any"
_RESERVED: Final = frozenset(
    ["byte", "double", "float", "if", "in", "int", "long", "strL", "using", "with", "_all", "_b", "_coef"]
) | {"_cons", "_n", "_N", "_pi", "_pred", "_r", "_rc", "_se", "_skip"}
"""Reserved names of Stata (User's Guide, 11.3); ``str1`` and the like besides."""


def program(task: Task) -> str:
    """Write ``analyse.do``, for Stata 14 or later; it reads CSV."""
    example, names = task.example, task.schema.names
    known = dict(zip(names, identifiers(names, _is_reserved), strict=True))
    kinds = [known[column.name] for column in task.schema if kinds_of_numbers(column)]
    lines = [f"    quietly destring {name}, replace" for name in kinds]  # .a to .z become missing values
    lines += [_without(known[coded.name], coded) for coded in example.codes]
    if example.level is not None:
        source = known[str(example.source)]
        hit = f"({source} == {_quoted(task)})"
        lines.append(f"    generate double {example.outcome} = {hit} if !missing({source})")
    texts = [str(names.index(name) + 1) for name in texts_of(task.schema)]
    used = (known.get(name, name) for name in (example.outcome, *example.predictors))
    places = {
        "about": about(task, "* ", renamed(known)),
        "names": " ".join(name.rpartition(".")[0] for name in task.copies),
        "nests": listed(task.constants["nests"], " "),
        "columns": " ".join([*known.values(), *([WATERMARK] if task.marked else [])]),
        "texts": f" stringcols({' '.join(texts)})" if texts else "",
        "prepared": "\n".join(lines) or _NOTHING,
        "model": " ".join(used),
    }
    return fill("analyse.do", task.places | places)


def _is_reserved(name: str) -> bool:
    """Whether Stata refuses a name for a variable."""
    return name in _RESERVED or re.fullmatch(r"str\d+", name) is not None


def _quoted(task: Task) -> str:
    """Write the level of the example; only text is quoted."""
    level = str(task.example.level)
    return f'`"{level}"\'' if task.example.source in texts_of(task.schema) else level


def _without(name: str, coded: Coded) -> str:
    """Make codes of a column missing; texts are compared one by one, dates by their first ten letters."""
    if coded.kind == "number":
        return f"    quietly replace {name} = . if inlist({name}, {listed(coded.codes)})"
    seen = f"substr({name}, 1, 10)" if coded.kind == "day" else name
    hits = " | ".join(f'{seen} == `"{code}"\'' for code in coded.codes)
    return f'    quietly replace {name} = "" if {hits}'
