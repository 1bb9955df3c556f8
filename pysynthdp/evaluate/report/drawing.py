"""Pictures of a report, drawn to the same bytes each time."""

from __future__ import annotations

import io
from importlib.util import find_spec

from pysynthdp.evaluate.report.parts import Picture

__all__ = ["drawn_png", "drawn_svg"]


def drawn_svg(picture: Picture) -> str | None:
    """Draw a picture as SVG that needs no font; None without matplotlib."""
    held = _drawn(picture, "svg")
    if held is None:
        return None
    text = held.decode("utf-8")
    return text[text.index("<svg") :]  # a page has its own head


def drawn_png(picture: Picture) -> bytes | None:
    """Draw a picture as PNG; None without matplotlib."""
    return _drawn(picture, "png")


def _drawn(picture: Picture, kind: str) -> bytes | None:
    """Draw without a screen, without a date and with the same names inside each time."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": picture.name, "svg.fonttype": "path"}):
        figure = Figure(figsize=picture.size, layout="constrained")
        picture.draw(figure)
        place = io.BytesIO()
        figure.savefig(place, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return place.getvalue()
