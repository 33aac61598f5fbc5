"""Guided labs: lab files, checks of steps, and grades of a class."""
