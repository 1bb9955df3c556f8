"""Guarantees, accounting and statements: pure arithmetic, and the only room that makes noise."""
