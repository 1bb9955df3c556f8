"""Build the site from pages, notebooks and docstrings: ``python docs/build.py``, or ``make docs``.

Pages are first written into ``source`` of the folder (``build/docs`` by default), then Sphinx writes ``html``
beside it. Warnings are errors: a link, a name in a docstring or a page that no menu has ends the run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from making.sources import sources

SETTINGS = Path(__file__).parent / "making"
STRICT = ("-W", "-n", "--keep-going", "-q", "-j", "auto")


def main(folder: Path) -> int:
    """Write the sources, then the site; return how Sphinx ended."""
    source = folder / "source"
    for name in ("source", "doctrees", "html"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name, text in sources():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    places = ("-c", SETTINGS, "-d", folder / "doctrees", source, folder / "html")
    command = [sys.executable, "-m", "sphinx", *STRICT, *map(str, places)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/docs").resolve()))
