"""The program for Stata."""

from __future__ import annotations

from pysynthdp.io.snippets.example import Coded, Task, about, fill, identifiers, listed

__all__ = ["program"]

_NOTHING = "    * set codes that are not values to missing here, if there are any"


def program(task: Task) -> str:
    """Write ``analyse.do``, for Stata 14 or later."""
    example = task.example
    known = dict(zip(task.schema.names, identifiers(task.schema.names), strict=True))
    lines = [_without(known[coded.name], coded) for coded in example.codes]
    if example.level is not None:
        quoted = '`"' + example.level + "\"'"
        source = known[str(example.source)]
        lines.append(f"    generate double {example.outcome} = ({source} == {quoted}) if !missing({source})")
    used = (known.get(name, name) for name in (example.outcome, *example.predictors))
    places = {
        "about": about(task, "* "),
        "names": " ".join(name.rpartition(".")[0] for name in task.copies),
        "nests": listed(task.constants["nests"], " "),
        "columns": " ".join(known.values()),
        "prepared": "\n".join(lines) or _NOTHING,
        "model": " ".join(used),
    }
    return fill("analyse.do", task.places | places)


def _without(name: str, coded: Coded) -> str:
    """Make codes of a column missing; texts are compared one by one, dates by their first ten letters."""
    if coded.kind == "number":
        return f"    quietly replace {name} = . if inlist({name}, {listed(coded.codes)})"
    seen = f"substr({name}, 1, 10)" if coded.kind == "day" else name
    hits = " | ".join(f'{seen} == `"{code}"\'' for code in coded.codes)
    return f'    quietly replace {name} = "" if {hits}'
