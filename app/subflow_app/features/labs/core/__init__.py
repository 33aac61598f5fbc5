"""Guided labs: lab files, the work of students in them, and its judgement."""
