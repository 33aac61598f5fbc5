"""The part of the window: crash reports, bug reports and the log in the window."""
