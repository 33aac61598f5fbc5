"""Differences between groups of runs with their significance, and measured runs against simulated ones."""
