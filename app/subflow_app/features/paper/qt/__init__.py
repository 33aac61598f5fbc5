"""Printing and reports in the window."""
