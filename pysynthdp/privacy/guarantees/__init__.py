"""Kinds of guarantee, one file each."""
