"""pysynthdp."""
