"""Units of several rows: households as they are in a table, and in its copies."""
