"""The part of the window."""
