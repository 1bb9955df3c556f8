"""The copies that leave the house, with schema, statement, tags and provenance."""

from pysynthdp.release.copies import SyntheticRelease
from pysynthdp.release.stored import StoredRelease

__all__ = ["StoredRelease", "SyntheticRelease"]
