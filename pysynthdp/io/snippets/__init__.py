"""Ready-made programs in a release folder: read the m copies, fit, and combine by the rule of the release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pysynthdp.base.marks import SERIAL
from pysynthdp.io.folder.formats import Wishes
from pysynthdp.io.snippets import python, r, spss, stata
from pysynthdp.io.snippets.example import Task, example_of
from pysynthdp.schema import Schema

_NEED_CSV = ("analyse.do", "analyse.sps")  # neither Stata nor SPSS reads Parquet
__all__ = ["PROGRAMS", "snippet_files", "write_programs"]

PROGRAMS: Mapping[str, Callable[[Task], str]] = {
    "analyse.py": python.program,
    "analyse.R": r.program,
    "analyse.do": stata.program,
    "analyse.sps": spss.program,
}


def snippet_files(
    constants: Mapping[str, Any],
    schema: Schema,
    copies: list[str],
    *,
    wished: Wishes,
    withheld: Collection[str] = (),
    order: Sequence[str] = (),
) -> dict[str, str]:
    """Write the programs.

    Parameters
    ----------
    constants : mapping
        The rule: ``rule``, ``formula``, ``reason``, and the constants ``within``, ``between``, ``nested``,
        ``floor`` and ``nests`` of T = max(within ubar + between B + nested W, floor ubar). No program is
        written when ``rule`` is empty.
    schema : Schema
        From which an example of an analysis is made.
    copies : list of str
        Files of the copies.
    wished : Wishes
        Formats of the copies. Stata and SPSS read CSV only, so their programs stand beside CSV only.
    withheld : collection of str
        Columns whose levels are not published, such as identifiers; never in the example.
    order : sequence of str
        Columns in the order in which they were drawn.

    Returns
    -------
    dict of str to str
        File name to text: ``analyse.py``, ``analyse.R``, ``analyse.do``, ``analyse.sps``.

    Notes
    -----
    Privacy: column names, levels and codes of the public schema, and the tags; no value of a copy.
    """
    if not constants["rule"]:
        return {}
    parquet = wished.main == "parquet"
    example = example_of(schema, withheld, order)
    task = Task(constants, example, schema, tuple(copies), parquet=parquet, marked=wished.watermark)
    plain = tuple(f"{Path(name).stem}.csv" for name in copies)
    read = dict.fromkeys(_NEED_CSV, replace(task, copies=plain, parquet=False))
    return {
        name: program(read.get(name, task))
        for name, program in PROGRAMS.items()
        if name not in _NEED_CSV or "csv" in wished.formats
    }


def write_programs(parts: Mapping[str, Any], folder: Path, copies: list[str], *, wished: Wishes) -> list[str]:
    """Write the programs of a release into its folder; none where its parts have no ``constants``.

    Parameters
    ----------
    parts : mapping
        ``constants``, ``schema`` and ``provenance`` of the release.
    folder : Path
        The release's folder.
    copies : list of str
        Files of the copies in it.
    wished : Wishes
        Format of the copies.

    Returns
    -------
    list of str
        Names of the files written.
    """
    if "constants" not in parts:
        return []
    withheld = {name for name, method in parts["provenance"].methods if method == SERIAL}
    order = parts["provenance"].visit_sequence
    options: dict[str, Any] = {"wished": wished, "withheld": withheld, "order": order}
    programs = snippet_files(parts["constants"], parts["schema"], copies, **options)
    for name, text in programs.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(programs)
