"""A guarantee by the draw itself: nothing is noised, every record drawn costs."""
