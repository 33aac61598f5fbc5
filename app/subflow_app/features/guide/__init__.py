"""The user guide on this machine, and short help in the window."""
