"""Controllers and schedulers that are written in the window."""
