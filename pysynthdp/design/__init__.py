"""Columns to parts, parts to the design matrix; pure functions of the schema."""
