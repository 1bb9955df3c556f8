"""What the tests of the bridge share: R's files, and what R calls identical()."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pysynthdp.bridge.codec import RS4, ROpaque, RPairs, RSymbol, RValue, RVector


@pytest.fixture(scope="session")
def golden() -> Path:
    return Path(__file__).parents[2] / "golden" / "r"


@pytest.fixture(scope="session")
def differences() -> Callable[[RValue, RValue], list[str]]:
    return lambda left, right: list(_differences(left, right, "x"))


def _differences(left: RValue, right: RValue, where: str) -> Iterator[str]:
    """Name each place where two R values differ; doubles are compared bit by bit, so NA is not NaN."""
    if type(left) is not type(right):
        yield f"{where}: {type(left).__name__} against {type(right).__name__}"
    elif isinstance(left, RVector):
        yield from _vectors(left, right, where)
    elif isinstance(left, RPairs):
        if (left.language, len(left.cells)) != (right.language, len(right.cells)):
            yield f"{where}: another pairlist"
            return
        for at, (one, other) in enumerate(zip(left.cells, right.cells, strict=True)):
            if one.tag != other.tag:
                yield f"{where}[{at}]: tag {one.tag} against {other.tag}"
            yield from _differences(one.value, other.value, f"{where}[{at}]")
        yield from _attributes(left, right, where)
    elif isinstance(left, RS4):
        yield from _attributes(left, right, where)
    elif isinstance(left, RSymbol | ROpaque) and repr(left) != repr(right):
        yield f"{where}: {left} against {right}"


def _vectors(left: RVector, right: RVector, where: str) -> Iterator[str]:
    if (left.kind, len(left), left.s4) != (right.kind, len(right), right.s4):
        yield f"{where}: {left.kind} of {len(left)} against {right.kind} of {len(right)}"
        return
    if isinstance(left.values, tuple):
        for at, (one, other) in enumerate(zip(left.items, right.items, strict=True)):
            yield from _differences(one, other, f"{where}[{at}]")
    elif left.kind == "character":
        for at in np.flatnonzero(left.array != right.array):
            yield f"{where}[{at}]: another text"
    elif left.array.tobytes() != right.array.tobytes():
        yield f"{where}: other bits"
    yield from _attributes(left, right, where)


def _attributes(left: RVector | RPairs | RS4, right: RVector | RPairs | RS4, where: str) -> Iterator[str]:
    if set(left.attributes) != set(right.attributes):
        yield f"{where}: attributes {sorted(left.attributes)} against {sorted(right.attributes)}"
        return
    for name, value in left.attributes.items():
        yield from _differences(value, right.attributes[name], f"{where}@{name}")
