"""Differences between groups of runs with their significance, and two runs on one time axis."""
