"""All reading and writing of files."""
