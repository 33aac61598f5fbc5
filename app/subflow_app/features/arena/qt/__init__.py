"""The arena in the window."""
