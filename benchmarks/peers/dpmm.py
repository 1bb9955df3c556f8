"""MST of the public `dpmm` package, for run.py: a folder of coded tables in, coded synthetic tables out.

Run: /path/to/venv/bin/python benchmarks/peers/dpmm.py FOLDER ...
The environment is its own: python3.11 -m venv VENV && VENV/bin/pip install dpmm==0.1.9

The folder is as in aim.py. The package takes (epsilon, delta) and turns them into rho-zCDP itself
(Canonne, Kamath and Steinke 2020), adding or removing a row; epsilon is chosen so that it arrives at the rho
asked for, which costs the peer nothing. The domain is declared, its own compression of rare levels stays on.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pandas as pd
from dpmm.models.base.mechanisms.cdp2adp import cdp_eps
from dpmm.pipelines import MSTPipeline

DELTA = 1e-9
STEPS = {"n_iters": 1_000}  # of the last fit, a tree; the default is 10,000


def work(folder: Path) -> None:
    """Make the copies that a folder lacks."""
    job = json.loads((folder / "job.json").read_text())
    epsilon = cdp_eps(job["rho"], DELTA)
    notes = json.loads(done.read_text()) if (done := folder / "done.json").exists() else {}
    for path in sorted(folder.glob("in-*.csv")):
        seed = path.stem.removeprefix("in-")
        if (out := folder / f"out-{seed}.csv").exists():
            continue
        started = time.process_time()
        pipeline = MSTPipeline(
            epsilon=epsilon, delta=DELTA, disable_processing=True, n_jobs=1, gen_kwargs=STEPS
        )
        pipeline.fit(pd.read_csv(path), domain=dict(job["domain"]), random_state=int(seed))
        made = pipeline.generate(n_records=job["rows"], random_state=int(seed) + 1_000)
        made[list(job["domain"])].to_csv(out, index=False)
        notes[seed] = {"cpu_seconds": round(time.process_time() - started, 1)}
        done.write_text(json.dumps(notes))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        work(Path(name))
