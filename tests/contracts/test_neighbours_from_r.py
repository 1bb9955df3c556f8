"""Tables of R that differ in one record go through the dispatcher: nothing that comes out tells them apart.

R's own bytes are sent, for every class and every odd value. With the same noised answers given back to
both, the whole reply must be the same bytes: copies and their classes, statement, tags, warnings. What the
noise has to hide is compared too: no other row is encoded otherwise, and the exact zCDP loss is at most the
budget. Where sampling protects, all but the drawn cells must agree. Where the whole column was read by what
all of its cells allow, an infinite date had a loss of 65,508 at a budget of 1.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RVector, character, dumps, loads, named_list
from pysynthdp.bridge.codec.values import texts_of
from pysynthdp.bridge.dispatch import PROTOCOL, handle
from pysynthdp.bridge.plain import plain_to_r

_SPEC = importlib.util.spec_from_file_location("neighbours", Path(__file__).parents[1] / "neighbours.py")
shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = shared
_SPEC.loader.exec_module(shared)
Run, watched, loss, changed_rows = shared.Run, shared.watched, shared.loss, shared.changed_rows
N, RHO, AT = 300, 50.0, 7
rng = np.random.default_rng(5)
DAYS = rng.integers(7305, 10305, N).astype(np.float64)
CODES = rng.integers(1, 4, N).astype(np.int32)
TAG = np.array([0x7FF00061000007A2], np.uint64).view(np.float64)[0]  # haven's tagged NA, "a"


@dataclass(frozen=True)
class Kind:
    """A column of R: its cells, what stands in one of them instead, and what is declared."""

    cells: np.ndarray
    odd: list[Any]
    attributes: Mapping[str, Any]
    declared: Mapping[str, Any]
    storage: str = "double"

    def column(self, odd: Any = None, *, is_odd: bool = False) -> RVector:
        cells = self.cells.copy()
        if is_odd:
            cells[AT] = odd
        return RVector(self.storage, cells, dict(self.attributes))


def number(unit: str = "day", size: float = 1.0) -> dict[str, Any]:
    bounds = {"lower": 0.0, "upper": 20000.0 * size, "fallback": 5000.0 * size, "unit": unit}
    return {"kind": "numeric", "may_be_missing": False, **bounds}


def levels(*values: Any, may_be_missing: bool = True) -> dict[str, Any]:
    own = {"levels": list(values), "other": values[0], "may_be_missing": may_be_missing}
    return {"kind": "categorical", **own}


def of(*classes: str, **texts: str) -> dict[str, RVector]:
    return {"class": character(list(classes)), **{name: character([text]) for name, text in texts.items()}}


def integer64(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.int64).view(np.float64)


ODD_TIME = [NA_REAL, np.nan, np.inf, -np.inf, 7305.5, 1e7, 1e12, -1e300, 5e-324, 7305.1234567]
ODD_NUMBER = [NA_REAL, TAG, np.nan, np.inf, -np.inf, 1e300, -0.0, 5e-324]
ODD_CODE = [NA_INTEGER, 0, 99, -5, 3, 2**31 - 1]
ODD_TEXT = [None, "", "NA", "x", "1e400", "2020-13-41", "\udcff", "TRUE", "now", "\N{SNOWMAN}" * 9]
SECONDS = DAYS * 86400
SPANS = {"secs": 86400, "mins": 1440, "hours": 24, "days": 1, "weeks": 1 / 7}
LABELLED = {"class": character(["haven_labelled", "vctrs_vctr", "double"]), "label": character(["Born"])}
TEXTS = np.array([f"{day:.0f}" for day in DAYS], dtype=object)
NAMES = np.array(["a", "b", "c"], dtype=object)[CODES - 1]
WRITTEN = np.array([f"{day:%Y-%m-%d}" for day in pd.to_datetime(DAYS, unit="D")], dtype=object)
KINDS: dict[str, Kind] = {
    "date": Kind(DAYS, ODD_TIME, of("Date"), number()),
    "date_in_seconds": Kind(DAYS, ODD_TIME, of("Date"), number("second", 86400)),
    "date_as_number": Kind(DAYS, ODD_TIME, of("Date"), number("number")),
    "date_integer": Kind(DAYS.astype(np.int32), ODD_CODE, of("Date"), number(), "integer"),
    "date_levels": Kind(DAYS % 3, ODD_TIME, of("Date"), levels("1970-01-01", "1970-01-02", "1970-01-03")),
    **{
        f"time_{zone}_{unit}": Kind(
            SECONDS, ODD_TIME, of("POSIXct", "POSIXt", tzone=zone), number(unit, size)
        )
        for zone in ("UTC", "Asia/Kolkata", "America/New_York", "")
        for unit, size in (("day", 1), ("second", 86400))
    },
    **{
        f"span_{units}": Kind(DAYS * size, ODD_TIME, of("difftime", units=units), number())
        for units, size in SPANS.items()
    },
    "span_as_number": Kind(DAYS, ODD_TIME, of("difftime", units="days"), number("number")),
    "double": Kind(DAYS, ODD_NUMBER, {}, number()),
    "double_number": Kind(DAYS, ODD_NUMBER, {}, number("number")),
    "double_levels": Kind(CODES.astype(np.float64), ODD_NUMBER, {}, levels(1.0, 2.0, 3.0)),
    "labelled": Kind(DAYS, [NA_REAL, TAG, np.inf], LABELLED, number()),
    "labelled_levels": Kind(CODES.astype(np.float64), [NA_REAL, TAG, 9.0], LABELLED, levels(1.0, 2.0, 3.0)),
    "integer": Kind(DAYS.astype(np.int32), ODD_CODE, {}, number(), "integer"),
    "integer_levels": Kind(CODES, ODD_CODE, {}, levels(1.0, 2.0, 3.0), "integer"),
    "logical": Kind(CODES % 2, [NA_INTEGER], {}, levels(True, False), "logical"),
    "logical_number": Kind(CODES % 2, [NA_INTEGER], {}, number("number"), "logical"),
    "integer64": Kind(integer64(DAYS), list(integer64([-(2**63), 2**63 - 1, 0])), of("integer64"), number()),
    "factor": Kind(
        CODES, ODD_CODE, {"levels": character(list("abc")), **of("factor")}, levels(*"abc"), "integer"
    ),
    "factor_na": Kind(
        CODES, ODD_CODE, {"levels": character(["a", "b", None]), **of("factor")}, levels("a", "b"), "integer"
    ),
    "factor_sure": Kind(
        CODES, ODD_CODE, {"levels": character(["a", None, "b"]), **of("ordered", "factor")},
        levels("a", "b", may_be_missing=False), "integer",
    ),
    "factor_number": Kind(
        CODES, ODD_CODE, {"levels": character(["8000", "9000", None]), **of("factor")}, number(), "integer"
    ),
    "text": Kind(NAMES, ODD_TEXT, {}, levels(*"abc"), "character"),
    "text_number": Kind(TEXTS, ODD_TEXT, {}, number(), "character"),
    "text_date": Kind(WRITTEN, ODD_TEXT, {}, number(), "character"),
    "complex": Kind(
        DAYS.astype(np.complex128), [complex(1, 2), complex("nan"), complex("inf")], {}, number(), "complex"
    ),
    "raw": Kind(CODES.astype(np.uint8), [0, 255], {}, number("number"), "raw"),
}  # fmt: skip
MOST = max(len(kind.odd) for kind in KINDS.values())


def r_frame(columns: Mapping[str, RVector]) -> RVector:
    return named_list(columns, {"class": character(["data.frame"])})


def asked(
    columns: Mapping[str, RVector], declared: Mapping[str, Any], guarantee: Any, **settings: Any
) -> bytes:
    """A request as R sends it."""
    own = named_list(
        {
            name: plain_to_r(plain)
            for name, plain in {"schema": declared, "guarantee": guarantee, **settings}.items()
        }
    )
    args = named_list({"data": r_frame(columns), "settings": own, "m": plain_to_r(1), "seed": plain_to_r(4)})
    request = {"protocol": plain_to_r(PROTOCOL), "verb": plain_to_r("synthesise"), "args": args}
    return dumps(named_list(request))


def is_ok(reply: bytes) -> bool:
    fields = loads(reply)
    held = dict(zip(fields.names, fields.items, strict=True))
    assert bool(held["ok"].array[0]), texts_of(held.get("message"))
    return True


def ordinary() -> dict[str, RVector]:
    return {name: kind.column() for name, kind in KINDS.items()}


def with_odd(turn: int) -> dict[str, RVector]:
    """The same table, but for one record of which every cell is odd."""
    return {name: kind.column(kind.odd[turn % len(kind.odd)], is_odd=True) for name, kind in KINDS.items()}


DECLARED = {name: kind.declared for name, kind in KINDS.items()}
NOISE = {"name": "zcdp", "rho": RHO}


@pytest.fixture(scope="module")
def answered() -> tuple[Any, bytes]:
    """The reply to the ordinary table, and what was asked for it."""
    with pytest.MonkeyPatch.context() as patch, watched(patch) as plain:
        reply = handle(asked(ordinary(), DECLARED, NOISE))
    assert is_ok(reply)
    return plain, reply


@pytest.mark.parametrize("turn", range(MOST))
def test_an_odd_record_from_r_leaves_every_byte_of_the_reply(turn, answered, monkeypatch):
    plain, reply = answered
    with watched(monkeypatch, plain) as odd:
        again = handle(asked(with_odd(turn), DECLARED, NOISE))
    assert again == reply
    assert changed_rows(plain, odd) == {AT}
    assert 0 < loss(plain, odd) <= Fraction(RHO)


@pytest.mark.parametrize("name", KINDS)
def test_an_odd_cell_from_r_costs_at_most_the_budget_of_its_column_alone(name, monkeypatch):
    kind = KINDS[name]
    request = {"declared": {name: kind.declared}, "guarantee": {"name": "zcdp", "rho": 1.0}}
    with watched(monkeypatch) as plain:
        reply = handle(asked({name: kind.column()}, **request))
    assert is_ok(reply)
    for odd in kind.odd:
        with watched(monkeypatch, plain) as run:
            assert handle(asked({name: kind.column(odd, is_odd=True)}, **request)) == reply
        assert changed_rows(plain, run) <= {AT}
        assert loss(plain, run) <= 1


SAMPLED = {
    name: {"name": "gaussian", "sigma": 900.0 if kind.declared["upper"] < 1e6 else 1e8}
    if kind.declared["kind"] == "numeric"
    else {"name": "dirichlet", "prior": 20.0}
    for name, kind in KINDS.items()
}


@pytest.mark.parametrize("turn", range(MOST))
def test_where_the_draw_protects_no_other_row_from_r_is_encoded_otherwise(turn, monkeypatch):
    runs, replies = [], []
    for columns in (ordinary(), with_odd(turn)):
        with watched(monkeypatch) as run:
            replies.append(handle(asked(columns, DECLARED, {"name": "by_sampling"}, method=SAMPLED)))
        runs.append(run)
        assert is_ok(replies[-1])
    assert changed_rows(*runs) == {AT}
    fields = [loads(reply) for reply in replies]
    for one, other in zip(*(released(reply) for reply in fields), strict=True):
        assert one == other  # classes, levels, storage, statement and tags; the draws themselves differ


def released(reply: RVector) -> Iterator[bytes]:
    """Everything of a reply but the drawn cells."""
    held = dict(zip(reply.names, reply.items, strict=True))
    yield dumps(held["warnings"])
    made = dict(zip(held["value"].names, held["value"].items, strict=True))
    copy = made.pop("syn")
    del made["digest"]  # of the drawn cells
    yield dumps(named_list(made))
    for name, column in zip(copy.names, copy.items, strict=True):
        yield dumps(named_list({name: character([column.kind]), **column.attributes}))


def as_text(values: np.ndarray, odd: str) -> RVector:
    cells = np.array([f"{value:.0f}" for value in values], dtype=object)
    cells[AT] = odd
    return RVector("character", cells)


def doubled(odd: float) -> RVector:
    cells = DAYS.copy()
    cells[AT] = odd
    return RVector("double", cells)


RETYPED: dict[str, tuple[RVector, RVector, Any]] = {
    "integers with a fraction": (RVector("integer", DAYS.astype(np.int32)), doubled(0.5), number()),
    "whole numbers with a fraction": (
        RVector("integer", DAYS.astype(np.int32)), doubled(0.5), {**number("number"), "decimals": 0},
    ),
    "a label that got lost": (
        KINDS["labelled"].column(), doubled(np.inf), {**number("number"), "decimals": 0},
    ),
    "integers with a text": (RVector("integer", DAYS.astype(np.int32)), as_text(DAYS, "x"), number()),
    "doubles with a text": (RVector("double", DAYS), as_text(DAYS, ""), number("number")),
    "codes with a text": (RVector("integer", CODES), as_text(CODES, "soon"), levels(1.0, 2.0, 3.0)),
    "dates with a text": (KINDS["date"].column(), KINDS["text_date"].column("x", is_odd=True), number()),
    "texts as a factor": (KINDS["text"].column(), KINDS["factor"].column(99, is_odd=True), levels(*"abc")),
    "integers beyond 32 bits": (
        RVector("integer", DAYS.astype(np.int32)),
        KINDS["integer64"].column(integer64([2**62])[0], is_odd=True), number(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RETYPED)
def test_a_record_that_gave_its_column_another_class_in_r_leaves_every_byte(case, monkeypatch):
    one, other, declared = RETYPED[case]
    with watched(monkeypatch) as plain:
        reply = handle(asked({"x": one}, {"x": declared}, {"name": "zcdp", "rho": 1.0}))
    assert is_ok(reply)
    with watched(monkeypatch, plain) as odd:
        assert handle(asked({"x": other}, {"x": declared}, {"name": "zcdp", "rho": 1.0})) == reply
    assert changed_rows(plain, odd) <= {AT}
    assert loss(plain, odd) <= 1
