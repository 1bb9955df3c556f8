"""What every room stands on: words and errors, names of arrays, the registry, streams of random numbers."""
