"""The one room that holds real rows during a fit; it answers what column models ask."""

from pysynthdp.curator.drive import Curator, StepFit

__all__ = ["Curator", "StepFit"]
