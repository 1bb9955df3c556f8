"""One noisy matrix of cross-products for the whole table: asked in stages, projected, refitted per copy."""
