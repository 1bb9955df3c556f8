"""Pooled analyses of synthetic copies."""
