"""Where the rows lie."""
