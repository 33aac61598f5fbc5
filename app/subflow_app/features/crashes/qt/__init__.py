"""Crash reports, bug reports and the log in the window."""
