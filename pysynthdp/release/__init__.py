"""The copies that leave the house, with schema, statement, tags and provenance."""

from pysynthdp.release.copies import SyntheticRelease

__all__ = ["SyntheticRelease"]
