"""Forks of runs: new runs that continue an existing run from a chosen time with changed values."""
