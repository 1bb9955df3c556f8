"""The program for Stata."""

from __future__ import annotations

from pysynthdp.io.snippets.example import Task, about, fill, identifiers, listed

__all__ = ["program"]

_NOTHING = "    * set codes that are not values to missing here, if there are any"


def program(task: Task) -> str:
    """Write ``analyse.do``, for Stata 14 or later."""
    example = task.example
    known = dict(zip(task.schema.names, identifiers(task.schema.names), strict=True))
    lines = [
        f"    quietly replace {known[name]} = . if inlist({known[name]}, {listed(codes)})"
        for name, codes in example.codes
    ]
    if example.level is not None:
        quoted = '`"' + example.level + "\"'"
        lines.append(f"    generate double {example.outcome} = ({known[str(example.source)]} == {quoted})")
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
