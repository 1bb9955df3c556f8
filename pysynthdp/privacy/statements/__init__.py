"""What is claimed of a release, in words and as data, and its numbers recomputed."""
