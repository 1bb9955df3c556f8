"""The study of pooled intervals from noised answers: what is run, what is asked of it, and the stored table.

Run: python -m benchmarks.noise.study run NAME FOLDER [--parts 4]     (may be stopped and started again)
     python -m benchmarks.noise.study table FOLDER                    (writes results/noised.csv)
     python -m benchmarks.noise.study show                            (prints it as the vignette has it)

The situations, seeds and bars were committed before any of these runs, with the settings that they use: the
division of the budget in ``privacy/noise/moment_budget.py`` and the codebooks in ``tables.py``. SD2011 and
Fair's survey were used to choose those settings; EU-SILC was looked at in short runs while code was mended;
the RAND experiment was never run before. Nominal coverage is 0.95 and each situation has 1,000 runs.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.noise import mixed as noised_mixed
from benchmarks.noise import numeric as noised_numeric
from benchmarks.noise import tables as noised_tables

RESULTS = Path(__file__).parents[1] / "results" / "noised.csv"
RUNS = 1_000
Bar = tuple[float, float]


@dataclass(frozen=True)
class Situation:
    """One table, size and budget, with its bars.

    ``coverage`` bounds the mean coverage of each kind of estimand; ``longest`` gives for a rule or kind the
    largest median length over the non-private one; ``worst`` bounds every single estimand.
    """

    table: str
    n: int
    rho: float
    seed: int
    coverage: Bar
    longest: dict[str, float]
    p: int = 0
    worst: float = 0.0


NUMERIC, MIXED = (0.93, 0.97), (0.94, 0.98)
KINDS = {"proportion": 1.5, "mean": 1.5, "cell": 1.8, "logit": 1.85}
SITUATIONS = {
    "p10": Situation(
        "normal", 10_000, 0.1, 11, NUMERIC, {"noise_floored": 1.45, "effective_rows_drawn": 1.40}, p=10
    ),
    "p20": Situation("normal", 10_000, 0.1, 12, NUMERIC, {"noise_floored": 1.9}, p=20),
    "rho1": Situation("normal", 10_000, 1.0, 13, NUMERIC, {"noise_floored": 1.2}, p=10),
    "large": Situation("normal", 100_000, 0.01, 14, NUMERIC, {"noise_floored": 1.5}, p=10),
    "sd2011": Situation("sd2011", 5_000, 0.1, 15, MIXED, {**KINDS, "ols": 2.1}, worst=0.90),
    "fair": Situation("fair", 5_000, 0.1, 16, MIXED, {**KINDS, "ols": 2.6}, worst=0.90),
    "eusilc": Situation("eusilc", 5_000, 0.1, 17, MIXED, {}, worst=0.90),
    "randhie": Situation("randhie", 5_000, 0.1, 18, MIXED, {}, worst=0.90),
}
COLUMNS = (
    "date",
    "situation",
    "n",
    "p",
    "rho",
    "rule",
    "kind",
    "runs",
    "coverage",
    "worst",
    "length",
    "non_private_coverage",
    "coverage_bar",
    "length_bar",
    "met",
    "seconds",
)


def run(name: str, folder: Path, parts: int) -> None:
    """Run a situation in parts; parts that are there already are left alone."""
    situation, size = SITUATIONS[name], RUNS // parts
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(parts):
        path = folder / f"{name}.{part}.json"
        if path.exists():
            continue
        seed = 1_000 * situation.seed + part
        settings = {"runs": size, "n": situation.n, "rho": situation.rho, "seed": seed}
        if situation.p:
            found = noised_numeric.run(**settings, p=situation.p)
        else:
            found = noised_mixed.run(getattr(noised_tables, name)(), **settings, m=20)
        path.write_text(json.dumps(found))


def rows_of(name: str, parts: list[dict]) -> list[dict]:
    """Merge the parts of a situation into rows of the stored table."""
    situation = SITUATIONS[name]
    seconds = float(np.mean([part.get("seconds", part.get("seconds a run")) for part in parts]))
    shared = {
        "date": max(part["date"] for part in parts),
        "situation": name,
        "n": situation.n,
        "p": situation.p or "",
        "rho": situation.rho,
        "seconds": round(seconds, 2),
    }
    make = _numeric_rows if situation.p else _mixed_rows
    return [shared | row for row in make(situation, parts)]


def _numeric_rows(situation: Situation, parts: list[dict]) -> list[dict]:
    """One row a rule and kind."""
    rows = []
    names = dict.fromkeys(rule for part in parts for rule in part["rules"])
    for rule in names:
        several = [part["rules"][rule] for part in parts if rule in part["rules"]]
        runs = np.array([each["runs"] for each in several])
        plain = [part["rules"]["non-private"] for part in parts if rule in part["rules"]]
        for kind in several[0]:
            if kind == "runs":
                continue
            each = np.average([one[kind]["each"] for one in several], axis=0, weights=runs)
            length = float(np.median([one[kind]["length"] for one in several]))
            longest = situation.longest.get(rule) if kind == "slopes" else None
            own = float(np.average([one[kind]["coverage"] for one in plain], weights=runs))
            bar = None if rule == "non-private" else situation.coverage
            rows.append(_row(rule, kind, int(runs.sum()), each, length, own, bar, longest, 0.0))
    return rows


def _mixed_rows(situation: Situation, parts: list[dict]) -> list[dict]:
    """One row a kind."""
    rows = []
    runs = np.array([part["runs"] for part in parts])
    labels = list(parts[0]["estimands"])
    for kind in parts[0]["kinds"]:
        own = [label for label in labels if label.startswith(f"{kind}:")]
        each = np.average(
            [[part["estimands"][label] for label in own] for part in parts], axis=0, weights=runs
        )
        length = float(np.median([part["kinds"][kind]["length"] for part in parts]))
        plain = float(
            np.average([part["kinds"][kind]["non-private coverage"] for part in parts], weights=runs)
        )
        longest = situation.longest.get(kind)
        bar = situation.coverage
        rows.append(
            _row("noise_floored", kind, int(runs.sum()), each, length, plain, bar, longest, situation.worst)
        )
    return rows


def _row(
    rule: str,
    kind: str,
    runs: int,
    each: np.ndarray,
    length: float,
    plain: float,
    bar: Bar | None,
    longest: float | None,
    worst: float,
) -> dict:
    """Hold what was found against its bars."""
    mean = float(each.mean())
    inside = bar is None or bar[0] <= round(mean, 4) <= bar[1]
    short = longest is None or round(length, 3) <= longest
    return {
        "rule": rule,
        "kind": kind,
        "runs": runs,
        "coverage": f"{mean:.4f}",
        "worst": f"{float(each.min()):.4f}",
        "length": f"{length:.3f}",
        "non_private_coverage": f"{plain:.4f}",
        "coverage_bar": "" if bar is None else f"{bar[0]} to {bar[1]}",
        "length_bar": "" if longest is None else longest,
        "met": inside and short and float(each.min()) >= worst,
    }


def table(folder: Path) -> None:
    """Write the stored table from every part that is there."""
    rows = []
    for name in SITUATIONS:
        parts = [json.loads(path.read_text()) for path in sorted(folder.glob(f"{name}.*.json"))]
        rows += rows_of(name, parts) if parts else []
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*row.values())


def line_of(row: dict[str, str]) -> str:
    """Write a row of the stored table as the vignette has it."""
    bars = " and ".join(
        part
        for part in (
            f"coverage {row['coverage_bar']}" if row["coverage_bar"] else "",
            f"length at most {row['length_bar']}" if row["length_bar"] else "",
        )
        if part
    )
    size = f"{row['situation']}, n = {int(row['n']):,}, rho = {row['rho']}"
    numbers = f"{float(row['coverage']):.3f} | {float(row['worst']):.3f} | {float(row['length']):.2f}"
    verdict = "met" if row["met"] == "True" else "**missed**"
    return f"| {size} | {row['rule']} | {row['kind']} | {row['runs']} | {numbers} | {bars} | {verdict} |"


def show() -> None:
    """Print the stored table, without what is not private."""
    with RESULTS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rule"] != "non-private"]
    print("| situation | rule | estimands | runs | coverage | worst single | length | bar | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(line_of(row))


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("name", choices=list(SITUATIONS))
    one.add_argument("folder", type=Path)
    one.add_argument("--parts", type=int, default=4)
    commands.add_parser("table").add_argument("folder", type=Path)
    commands.add_parser("show")
    asked = parser.parse_args()
    if asked.command == "run":
        run(asked.name, asked.folder, asked.parts)
    elif asked.command == "table":
        table(asked.folder)
    else:
        show()


if __name__ == "__main__":
    main()
