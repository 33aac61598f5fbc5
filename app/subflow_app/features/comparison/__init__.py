"""Comparison of groups of runs with tests of significance, and alignment of two runs on one time axis."""
