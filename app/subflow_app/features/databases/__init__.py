"""Rescues damaged databases of runs."""
