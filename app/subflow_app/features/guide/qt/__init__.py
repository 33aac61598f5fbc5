"""The part of the window: the user guide on this machine, and short help in the window."""
