"""Which parameters to release, as a plan in TOML: a codebook and a list of columns with settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pysynthdp.errors import PlanError
from pysynthdp.io.codebook import read_codebook
from pysynthdp.io.toml_text import read_toml, refuse_unknown
from pysynthdp.schema import Schema

__all__ = ["read_parameters"]

_SETTINGS = ("column", "how", "sigma", "prior", "prior_mean", "prior_sd", "copies", "epsilon")


def read_parameters(path: str | Path) -> tuple[Schema, tuple[dict[str, Any], ...]]:
    """Read a plan for releasing parameters.

    Parameters
    ----------
    path : path
        TOML with ``codebook``, relative to the file, and ``[[parameters]]``, each with a ``column`` and
        the settings of :func:`pysynthdp.release_mean` or :func:`pysynthdp.release_shares`.

    Returns
    -------
    schema : Schema
        Of the codebook.
    asked : tuple of dict
        One an entry.

    Raises
    ------
    PlanError
        If a key is not known or an entry names no column; the message says which.

    Notes
    -----
    Privacy: reads no record.
    """
    where = Path(path)
    given = read_toml(where, PlanError)
    refuse_unknown(given, ("codebook", "parameters"), where=str(where), error=PlanError)
    if "codebook" not in given or not given.get("parameters"):
        raise PlanError(f"{where} needs codebook = '...' and at least one [[parameters]]")
    for number, entry in enumerate(given["parameters"], start=1):
        refuse_unknown(entry, _SETTINGS, where=f"{where}: parameters[{number}]", error=PlanError)
        if "column" not in entry:
            raise PlanError(f"{where}: parameters[{number}] names no column; add column = '...'")
    return read_codebook(where.parent / given["codebook"]), tuple(given["parameters"])
