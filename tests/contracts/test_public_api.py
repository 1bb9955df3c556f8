"""The public names, their parameters and defaults are a contract with users; they are pinned here.

Print the present ones with ``python tests/contracts/test_public_api.py``. Where they differ from
``public_api.txt``, the contract changes: amend the file in the commit that makes the change, with a line in
the changelog.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pysynthdp
import pysynthdp.testing

# what users get from calls and never make themselves: their constructors are ours to change
RESULTS = {
    "FittedSynthesizer",
    "PooledResults",
    "PrivacyStatement",
    "ReleaseVerification",
    "StructureDiff",
    "SynthesisPlan",
    "SyntheticRelease",
}
PINNED = Path(__file__).parents[1] / "golden" / "public_api.txt"


def written(function: Any) -> str:
    """Parameters with kinds and defaults, without types: those are mypy's business."""
    signature = inspect.signature(function)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def members(name: str, owner: type) -> Iterator[str]:
    """The public attributes of a class."""
    for attribute, entry in sorted(inspect.getmembers_static(owner)):
        function = entry.__func__ if isinstance(entry, classmethod | staticmethod) else entry
        if attribute.startswith("_"):
            continue
        yield (
            f"{name}.{attribute}{written(function)}"
            if inspect.isfunction(function)
            else f"{name}.{attribute}"
        )


def described() -> list[str]:
    """One line a public name or member."""
    lines = []
    for name in sorted(pysynthdp.__all__):
        entry = getattr(pysynthdp, name)
        if inspect.isclass(entry) and issubclass(entry, Exception):
            lines.append(f"{name} <- {', '.join(base.__name__ for base in entry.__bases__)}")
        else:
            lines.append(name if name in RESULTS else f"{name}{written(entry)}")
            lines += members(name, entry) if inspect.isclass(entry) else []
    suite = pysynthdp.testing
    return [*lines, *(f"testing.{name}{written(getattr(suite, name))}" for name in sorted(suite.__all__))]


def test_public_names_parameters_and_defaults_are_the_pinned_ones():
    change = list(
        difflib.unified_diff(PINNED.read_text("utf-8").splitlines(), described(), "pinned", "now", n=0)
    )
    assert not change, "\n".join(change)


def parameters(function: Any) -> list[inspect.Parameter]:
    return [
        parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "self"
    ]


@pytest.mark.parametrize("name", pysynthdp.__all__)
def test_what_is_optional_beyond_two_arguments_is_named_in_calls(name):
    """At most three arguments by position, as in ``draw(m, k, rng)``."""
    entry = getattr(pysynthdp, name)
    functions = [function for _, function in inspect.getmembers(entry, inspect.isfunction)]
    for function in functions if inspect.isclass(entry) else [entry]:
        if not function.__name__.startswith("_"):
            positional = [p for p in parameters(function) if p.kind is p.POSITIONAL_OR_KEYWORD]
            assert len(positional) <= 3, f"{function.__qualname__} takes {len(positional)}"


def test_random_numbers_come_by_the_name_rng_and_are_fresh_by_default():
    for function in (
        pysynthdp.synthesize,
        pysynthdp.FittedSynthesizer.draw,
        pysynthdp.FittedSynthesizer.draw_to,
    ):
        assert inspect.signature(function).parameters["rng"].default is None


if __name__ == "__main__":
    print("\n".join(described()))  # noqa: T201  # the tool that writes the pinned file
