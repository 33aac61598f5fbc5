"""Comparison of goodputs with fair shares, and trade-offs between runs."""
