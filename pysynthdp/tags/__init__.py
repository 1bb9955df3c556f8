"""What a combining rule must know of a release: how it was made, step by step."""

from pysynthdp.tags.release_tags import (
    AnalysableRelease,
    Bias,
    Kind,
    Nesting,
    Noise,
    Parameters,
    ReleaseTags,
    Sampling,
)

__all__ = ["AnalysableRelease", "Bias", "Kind", "Nesting", "Noise", "Parameters", "ReleaseTags", "Sampling"]
