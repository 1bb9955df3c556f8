"""The keys of a plan file, each with what it says, in the order of the table of settings."""

from __future__ import annotations

from pysynthdp.io.plans.plan_file import KEYS

__all__ = ["plan_keys"]


def plan_keys() -> dict[str, str]:
    """Say what each key of a plan file is for.

    Examples
    --------
    >>> plan_keys()["drop"]
    'columns to leave out: ["name", "id"]'
    """
    return dict(KEYS)
