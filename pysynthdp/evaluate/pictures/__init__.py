"""Pictures of an evaluation, grey-safe, each of which says INTERNAL: they need matplotlib."""

from pysynthdp.evaluate.pictures.drawing import drawn, drawn_frames, report_picture

__all__ = ["drawn", "drawn_frames", "report_picture"]
