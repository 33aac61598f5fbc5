"""Forks of runs: preparation, checks, simulation and comparison with the original run. Start at `plan`."""
