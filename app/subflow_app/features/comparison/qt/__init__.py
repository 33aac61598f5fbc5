"""Comparisons in the window: groups of runs with significance, aligned traces, measured files, and the kernel."""
