"""Guided labs: their files, what a student did in them, and what of it counts."""
