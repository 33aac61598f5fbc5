"""Single runs and the queue of runs in the window."""
