"""Comparisons in the window: groups of runs, aligned traces, imported measurements, and runs in the kernel."""
