"""How many modules one call runs through.

Run: ``python -m benchmarks.house.calls [case ...]`` from the root of the repository. Each case runs in
a process of its own, so that "first" is first and "warm" has run once before.

Counted are functions of the package alone, as a profiler sees them; what runs while a module is imported
counts too, the bodies of modules and classes do not. A switch is an entry into a function, or a generator
going on, that comes from another module of the package. The deepest own stack holds only functions of the
package. One worker, so that nothing runs unseen in another thread.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pandas as pd

import pysynthdp as sdp
from benchmarks.house.floors import PACKAGE

OWN = str(PACKAGE)
IN_FUNCTION = 0x1  # CO_OPTIMIZED: bodies of modules and classes lack it
FORMULA = "income ~ age + C(edu)"


def table(rows: int = 800) -> pd.DataFrame:
    """Give age, sex, education and an income that depends on them; no confidential data."""
    rng = np.random.default_rng(1)
    age = rng.integers(18, 91, rows)
    edu = rng.choice(["low", "middle", "high"], rows, p=[0.3, 0.5, 0.2])
    income = 800 + 15 * age + 600 * (edu == "high") + rng.normal(0, 300, rows)
    sex = rng.choice(["F", "M"], rows)
    return pd.DataFrame({"age": age, "sex": sex, "edu": edu, "income": income.round(2)})


def declared() -> sdp.Schema:
    """Declare the table's columns, for guarantees."""
    edu = sdp.CategoricalColumn("edu", levels=["low", "middle", "high"], other="low", may_be_missing=False)
    sex = sdp.CategoricalColumn("sex", levels=["F", "M"], other="F", may_be_missing=False)
    age = sdp.NumericColumn("age", lower=18, upper=90, fallback=40, may_be_missing=False, dtype="int64")
    income = sdp.NumericColumn("income", lower=0, upper=5000, fallback=1500, may_be_missing=False)
    return sdp.Schema([age, sex, edu, income])


def open_settings() -> sdp.Synthesizer:
    """Nothing asked for."""
    return sdp.Synthesizer(workers=1, progress=False)


def noised_settings() -> sdp.Synthesizer:
    """Noise in the answers."""
    return sdp.Synthesizer(schema=declared(), guarantee=sdp.ZCDP(0.5), workers=1, progress=False)


@dataclass
class Seen:
    """What the profiler saw.

    Parameters
    ----------
    modules : set of str
        Files whose functions ran.
    functions : set of code
        Functions that ran; no comprehension or lambda.
    switches : int
        Entries from another module.
    depth : int
        Functions of the package on the deepest stack.
    """

    modules: set[str] = field(default_factory=set)
    functions: set[CodeType] = field(default_factory=set)
    switches: int = 0
    depth: int = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note an entry."""
        if event != "call" or not own(frame):
            return
        code = frame.f_code
        self.modules.add(code.co_filename)
        if not code.co_name.startswith("<"):
            self.functions.add(code)
        stack = [code.co_filename]
        caller = frame.f_back
        while caller is not None:
            if own(caller):
                stack.append(caller.f_code.co_filename)
            caller = caller.f_back
        self.switches += len(stack) > 1 and stack[1] != stack[0]
        self.depth = max(self.depth, len(stack))


def own(frame: FrameType) -> bool:
    """Whether a frame runs a function of the package."""
    code = frame.f_code
    return code.co_filename.startswith(OWN) and bool(code.co_flags & IN_FUNCTION)


def watched(work: Callable[[], object]) -> Seen:
    """Run under the profiler."""
    seen = Seen()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


def first_synthesize() -> Seen:
    """Fit and draw at once, in a fresh process."""
    df = table()
    return watched(lambda: sdp.synthesize(df, m=5, rng=1, workers=1, progress=False))


def warm_fit() -> Seen:
    """Fit once more."""
    df, settings = table(), open_settings()
    settings.fit(df).draw(m=1, rng=1)
    return watched(lambda: open_settings().fit(df))


def warm_draw() -> Seen:
    """Draw once more."""
    fitted = open_settings().fit(table())
    fitted.draw(m=5, rng=1)
    return watched(lambda: fitted.draw(m=5, rng=2))


def first_ols() -> Seen:
    """Pool for the first time: every combining rule is asked whether it applies."""
    release = open_settings().fit(table()).draw(m=5, rng=1)
    return watched(lambda: sdp.ols(FORMULA, release))


def noised_ols() -> Seen:
    """Pool again, on copies of noised answers."""
    release = noised_settings().fit(table()).draw(m=20, rng=1)
    sdp.ols(FORMULA, release)
    return watched(lambda: sdp.ols(FORMULA, release))


def first_save() -> Seen:
    """Write a release folder."""
    release = open_settings().fit(table()).draw(m=5, rng=1)
    with tempfile.TemporaryDirectory() as folder:
        return watched(lambda: release.save(Path(folder) / "release"))


def noised_fit_and_draw() -> Seen:
    """Fit to noised answers and draw, in a fresh process."""
    df = table()
    return watched(lambda: noised_settings().fit(df).draw(m=5, rng=1))


CASES: dict[str, tuple[str, Callable[[], Seen]]] = {
    "synthesize": ("synthesize(df, m=5), first", first_synthesize),
    "fit": ("Synthesizer().fit(df), warm", warm_fit),
    "draw": ("fitted.draw(m=5), warm", warm_draw),
    "ols": (f'ols("{FORMULA}", release), first', first_ols),
    "ols-noised": ("ols on a ZCDP release, warm", noised_ols),
    "save": ("release.save(folder), first", first_save),
    "noised": ("ZCDP fit and draw, first", noised_fit_and_draw),
}


def main() -> None:
    """Print a line a case."""
    warnings.simplefilter("ignore")
    if len(sys.argv) == 3 and sys.argv[1] == "--here":
        label, case = CASES[sys.argv[2]]
        seen = case()
        counts = (len(seen.modules), len(seen.functions), seen.switches, seen.depth)
        print(f"{label:44}" + "".join(f"{count:>10,}" for count in counts), flush=True)
        return
    print(f"{'call':44}" + "".join(f"{head:>10}" for head in ("modules", "functions", "switches", "deepest")))
    for name in sys.argv[1:] or CASES:
        subprocess.run([sys.executable, "-m", "benchmarks.house.calls", "--here", name], check=True)  # noqa: S603


if __name__ == "__main__":
    main()
