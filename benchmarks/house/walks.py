"""Where one argument walks: ``table`` and ``guarantee`` in a fit, ``rng`` in a draw, ``release`` in ``ols``.

Run: ``python -m benchmarks.house.walks [--calls] [walk ...]`` from the root of the repository. ``--calls``
lists the calls behind each arrow, function by function, and how often each is made.

A function is visited when a function of another file passes it the very object: by itself, in a list, or in
an object of the package that holds it (a table in its rows, rows in a request). Passing on within a file,
giving back, and asking the object itself (``self``) are no visits; a wrapper that takes whatever comes is
looked through, a generator is handed over where it starts to run. Of a guarantee, what the user gave and the
protection that the plan holds are followed, not the settings and the plan that hold them.

Printed are

- the walk: visits in their order, those that one file makes to another in one line; ``>`` leads down or stays
  on a floor of the import contract, ``^`` climbs to a higher floor or, on one floor, from a file to one that
  imports it; ``(^)`` climbs without knowing where: the file below imports nothing of the one above and calls
  a method of an object that it was given (a protection, found by its registry);
- files that are entered while they are at work further up (comes back), entered by the same file once more
  after others (again), and entered from several files (doors);
- names under which functions know the object.

The aim is that each argument goes down only, with at most one visit a file: no climb, nothing that comes
back, no "again", one door each.
"""

from __future__ import annotations

import dis
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from itertools import groupby
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

import pysynthdp as sdp
from benchmarks.house.calls import FORMULA, declared, open_settings, own, table
from benchmarks.house.floors import NAME, ladders, module_of
from benchmarks.house.imports import imports, modules, reached
from pysynthdp.models import Gaussian

RESUME: Final = dis.opmap["RESUME"]
DOORS: Final = (
    sdp.Synthesizer,
    sdp.FittedSynthesizer,
    sdp.SyntheticRelease,
)  # who has it, has not been handed it


@dataclass(frozen=True)
class Handed:
    """One call that passes the object on to another file.

    Parameters
    ----------
    giver, taker : str
        Module.
    gives, takes : str
        Function.
    name : str
        What the taker calls it.
    above : tuple of str
        Modules at work when the call is made, the outermost first.
    """

    giver: str
    gives: str
    taker: str
    takes: str
    name: str
    above: tuple[str, ...]


class Watch:
    """Follow an object through the functions of the package.

    Parameters
    ----------
    is_it : function object -> bool
        Recognises the object.
    depth : int
        How many covers deep to look for it: lists, and objects of the package.
    """

    def __init__(self, is_it: Callable[[object], bool], depth: int = 1) -> None:
        self.is_it, self.depth = is_it, depth
        self.handed: list[Handed] = []
        self.names: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Look at the arguments of a call."""
        if event != "call" or not own(frame) or is_wrapper(frame.f_code) or is_going_on(frame):
            return
        names = [name for name in arguments(frame) if self.holds(frame.f_locals.get(name), self.depth)]
        if not names:
            return
        self.names.update(names)
        above = list(callers(frame))
        giver = above[0] if above else None
        here = module_of(frame.f_code.co_filename)
        if giver is None or module_of(giver.f_code.co_filename) != here:
            chain = tuple(module_of(each.f_code.co_filename) for each in reversed(above))
            gives = (module_of(giver.f_code.co_filename), giver.f_code.co_qualname) if giver else ("", "user")
            self.handed.append(Handed(*gives, here, frame.f_code.co_qualname, names[0], chain))

    def holds(self, thing: object, depth: int) -> bool:
        """Whether something is the object or covers it."""
        if self.is_it(thing):
            return True
        if depth == 0 or thing is None or isinstance(thing, DOORS):
            return False
        return any(self.holds(part, depth - 1) for part in parts_of(thing))


def parts_of(thing: object) -> Iterator[object]:
    """Look into a list, or an object of the package."""
    if isinstance(thing, list | tuple) and len(thing) < 100:
        yield from thing
    elif is_dataclass(thing) and not isinstance(thing, type) and type(thing).__module__.startswith(NAME):
        for item in fields(thing):
            yield getattr(thing, item.name, None)


def is_wrapper(code: CodeType) -> bool:
    """Whether a function takes whatever comes and hands it on."""
    both = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return code.co_flags & both == both and code.co_argcount == 0


def is_going_on(frame: FrameType) -> bool:
    """Whether a generator goes on, which hands nothing over."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and code[at] == RESUME and code[at + 1] & 3 != 0


def arguments(frame: FrameType) -> list[str]:
    """Name the arguments of a call but for ``self``, and no comprehension's."""
    code = frame.f_code
    if code.co_name.startswith("<"):
        return []
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return [name for name in code.co_varnames[:count] if name not in ("self", "cls")]


def callers(frame: FrameType) -> Iterator[FrameType]:
    """Functions of the package further up, the nearest first."""
    above = frame.f_back
    while above is not None:
        if own(above) and not is_wrapper(above.f_code):
            yield above
        above = above.f_back


def visits(handed: list[Handed]) -> list[Handed]:
    """Collapse calls: the first of all that one file passes to another."""
    kept: dict[tuple[str, str], Handed] = {}
    for each in handed:
        kept.setdefault((each.giver, each.taker), each)
    return list(kept.values())


def stays(handed: list[Handed], visit: Handed) -> int:
    """Count how often a file enters another, others in between."""
    takers = [each.taker for each in handed if each.giver == visit.giver]
    return sum(taker == visit.taker for taker, _ in groupby(takers))


def climbs(giver: str, taker: str) -> bool:
    """Whether the way leads up, by the first contract that parts the two; else, against the imports."""
    for ladder in ladders():
        low, high = ladder.of(giver), ladder.of(taker)
        if low is not None and high is not None and low != high:
            return high > low
    return giver in reached(taker)


def sign(visit: Handed) -> str:
    """Draw the arrow of a visit."""
    if not visit.giver or not climbs(visit.giver, visit.taker):
        return ">"
    known = {each.giver for each in imports(visit.giver)} - {NAME}
    knows = any(f"{visit.taker}.".startswith(f"{module}.") for module in known)
    return "^" if knows or visit.giver not in modules() else "(^)"


def short(module: str) -> str:
    """Leave out the package's name."""
    return module.partition(".")[2] or module or "user"


def show(title: str, watch: Watch, *, calls: bool) -> None:
    """Print a walk."""
    walk = visits(watch.handed)
    takers = list(dict.fromkeys(visit.taker for visit in walk))
    doors = {taker: [short(visit.giver) for visit in walk if visit.taker == taker] for taker in takers}
    many = {taker: givers for taker, givers in doors.items() if len(givers) > 1}
    marks = {id(visit): marks_of(visit, watch.handed) for visit in walk}
    print(f"\n== {title}")
    print(
        f"{len(walk)} ways to {len(takers)} files; {len(watch.names)} names: {', '.join(sorted(watch.names))}"
    )
    counted = [mark.split(" x")[0] for visit in walk for mark in marks[id(visit)]]
    kinds = ("climbs", "climbs by an object", "comes back", "again")
    print(
        "; ".join(f"{kind} {counted.count(kind)}" for kind in kinds) + f"; files of several doors {len(many)}"
    )
    for visit in walk:
        mark = f"   <- {', '.join(marks[id(visit)])}" if marks[id(visit)] else ""
        print(f"  {short(visit.giver):28} {sign(visit):>3} {short(visit.taker):32}{mark}".rstrip())
        if calls:
            show_calls(visit, watch.handed)
    for taker, givers in many.items():
        print(f"  {short(taker)} has {len(givers)} doors: {', '.join(givers)}")


def marks_of(visit: Handed, handed: list[Handed]) -> list[str]:
    """Say what a visit does that it should not."""
    times = stays(handed, visit)
    found = {">": [], "^": ["climbs"], "(^)": ["climbs by an object"]}[sign(visit)]
    found += ["comes back"] if visit.taker in visit.above else []
    return found + ([f"again x{times}"] if times > 1 else [])


def show_calls(visit: Handed, handed: list[Handed]) -> None:
    """Print the calls behind an arrow, each with how often it is made."""
    made = [
        (one.gives, one.takes, one.name)
        for one in handed
        if (one.giver, one.taker) == (visit.giver, visit.taker)
    ]
    for call in dict.fromkeys(made):
        gives, takes, name = call
        print(f"{'':34} {made.count(call):>3} x {gives} -> {takes}({name})")


def followed(watch: Watch, work: Callable[[], object]) -> Watch:
    """Run under a watch."""
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return watch


def table_in_fit() -> Watch:
    """Fit with no guarantee: the table, its rows, what passes rows on."""
    df, settings = table(), open_settings()
    return followed(Watch(lambda thing: thing is df, depth=3), lambda: settings.fit(df))


def table_in_noised_fit() -> Watch:
    """Fit with noise in the answers."""
    df = table()
    settings = sdp.Synthesizer(schema=declared(), guarantee=sdp.ZCDP(0.5), workers=1, progress=False)
    return followed(Watch(lambda thing: thing is df, depth=3), lambda: settings.fit(df))


def imputed_table_in_fit() -> Watch:
    """Fit to two imputations of a table: where the first of them walks."""
    df, settings = table(), open_settings()
    other = df.assign(income=df["income"].where(df["age"] > 30, df["income"].mean().round(2)))
    return followed(Watch(lambda thing: thing is df, depth=3), lambda: settings.fit([df, other]))


def guarantee_by_sampling() -> Watch:
    """Ask for a guarantee by the draw itself."""
    asked, df = sdp.BySampling(), table()[["age"]]
    schema = sdp.Schema([declared()["age"]])
    method = {"age": Gaussian(sigma=15.0)}
    return followed(
        Watch(lambda thing: thing is asked, depth=0),
        lambda: sdp.Synthesizer(schema=schema, method=method, guarantee=asked, workers=1, progress=False).fit(
            df
        ),
    )


def guarantee_in_fit() -> Watch:
    """Ask for noise in the answers: what was asked for, and the protection that the plan holds."""
    asked, df = sdp.ZCDP(0.5), table()
    kind = type(sdp.Synthesizer(schema=declared(), guarantee=asked).protection)
    return followed(
        Watch(lambda thing: thing is asked or isinstance(thing, kind), depth=0),
        lambda: sdp.Synthesizer(schema=declared(), guarantee=asked, workers=1, progress=False).fit(df),
    )


def rng_in_draw() -> Watch:
    """Draw from a fit."""
    fitted, rng = open_settings().fit(table()), np.random.default_rng(1)
    return followed(Watch(lambda thing: thing is rng), lambda: fitted.draw(m=2, rng=rng))


def release_in_ols() -> Watch:
    """Pool a regression."""
    release = open_settings().fit(table()).draw(m=5, rng=1)
    return followed(Watch(lambda thing: thing is release), lambda: sdp.ols(FORMULA, release))


WALKS: Final[dict[str, tuple[str, Callable[[], Watch]]]] = {
    "table": ("table in Synthesizer().fit(table)", table_in_fit),
    "table-noised": ("table in a ZCDP fit", table_in_noised_fit),
    "table-imputed": ("an imputed table in Synthesizer().fit([table, other])", imputed_table_in_fit),
    "guarantee": ("guarantee in a ZCDP fit", guarantee_in_fit),
    "guarantee-sampling": ("guarantee in a BySampling fit", guarantee_by_sampling),
    "rng": ("rng in fitted.draw(m, rng=rng)", rng_in_draw),
    "release": (f'release in ols("{FORMULA}", release)', release_in_ols),
}


def main() -> None:
    """Print the walks."""
    warnings.simplefilter("ignore")
    asked = [word for word in sys.argv[1:] if word != "--calls"]
    for name in asked or WALKS:
        title, walk = WALKS[name]
        show(title, walk(), calls="--calls" in sys.argv)


if __name__ == "__main__":
    main()
