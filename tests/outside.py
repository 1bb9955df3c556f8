"""Install a package of ``tests/toy`` as any other package is: as a wheel, beside the project."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

TOY = Path(__file__).parent / "toy"


def installed_toy(folder: Path, package: str = "toy_shield") -> dict[str, str]:
    """Install it into a folder of its own; give the environment in which processes find it."""
    target = folder / "site"
    wheel = _wheel(folder, package)
    if importlib.util.find_spec("pip") is None:  # a pure wheel is its files
        zipfile.ZipFile(wheel).extractall(target)
    else:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        subprocess.run([*pip, "--target", str(target), str(wheel)], check=True)
    paths = [str(target), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _wheel(folder: Path, package: str) -> Path:
    """Write the wheel; no build tool and no network is needed."""
    path, info = folder / f"{package}-1.0-py3-none-any.whl", f"{package}-1.0.dist-info"
    entries = TOY / ("entry_points.txt" if package == "toy_shield" else f"{package}_entry_points.txt")
    name = package.replace("_", "-")
    files = {
        f"{package}/__init__.py": (TOY / package / "__init__.py").read_text(encoding="utf-8"),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entries.read_text(encoding="utf-8"),
    }
    record = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return path
