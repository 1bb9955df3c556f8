"""The rows under a noise guarantee: exact integer sums that leave with noise or not at all."""
