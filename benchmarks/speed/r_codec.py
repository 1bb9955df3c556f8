"""The codec of R objects against rpy2's pandas2ri, in one process and on the same columns.

Run: python -m benchmarks.speed.r_codec [OUT.csv [CASE ...]]    (needs R and: pip install '.[r]')

A case is one table of a million rows and twenty columns, made by R. Each way is timed by itself, in wall and
in CPU seconds; the ratios are of CPU seconds, which other work on the machine disturbs least. R's own work
(serialize, unserialize) stands apart, and counts in ``ratio_with_r``. ``identical`` is R's own word on the
table that went there and back. The bars: 4 s of wall time each way without R's own work, and 5 times faster
than pandas2ri.
"""

from __future__ import annotations

import csv
import gc
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import rpy2.rinterface as ri
import rpy2.robjects as ro
from rpy2.robjects import conversion, pandas2ri

from pysynthdp.bridge import rpy2 as bridge
from pysynthdp.bridge.codec import dumps, loads
from pysynthdp.bridge.frames import frame_from_r, frame_to_r

ROWS, COLUMNS = 1_000_000, 20
ROUNDS = 3  # of the codec, of which the fastest counts; pandas2ri runs once, as its seconds are tens
BAR_SECONDS, BAR_RATIO = 4.0, 5.0
KINDS = {
    "double": "rnorm(n)",
    "integer": "replace(sample.int(1000L, n, TRUE), sample.int(n, n %/% 10L), NA_integer_)",
    "logical": "sample(c(TRUE, FALSE, NA), n, TRUE)",
    "factor": "factor(sample(c(letters[1:8], NA), n, TRUE), levels = letters[1:10])",
    "date": "as.Date('1990-01-01') + sample(c(0:10000, NA), n, TRUE)",
    "instant": "as.POSIXct('2020-01-01', tz = 'UTC') + runif(n, 0, 1e7)",
    "short text": "sample(c('north', 'south', 'west', NA), n, TRUE)",
    "unique text": "sprintf('id%08d', sample.int(n))",
}
MIXED = {"double": 6, "integer": 4, "factor": 6, "date": 1, "logical": 1, "short text": 1, "unique text": 1}
FEW_TEXTS = {"double": 16, "unique text": 4}  # twenty of them are more than 4 GB as Python objects
CASES = {"mixed": MIXED, "double and unique text": FEW_TEXTS} | {
    kind: {kind: COLUMNS} for kind in KINDS if kind != "unique text"
}


def table(counts: dict[str, int]) -> Any:
    """Let R make a table with so many columns of each kind."""
    columns = [KINDS[kind] for kind, count in counts.items() for _ in range(count)]
    listed = ", ".join(f"v{at} = {code}" for at, code in enumerate(columns))
    return ri.evalr(f"local({{ set.seed(1); n <- {ROWS}L; data.frame({listed}) }})")


def timed(work: Callable[[], Any]) -> tuple[Any, np.ndarray]:
    """Give a result, and the wall and CPU seconds it took."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, np.array([time.perf_counter() - wall, time.process_time() - cpu])


def fastest(work: Callable[[], Any]) -> tuple[Any, np.ndarray]:
    """Give a result, and the fastest of some rounds."""
    rounds = [timed(work) for _ in range(ROUNDS)]
    return rounds[0][0], min((seconds for _, seconds in rounds), key=lambda seconds: seconds[0])


def by_codec(frame: Any) -> dict[str, Any]:
    """Time the codec both ways, R's own work apart."""
    stream, out = fastest(lambda: ri.baseenv["serialize"](frame, ri.NULL, xdr=False, version=2))
    came, read = fastest(lambda: frame_from_r(loads(np.asarray(stream, dtype=np.uint8).data)))
    sent, write = fastest(lambda: _raw(dumps(frame_to_r(came.frame, came.facts))))
    back, into = fastest(lambda: ri.baseenv["unserialize"](sent))
    same = bool(ri.baseenv["identical"](back, frame)[0])
    return {"frame": came.frame, "there": read, "back": write, "R out": out, "R in": into, "same": same}


def _raw(data: bytes) -> Any:
    """Hand bytes to R."""
    return ri.ByteSexpVector(np.frombuffer(data, dtype=np.uint8))


def by_pandas2ri(frame: Any, ours: Any) -> dict[str, Any]:
    """Time rpy2's own converter both ways: R's table, then the frame that the codec made of it."""
    converter = ro.default_converter + pandas2ri.converter
    with conversion.localconverter(converter), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, there = timed(lambda: converter.rpy2py(ro.vectors.DataFrame(frame)))
        again, back = timed(lambda: converter.py2rpy(ours))
    return {"there": there, "back": back, "same": bool(ri.baseenv["identical"](again, frame)[0])}


def compared(name: str, counts: dict[str, int]) -> list[dict[str, object]]:
    """Measure one case: a line for each way."""
    frame = table(counts)
    ours = by_codec(frame)
    theirs = by_pandas2ri(frame, ours["frame"])
    return [_line(name, way, ours, theirs) for way in ("there", "back")]


def _line(name: str, way: str, ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, object]:
    """Put one way of one case into words."""
    own = ours["R out" if way == "there" else "R in"]
    (wall, cpu), (slow, slow_cpu) = ours[way], theirs[way]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "columns": name,
        "way": "R to pandas" if way == "there" else "pandas to R",
        "codec_s": f"{wall:.2f}",
        "codec_cpu_s": f"{cpu:.2f}",
        "r_itself_s": f"{own[0]:.2f}",
        "pandas2ri_s": f"{slow:.2f}",
        "pandas2ri_cpu_s": f"{slow_cpu:.2f}",
        "ratio": f"{slow_cpu / cpu:.1f}",
        "ratio_with_r": f"{slow_cpu / (cpu + own[1]):.1f}",
        "codec_identical": ours["same"],
        "pandas2ri_identical": theirs["same"],
        "within_bars": bool(wall <= BAR_SECONDS and slow_cpu / cpu >= BAR_RATIO),
    }


def main(out: str | None = None, *cases: str) -> None:
    """Measure all cases or some; print them, and write them where asked."""
    bridge.load()
    lines: list[dict[str, object]] = []
    for name in cases or CASES:
        for line in compared(name, CASES[name]):
            print(*(f"{key}={value}" for key, value in line.items()), flush=True)
            lines.append(line)
        ri.baseenv["gc"]()
    if out is not None:
        with Path(out).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
