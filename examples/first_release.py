"""The main job on a real survey: synthetic copies, what is claimed for them, and a pooled regression.

Run it with ``make demo``, or ``python examples/first_release.py FOLDER``. The survey is the American National
Election Study of 1996, which comes with statsmodels (944 persons, 11 columns, public domain).
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.datasets import anes96

import pysynthdp as sdp

FORMULA = "vote ~ PID + age + educ + income"
SEED = 1996  # so that everybody sees the same; for a real release leave rng out: fresh entropy
READING = """
std.diff is the distance in confidential standard errors. A small p of the lack of fit says that the models of
some columns miss part of a relation: give those columns another method or a formula."""


def main(folder: Path) -> None:
    """Do the job and say at every step what happened."""
    survey = anes96.load_pandas().data
    clear_old_output(folder)

    show("1. What was understood of each column (for the holder of the data; not part of a release)")
    print(sdp.look(survey))

    show("2. Fit once, draw five copies, save them")
    synthesizer = sdp.Synthesizer(
        spikes={"popul": [0]},  # a quarter of the persons, as look() points out
        bounds={"age": (18, 99), "popul": (0, None)},  # public: who was asked, and a count
    )
    fitted = synthesizer.fit(survey)
    print(fitted)
    release = fitted.draw(m=5, rng=SEED)
    release.save(folder)
    print(f"\nWritten to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")

    show("3. What is claimed for them: the privacy card")
    print(release.privacy)

    show("4. A regression pooled over the copies, as a recipient would run it")
    pooled = sdp.logit(FORMULA, release)
    print(pooled.summary())

    show("5. The same beside the confidential fit (INTERNAL: reads the confidential table)")
    print(sdp.compare_fits(pooled, confidential_fit(survey)))
    print(READING)


def confidential_fit(survey: pd.DataFrame) -> object:
    """Fit the regression to the real survey."""
    return smf.logit(FORMULA, survey).fit(disp=False)


def clear_old_output(folder: Path) -> None:
    """Remove what an earlier run left; never a folder that holds anything but a release."""
    if (folder / "release.json").exists():
        shutil.rmtree(folder)
    elif folder.exists():
        sys.exit(f"{folder} exists and is not a release; name another folder or move it away")


def show(title: str) -> None:
    """Print a heading."""
    print(f"\n\n{title}\n{'#' * len(title)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
