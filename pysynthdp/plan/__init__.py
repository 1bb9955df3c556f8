"""Who is drawn from whom, and by what model: pure data."""

from pysynthdp.plan.choose import drawn_by
from pysynthdp.plan.factors import Factor, Terms
from pysynthdp.plan.make import make_plan
from pysynthdp.plan.step import Method, Step, target_of
from pysynthdp.plan.synthesis_plan import Protection, SynthesisPlan
from pysynthdp.plan.task import lost_terms, step_design, task_of, whole_terms

__all__ = [
    "Factor",
    "Method",
    "Protection",
    "Step",
    "SynthesisPlan",
    "Terms",
    "drawn_by",
    "lost_terms",
    "make_plan",
    "step_design",
    "target_of",
    "task_of",
    "whole_terms",
]
