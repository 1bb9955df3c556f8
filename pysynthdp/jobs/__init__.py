"""Approved jobs: one file says all, a run that dies is resumed, and everything is told in a log."""
