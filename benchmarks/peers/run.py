"""The noised release beside other differentially private synthesizers: nearness, coverage and time.

Run: python -m benchmarks.peers.run TABLE TOOL [--rho 0.1] [--seeds 5] [--runs 10] [--python VENV/bin/python]

TOOL is one of
  release  this package, one copy from the shared fit ('norm' numbers); its interval read as if real
  shaped   the same with numbers drawn by 'normrank' where the schema asks for it
  large    as release, but of 30 rows for each real one: how near the model is, without the draw of its rows
  pooled   this package, m = 20 copies; point estimates averaged, intervals by 'noise_floored'
  aim      AIM on mbi, aim.py (pip install mbi==2.0.0 pandas)
  mst      MST of dpmm, dpmm.py (pip install dpmm==0.1.9; Python 3.11)
  drawn    the copies of aim, their rows drawn with replacement: mbi rounds the rows to the model's tables
           instead of drawing them, which saves a copy the sampling error that ours have
  binned   no privacy: the table with its numbers binned as the peers get them, the price of the bins alone
The peers run as programs of their own in environments of their own, named by --python; their tables pass as
files in --work, where a run that was broken off goes on. synthpop's noisy tables would need CRAN.

All spend rho-zCDP for adding or removing a row. Quality: --seeds copies of the table itself, as in
benchmarks/noise/quality.py. Coverage: --runs samples of 5,000 rows, the table as population, one copy and
its ordinary 95 % interval, as a user of one private copy would write it. Seconds are of CPU. One line of
results/peers.csv a call.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.noise import tables as noised_tables
from benchmarks.noise.mixed import Analysis
from benchmarks.noise.tables import Public
from benchmarks.peers.score import naive_coverage, pooled_coverage, quality
from benchmarks.peers.tables import SEED, coded, decoded, read_copies, sample, write_job
from pysynthdp import Synthesizer
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.analysis.stack import stack
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.by_noise import ByNoise

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "peers.csv"
PROGRAMS = {"aim": "aim.py", "mst": "dpmm.py"}
KEYS = ("table", "tool", "rho")
COPIES = 20
LARGE = 30
HEAD = (
    *("date", *KEYS, "seeds", "tv1cat", "tv2cat", "tv3cat", "tv1num", "z_mean", "z_ols", "z_logit"),
    *(
        "runs",
        "covered_proportion",
        "covered_cell",
        "covered_mean",
        "covered_ols",
        "covered_logit",
        "seconds",
    ),
)


@dataclass(frozen=True)
class Made:
    """Copies of a tool by seed, and the median CPU seconds of one fit with its copy."""

    copies: list[pd.DataFrame]
    seconds: float


def of_peer(public: Public, asked: argparse.Namespace, kind: str, count: int) -> Made:
    """Run a peer's program on a folder and read what it made."""
    peer = "aim" if asked.tool == "drawn" else asked.tool
    folder = asked.work / f"{peer}-{public.name}-{asked.rho}-{kind}"
    write_job(public, folder, kind=kind, rho=asked.rho, seeds=count)
    if asked.python and count:
        subprocess.run([asked.python, HERE / PROGRAMS[peer], folder], check=True)  # noqa: S603 - ours
    notes = json.loads(done.read_text()) if (done := folder / "done.json").exists() else {}
    seconds = [note["cpu_seconds"] for note in notes.values() if "cpu_seconds" in note]
    copies = list(read_copies(public, folder, count).values())
    if asked.tool == "drawn":
        copies = [
            copy.sample(frac=1, replace=True, random_state=i, ignore_index=True)
            for i, copy in enumerate(copies)
        ]
    return Made(copies, float(np.median(seconds or [np.nan])))


def synthesizer(public: Public, rho: float, *, shaped: bool) -> Synthesizer:
    """Settle this package's release by the codebook."""
    return Synthesizer(
        schema=public.schema,
        guarantee=ByNoise(ZCDP(rho), hints=public.hints, unit=PrivacyUnit("add_remove")),
        method=dict.fromkeys(public.numbers, "normrank") if shaped else {},
        progress=False,
    )


def of_release(public: Public, asked: argparse.Namespace, kind: str, count: int) -> Made:
    """One copy from the shared fit, as other tools give."""
    maker = synthesizer(public, asked.rho, shaped=asked.tool == "shaped")
    times = LARGE if asked.tool == "large" else 1
    copies, seconds = [], []
    for seed in range(count):
        table = sample(public, kind, seed)
        started = time.process_time()
        copies.append(maker.fit(table).draw(1, k=times * len(table), rng=seed, parameters="fitted")[0])
        seconds.append(time.process_time() - started)
    return Made(copies, float(np.median(seconds or [np.nan])))


def of_bins(public: Public, kind: str, count: int) -> Made:
    """Bin the real table and draw within the bins."""
    tables = [coded(public, sample(public, kind, seed)) for seed in range(count)]
    copies = [decoded(public, codes, np.random.default_rng([SEED, i])) for i, codes in enumerate(tables)]
    return Made(copies, 0.0)


def pooled(public: Public, asked: argparse.Namespace) -> dict[str, float]:
    """|z| of the average over m copies of the table; coverage and seconds of the pooled interval."""
    maker, analysis, rule = (
        synthesizer(public, asked.rho, shaped=False),
        Analysis.of(public),
        RULES["noise_floored"],
    )
    own, variance, labels = analysis(public.table)
    kinds = np.array([label.split(":")[0] for label in labels])
    z, limits, seconds = [], [], []
    for kind, count in (("quality", asked.seeds), ("coverage", asked.runs)):
        for seed in range(count):
            table = sample(public, kind, seed)
            started = time.process_time()
            release = maker.fit(table).draw(COPIES, k=len(table), rng=seed)
            seconds.append(time.process_time() - started)
            q, u, _ = zip(*(analysis(copy) for copy in release), strict=True)
            if kind == "quality":
                z.append(np.abs(np.mean(q, axis=0) - own) / np.sqrt(variance))
                continue
            n = len(table)
            done = combine_stack(stack(np.array(q), np.array(u), n_syn=n, n_org=n), rule())
            limits.append(done.conf_int().T)
    found = {f"z_{kind}": float(np.mean(np.array(z)[:, kinds == kind])) for kind in ("mean", "ols", "logit")}
    return found | pooled_coverage(public, limits) | {"seconds": float(np.median(seconds))}


def measured(public: Public, asked: argparse.Namespace) -> dict[str, float]:
    """All numbers of one tool on one table at one rho."""
    if asked.tool == "pooled":
        return pooled(public, asked) | {"seeds": asked.seeds, "runs": asked.runs}
    found: dict[str, float] = {}
    for kind, count in (("quality", asked.seeds), ("coverage", asked.runs)):
        if asked.tool in {*PROGRAMS, "drawn"}:
            made = of_peer(public, asked, kind, count)
        elif asked.tool == "binned":
            made = of_bins(public, kind, count)
        else:
            made = of_release(public, asked, kind, count)
        found["seeds" if kind == "quality" else "runs"] = len(made.copies)
        if made.copies:
            score = quality if kind == "quality" else naive_coverage
            found = {"seconds": made.seconds} | found | score(public, made.copies)
    return found


def store(row: dict[str, str]) -> None:
    """Put the line in place of an older one of the same table, tool and rho."""
    old = list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []
    rows = [each for each in old if any(each[key] != row[key] for key in KEYS)] + [row]
    rows.sort(key=lambda each: [each["table"], float(each["rho"]), each["tool"]])
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Read the arguments, run, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", choices=["sd2011", "fair"])
    parser.add_argument(
        "tool", choices=["release", "shaped", "large", "pooled", "drawn", "binned", *PROGRAMS]
    )
    parser.add_argument("--rho", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--python", help="a peer's Python; without it, what --work holds is scored")
    parser.add_argument("--work", type=Path, default=Path("peers-work"))
    asked = parser.parse_args()
    found = measured(getattr(noised_tables, asked.table)(), asked)
    row = {name: f"{found[name]:.4g}" if np.isfinite(found.get(name, np.nan)) else "" for name in HEAD}
    today = datetime.now(UTC).date().isoformat()
    row |= {"date": today, "table": asked.table, "tool": asked.tool, "rho": str(asked.rho)}
    print(json.dumps(row, indent=1))
    store(row)


if __name__ == "__main__":
    main()
