"""Protective noise: the only place that makes it, and how much of it a question gets."""
