"""Combining rules, one file each."""
