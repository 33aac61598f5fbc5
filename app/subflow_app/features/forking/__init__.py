"""Forks of runs: a new run that continues from a time with changed values."""
