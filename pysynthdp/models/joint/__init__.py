"""Models that draw several columns at once, one file each."""
