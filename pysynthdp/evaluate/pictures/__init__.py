"""Pictures of evaluations: Axes are given back, and read in grey."""
