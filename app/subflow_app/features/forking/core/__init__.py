"""Forks of runs: what is different from an instant on, written, checked, run and compared. Start at `plan`."""
