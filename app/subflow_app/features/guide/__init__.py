"""The user guide, and short help in the window."""
