"""What a fit of a Dask data frame costs outside its workers, and what arrives of the rows a pass.

The scheduler runs in this process, as in a LocalCluster, so its work counts as outside. Run it with the
numbers of rows to try, ``python -m benchmarks.scale.dask_cost 1000000``, for a noised fit; with ``default``
before them for one without a guarantee, of which a plan is learned.
"""

from __future__ import annotations

import pickle
import sys
import time

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.curator.rows.dask import DaskPieces

PARTITIONS, COLUMNS = 8, 20


def made(number: int, rows: int) -> pd.DataFrame:
    """Make one partition where it is read, as a reader of files does."""
    rng = np.random.default_rng(number)
    Z = rng.standard_normal((rows, 4)) @ rng.standard_normal((4, COLUMNS)) + rng.standard_normal(
        (rows, COLUMNS)
    )
    return pd.DataFrame(Z).add_prefix("x")


def cpu() -> float:
    """CPU seconds of this process."""
    return time.process_time()


def synthesizer(names: list[str], *, noised: bool) -> sdp.Synthesizer:
    """Make one that adds noise, or the default one."""
    if not noised:
        return sdp.Synthesizer(workers=1, progress=False)
    schema = sdp.Schema(tuple(sdp.NumericColumn(name, lower=-9, upper=9, fallback=0.0) for name in names))
    noise = sdp.ByNoise(sdp.ZCDP(1.0), testing=True)
    return sdp.Synthesizer(schema=schema, guarantee=noise, workers=1, progress=False)


def cost(client, rows: int, *, noised: bool) -> tuple[float, float, list[int]]:
    """CPU seconds outside the workers, in them, and the bytes of each result that arrives."""
    import dask.dataframe as dd

    each = rows // PARTITIONS
    frame = dd.from_map(made, list(range(PARTITIONS)), rows=each, meta=made(0, 0))
    asked = synthesizer(list(frame.columns), noised=noised)
    arrived: list[int] = []
    real = DaskPieces._result  # noqa: SLF001

    def result(self: DaskPieces, future: object) -> object:
        found = real(self, future)
        arrived.append(len(pickle.dumps(found)))
        return found

    DaskPieces._result = result  # type: ignore[method-assign]  # noqa: SLF001
    inside, outside = sum(client.run(cpu).values()), cpu()
    try:
        asked.fit(frame, **({"noise_seed": 1} if noised else {}))
    finally:
        DaskPieces._result = real  # type: ignore[method-assign]  # noqa: SLF001
    outside = cpu() - outside
    return outside, sum(client.run(cpu).values()) - inside, arrived


def main() -> None:
    """Print a line a number of rows."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        noised = "default" not in sys.argv
        cost(client, 8_000, noised=noised)  # loads what is loaded once
        for rows in [int(text) for text in sys.argv[1:] if text != "default"] or [100_000, 1_000_000]:
            outside, inside, arrived = cost(client, rows, noised=noised)
            share = outside / (outside + inside)
            print(
                f"{rows:,} rows x {COLUMNS}: outside {outside:.2f} s, in workers {inside:.2f} s, "
                f"{100 * share:.0f} % outside; "
                f"{sum(arrived):,} bytes in {len(arrived)} results, largest {max(arrived):,}"
            )


if __name__ == "__main__":
    main()
