"""Rescues databases of runs that are damaged."""
