"""Frozen folders hold programs of their own; none of them is a test."""

collect_ignore_glob = ["releases/*"]
