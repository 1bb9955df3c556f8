"""What the draw itself guarantees, one file a system: formulas in public constants, no record read."""
