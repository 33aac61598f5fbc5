"""Guided labs: lab files, the work that students do in them, and how it is judged."""
