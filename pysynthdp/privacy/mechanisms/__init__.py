"""Sampling mechanisms that carry a guarantee: public constants and a price, one file a system."""
