"""R values to and from Python, as bytes in R's own serialize format."""
