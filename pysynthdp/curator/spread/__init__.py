"""A table that lies in pieces elsewhere: each is folded where it lies, and sums over all of them arrive."""
