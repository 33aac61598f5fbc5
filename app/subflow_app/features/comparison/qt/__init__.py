"""Runs compared in the window: groups with their significance, traces on one time, measured files, the kernel."""
