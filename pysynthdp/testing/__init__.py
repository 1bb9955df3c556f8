"""Contract suite."""

from pysynthdp.testing.arrays import Fitted, fitted, sampler, task_for

__all__ = ["Fitted", "fitted", "sampler", "task_for"]
