"""Forks of runs in the window. Start reading at `feature`."""
