"""The door for Python: settings, what they come to, and the fit."""

from pysynthdp.synthesizer.opening import look
from pysynthdp.synthesizer.synthesizer import FittedSynthesizer, Synthesizer, synthesize

__all__ = ["FittedSynthesizer", "Synthesizer", "look", "synthesize"]
